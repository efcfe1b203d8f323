package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/toolsets"
)

// link is a transport that knows which calls are unanswered, so that the
// process can end after its last answer, and that keeps secrets out of the
// SDK's own errors.
type link struct {
	mcp.Transport
	mu   sync.Mutex
	open map[string]bool // ids of calls without an answer
}

// Connect implements mcp.Transport.
func (w *link) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = map[string]bool{}
	return &linkConnection{c, w}, nil
}

type linkConnection struct {
	mcp.Connection
	w *link
}

// Read implements mcp.Connection.
func (c *linkConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		if r.IsCall() {
			c.w.open[idText(r.ID.Raw())] = true
		} else if r.Method == "notifications/cancelled" {
			var p struct {
				RequestID any `json:"requestId"`
			}
			if json.Unmarshal(r.Params, &p) == nil {
				delete(c.w.open, idText(p.RequestID)) // it may stay without an answer
			}
		}
	}
	return m, err
}

// Write implements mcp.Connection.
func (c *linkConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	defer func() {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		delete(c.w.open, idText(r.ID.Raw()))
	}()
	return c.Connection.Write(ctx, toolsets.WithoutSecrets(r))
}

// answered waits until every call has its answer, for at most limit: a client
// that does not read must not keep the process.
func (w *link) answered(limit time.Duration) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(limit)
	for {
		w.mu.Lock()
		n := len(w.open)
		w.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			return
		}
	}
}

// idText is an id as a key: a number and a text are never the same one.
func idText(id any) string {
	if f, ok := id.(float64); ok {
		id = int64(f)
	}
	return fmt.Sprintf("%T %v", id, id)
}
