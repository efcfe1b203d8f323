package pgledger

import (
	"context"
	"net"
	"sync"
	"time"
)

// quiet is how long a server may say nothing while it is waited for. No call
// lasts as long, so only the clearing away of a dead connection gets there: pgx
// gives that 15 seconds, in which the pool would have no room for a live one.
const quiet = 2 * time.Second

// dial connects to a server that must not keep us waiting.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: attemptTime, KeepAlive: 15 * time.Second}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &impatient{Conn: c}, nil
}

// impatient is a connection on which each Read ends within quiet.
type impatient struct {
	net.Conn

	mu sync.Mutex
	// limit is the deadline that the user of the connection has set.
	limit time.Time
}

// Read implements net.Conn.
func (c *impatient) Read(b []byte) (int, error) {
	c.mu.Lock()
	end := time.Now().Add(quiet)
	if !c.limit.IsZero() && c.limit.Before(end) {
		end = c.limit
	}
	err := c.Conn.SetReadDeadline(end)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// SetDeadline implements net.Conn.
func (c *impatient) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *impatient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetReadDeadline(t)
}
