package main

import (
	"context"
	"net"
	"sync"
	"testing"
)

// flows runs f in each era over both transports, each time in a world and a
// bubble of its own: over a pipe, as stdio is, and over HTTP, through all that
// stands in front of the tools there. p can be asked.
func flows(t *testing.T, eras []string, f func(t *testing.T, w *world, p *peer), setups ...setup) {
	t.Helper()
	for _, era := range eras {
		for _, over := range []string{"stdio", "http"} {
			t.Run(era+"/"+over, func(t *testing.T) {
				inBubble(t, func(w *world) {
					if over == "http" {
						w.remote = w.listening(newPipes())
					}
					f(w.t, w, w.peer(era, canAsk))
				}, setups...)
			})
		}
	}
}

// pipes is a listener on loopback without a socket, which would stop the clock
// of a bubble.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes { return &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *pipes) Addr() net.Addr { return loopbackConn{}.LocalAddr() }

// dial is for http.Transport.
func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.accepted <- loopbackConn{far}:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// loopbackConn says that it came to a port of this machine.
type loopbackConn struct{ net.Conn }

// LocalAddr implements net.Conn.
func (loopbackConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }
