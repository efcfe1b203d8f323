package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
)

// Serve serves on ln until ending, then goes down in order: no new connection,
// no stream that only listens, no question that still waits for a person. What
// was sent to the provider is finished and its answer delivered, for at most
// grace. drain, if not nil, waits for what goes on without a request.
func (s *Server) Serve(ending context.Context, ln net.Listener, grace time.Duration, drain func(context.Context) error) error {
	srv := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         s.conns.state,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No WriteTimeout: each write has its own (stream), and a person has
		// as long as they are asked.
	}
	defer s.end()
	down := make(chan error, 1)
	stop := context.AfterFunc(ending, func() { down <- s.goDown(ending, srv, grace, drain) })
	err := srv.Serve(ln)
	if stop() { // it was not asked to end
		_ = srv.Close()
		return fmt.Errorf("remote: serve: %w", err)
	}
	return <-down
}

func (s *Server) goDown(ending context.Context, srv *http.Server, grace time.Duration, drain func(context.Context) error) error {
	s.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ending), grace)
	defer cancel()
	err := srv.Shutdown(ctx)
	if drain != nil {
		err = errors.Join(err, drain(ctx))
	}
	_ = srv.Close()
	for n := range s.o.Server.Sessions() {
		_ = n.Close()
	}
	if err != nil {
		return fmt.Errorf("remote: going down: %w", err)
	}
	return nil
}
