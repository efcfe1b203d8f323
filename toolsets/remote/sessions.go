package remote

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"fabricbroker/broker"
)

// session is a session of the older era, of which the SDK knows the messages
// and we know the owner.
type session struct {
	id     string
	owner  broker.Principal
	opened time.Time
	used   time.Time // by a request that is over
	open   int       // requests that are not over
	// gone ends the calls of the session: the SDK's own end waits for them.
	gone context.Context //nolint:containedctx // it ends with the session, not with a request
	end  context.CancelFunc
}

// sessions are the open ones. The zero value is ready.
type sessions struct {
	mu sync.Mutex
	of map[string]*session
}

// add notes a session that was just opened, for as long as the response that
// tells its id is under way.
func (s *sessions) add(id string, owner broker.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*session{}
	}
	n := &session{id: id, owner: owner, opened: time.Now(), used: time.Now()}
	n.gone, n.end = context.WithCancel(context.Background())
	s.of[id] = n
}

// enter returns the caller's session, nil where it has none of this id: to one
// caller the session of another never existed (I10). leave must follow.
func (s *sessions) enter(id string, caller broker.Principal) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.of[id]
	if n == nil || n.owner != caller {
		return nil
	}
	n.open++
	return n
}

func (s *sessions) leave(n *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.open--
	n.used = time.Now()
}

// remove forgets a session and ends its calls.
func (s *sessions) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.of[id]; n != nil {
		n.end()
		delete(s.of, id)
	}
}

// keep forgets the sessions that the SDK does not have any more.
func (s *sessions) keep(alive map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.of {
		// One that was opened a moment ago may not be listed yet.
		if !alive[id] && n.open == 0 && time.Since(n.opened) > time.Minute {
			n.end()
			delete(s.of, id)
		}
	}
}

// crowded returns the caller's session that was used longest ago, once it has
// limit of them; full says that all are in use.
func (s *sessions) crowded(caller broker.Principal, limit int) (idlest string, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var own []*session
	for _, n := range s.of {
		if n.owner == caller {
			own = append(own, n)
		}
	}
	if len(own) < limit {
		return "", false
	}
	own = slices.DeleteFunc(own, func(n *session) bool { return n.open > 0 })
	if len(own) == 0 {
		return "", true
	}
	return slices.MinFunc(own, func(a, b *session) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) }).id, false
}
