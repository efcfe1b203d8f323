package remote

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// conns bounds how many connections are open. When there are too many, the one
// that has said nothing for longest goes: whoever opens connections and keeps
// still pushes out their own.
type conns struct {
	max int

	mu    sync.Mutex
	since map[net.Conn]time.Time // zero while a request is under way
}

// state is for http.Server.ConnState.
func (c *conns) state(n net.Conn, s http.ConnState) {
	if victim := c.note(n, s); victim != nil {
		_ = victim.Close() // the server sees it as a client that hung up
	}
}

func (c *conns) note(n net.Conn, s http.ConnState) (victim net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateClosed, http.StateHijacked:
		delete(c.since, n)
	case http.StateActive:
		c.since[n] = time.Time{}
	case http.StateIdle:
		c.since[n] = time.Now()
	case http.StateNew:
		if len(c.since) >= c.max {
			if victim = c.stillest(); victim == nil {
				return n // all are at work: the new one has to come again
			}
			delete(c.since, victim)
		}
		c.since[n] = time.Now()
	}
	return victim
}

func (c *conns) stillest() (found net.Conn) {
	var oldest time.Time
	for n, t := range c.since {
		if !t.IsZero() && (found == nil || t.Before(oldest)) {
			found, oldest = n, t
		}
	}
	return found
}

// open is how many there are.
func (c *conns) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.since)
}
