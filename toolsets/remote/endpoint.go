package remote

import (
	"context"
	"net/http"
	"strconv"
)

// serveMCP takes a request as far as the SDK. The order is that of doc.go.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	v, ok := r.Context().Value(loggedKey{}).(logged)
	if !ok {
		panic("remote: a request that was not observed")
	}
	if !s.hosts.allow(w, r) {
		return
	}
	if v.visit.caller, ok = s.authenticate(w, r); !ok {
		return
	}
	caller := v.visit.caller.Principal
	u := s.o.Calls.usage.of(caller)
	defer s.o.Calls.usage.done(caller, u)
	if n := u.requests.Add(1); int(n) > s.o.MaxRequests {
		u.requests.Add(-1)
		tooMany(w, 5, "too many requests of this caller are open")
		return
	}
	defer u.requests.Add(-1)
	b, ok := body(w, r)
	if !ok {
		return
	}
	s.dispatch(w, r, v.visit, b)
}

func tooMany(w http.ResponseWriter, seconds int, text string) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	http.Error(w, text, http.StatusTooManyRequests)
}

// dispatch hands a request to the handler of its era.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, v *visit, b []byte) {
	if isModern(r, b) {
		s.through(s.eras.modern, w, r, v)
		return
	}
	id := r.Header.Get(sessionHeader)
	if id == "" {
		if r.Method == http.MethodPost && !s.makeRoom(w, v) {
			return
		}
		s.through(s.eras.legacy, w, r, v)
		return
	}
	if v.session = s.sessions.enter(id, v.caller.Principal); v.session == nil {
		http.Error(w, "session not found", http.StatusNotFound) // the SDK's words for one that never was
		return
	}
	defer s.sessions.leave(v.session)
	switch r.Method {
	case http.MethodDelete:
		// The SDK waits for the session's calls, and those for a person.
		s.sessions.remove(id)
	case http.MethodGet:
		ctx, cancel := s.listening(r.Context(), v)
		defer cancel()
		r = r.WithContext(ctx)
	}
	s.through(s.eras.legacy, w, r, v)
}

// listening bounds a stream that only listens: by its session, its token and
// the process.
func (s *Server) listening(ctx context.Context, v *visit) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := []func() bool{
		context.AfterFunc(s.ending, cancel),
		context.AfterFunc(v.session.gone, cancel),
	}
	if e := v.caller.Expires; !e.IsZero() {
		var done context.CancelFunc
		ctx, done = context.WithDeadline(ctx, e)
		stop = append(stop, func() bool { done(); return true })
	}
	return ctx, func() {
		for _, f := range stop {
			f()
		}
		cancel()
	}
}

// makeRoom ends the caller's idlest session when there are too many of them.
func (s *Server) makeRoom(w http.ResponseWriter, v *visit) bool {
	idlest, full := s.sessions.crowded(v.caller.Principal, s.o.MaxSessions)
	if full {
		tooMany(w, 30, "too many sessions of this caller are in use")
		return false
	}
	if idlest == "" {
		return true
	}
	s.sessions.remove(idlest)
	alive := map[string]bool{}
	for n := range s.o.Server.Sessions() {
		if n.ID() == idlest {
			go func() { _ = n.Close() }() // it waits for what still runs
			continue
		}
		alive[n.ID()] = true
	}
	s.sessions.keep(alive)
	return true
}

// through runs the SDK's handler with the visit and its stream around it.
func (s *Server) through(h http.Handler, w http.ResponseWriter, r *http.Request, v *visit) {
	v.stream = newStream(w, s.o.KeepAlive, func(status int, h http.Header) {
		if id := h.Get(sessionHeader); id != "" && status < 300 {
			s.sessions.add(id, v.caller.Principal)
		}
		if v.session != nil && status == http.StatusNotFound {
			s.sessions.remove(v.session.id) // it has timed out
		}
	})
	defer v.stream.end()
	v.stream.comments = r.Method == http.MethodGet // the SDK begins that response itself, then waits
	bound(v, h).ServeHTTP(v.stream, r)
}
