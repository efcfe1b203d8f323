package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"
)

// Options are a Server's parts and limits. Server and Calls are required, and
// Resource; zero limits take their defaults.
type Options struct {
	// Server is the assembled server, with the Middleware of Calls in it.
	Server *mcp.Server
	Calls  *Calls
	// Verifier says who calls. With nil, everybody is [Anonymous].
	Verifier Verifier
	// Resource is the endpoint as clients reach it; see [Resource].
	Resource *url.URL
	// Public says that Resource is what a proxy is reached by: its host and
	// origin are then ours too.
	Public bool
	// Issuers issue tokens for Resource; nil where none can be told.
	Issuers []string
	// Checks are what /readyz looks at.
	Checks []Check

	KeepAlive   time.Duration // between comments on a silent stream: 15 s
	MaxRequests int           // HTTP requests that one principal has open: 128
	MaxSessions int           // sessions of one principal: 64
	MaxConns    int           // open connections: 4,096
	Log         *slog.Logger
}

// Server serves over HTTP. Use [New].
type Server struct {
	o           Options
	eras        eras
	hosts       *hosts
	health      *health
	sessions    sessions
	conns       *conns
	metadataURL string
	warnings    *rate.Limiter // lines about strangers
	log         *slog.Logger
	ending      context.Context //nolint:containedctx // the process ends once
	end         context.CancelFunc
}

// New returns a Server. It panics when a required part is missing: that is a
// bug of the caller.
func New(o Options) (*Server, error) {
	if o.Server == nil || o.Calls == nil || o.Resource == nil {
		panic("remote: New without Server, Calls or Resource")
	}
	setDefault(&o.KeepAlive, 15*time.Second)
	setDefault(&o.MaxRequests, 128)
	setDefault(&o.MaxSessions, 64)
	setDefault(&o.MaxConns, 4096)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		o: o, eras: newEras(o.Server, o.Log), log: o.Log, metadataURL: metadataURL(o.Resource),
		conns:    &conns{max: o.MaxConns, since: map[net.Conn]time.Time{}},
		warnings: rate.NewLimiter(10, 50),
	}
	var public *url.URL
	if o.Public {
		public = o.Resource
	}
	var err error
	if s.hosts, err = newHosts(public); err != nil {
		return nil, fmt.Errorf("remote: the public URL: %w", err)
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.health = &health{checks: o.Checks, ending: s.ending, fail: func(ctx context.Context, check string, err error) {
		o.Log.WarnContext(ctx, "not ready", "check", check, "err", err)
	}}
	return s, nil
}

// Handler serves every path.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(endpoint, s.serveMCP)
	mux.HandleFunc("GET /healthz", s.health.live)
	mux.HandleFunc("GET /readyz", s.health.serve)
	if s.o.Verifier != nil {
		m := metadata(s.o.Resource, s.o.Issuers)
		mux.Handle(wellKnownPath, m)
		mux.Handle(wellKnownPath+s.o.Resource.Path, m)
		if s.o.Resource.Path != endpoint { // behind a proxy that cuts its prefix off
			mux.Handle(wellKnownPath+endpoint, m)
		}
	}
	return s.observe(mux)
}

// observe gives every request an id, a line in the log and a time to answer,
// and keeps a panic to the request it is in.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{id: requestID(r, rand.Text), trace: parseTrace(r.Header.Get("Traceparent"))}
		ctx := withLogged(r.Context(), v, nil)
		w.Header().Set("X-Request-Id", v.id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		began := time.Now()
		defer func() {
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p)
				}
				s.log.ErrorContext(ctx, "request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				http.Error(w, "internal", http.StatusInternalServerError)
			}
			s.log.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "took", time.Since(began))
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
