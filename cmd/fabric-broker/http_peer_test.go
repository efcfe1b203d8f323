package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// bridge lets a peer, which writes lines, speak over HTTP: a POST for each line,
// and a line for each message that comes back, on whatever stream.
type bridge struct {
	t      testing.TB
	url    string
	era    string
	client *http.Client
	ctx    context.Context
	stop   context.CancelFunc
	posts  sync.WaitGroup

	out *io.PipeWriter

	comments atomic.Int32 // lines that only keep a stream alive

	mu      sync.Mutex
	session string
	calls   map[string]context.CancelFunc // modern ones under way
}

// peer connects a peer as somebody.
func (r *replica) peer(name, era, caps string) *peer {
	r.w.t.Helper()
	p := r.silent(name, era, caps)
	p.hello(era)
	return p
}

// silent connects a peer that has not said anything yet.
func (r *replica) silent(name, era, caps string) *peer {
	r.w.t.Helper()
	return bridged(r.w.t, r.url, r.http(name), era, caps)
}

func bridged(t testing.TB, url string, client *http.Client, era, caps string) *peer {
	in, out := io.Pipe()
	b := &bridge{t: t, url: url, era: era, client: client, out: out, calls: map[string]context.CancelFunc{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	p := newPeer(t, era, caps, in, b)
	t.Cleanup(p.leave)
	return p
}

// Close implements io.Closer: it hangs up.
func (b *bridge) Close() error {
	b.stop()
	b.posts.Wait()
	return b.out.Close()
}

// Write implements io.Writer; p is one line.
func (b *bridge) Write(p []byte) (int, error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	if err := json.Unmarshal(p, &m); err != nil {
		return 0, err
	}
	modern := b.era >= "2026-07-28"
	if modern && m.Method == "notifications/cancelled" { // over HTTP its stream is closed
		b.mu.Lock()
		defer b.mu.Unlock()
		if cancel := b.calls[string(m.Params.RequestID)]; cancel != nil {
			cancel()
		}
		return len(p), nil
	}
	ctx, cancel := context.WithCancel(b.ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(bytes.Clone(p)))
	if err != nil {
		cancel()
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	b.mu.Lock()
	switch {
	case modern:
		r.Header.Set("Mcp-Protocol-Version", b.era)
		r.Header.Set("Mcp-Method", m.Method)
		r.Header.Set("Mcp-Name", m.Params.Name)
		b.calls[string(m.ID)] = cancel
	case b.session != "":
		r.Header.Set("Mcp-Protocol-Version", b.era)
		r.Header.Set("Mcp-Session-Id", b.session)
	}
	b.mu.Unlock()
	if m.Method != "" && m.ID != nil {
		b.posts.Go(func() { defer cancel(); b.post(r) })
		return len(p), nil
	}
	defer cancel()
	b.post(r)
	return len(p), nil
}

func (b *bridge) post(r *http.Request) {
	res, err := b.client.Do(r)
	if err != nil {
		if b.ctx.Err() == nil && r.Context().Err() == nil {
			b.t.Errorf("post: %v", err)
		}
		return
	}
	defer func() { _ = res.Body.Close() }()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		b.mu.Lock()
		b.session = id
		b.mu.Unlock()
	}
	switch {
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		lines := bufio.NewReader(res.Body)
		for {
			line, err := lines.ReadBytes('\n')
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				b.say(data)
			} else if bytes.HasPrefix(line, []byte(":")) {
				b.comments.Add(1)
			}
			if err != nil {
				return
			}
		}
	case res.StatusCode != http.StatusAccepted:
		body, _ := io.ReadAll(res.Body)
		if res.Header.Get("Content-Type") != "application/json" {
			b.t.Errorf("status %d: %s", res.StatusCode, body)
			_ = b.out.Close() // nobody waits for an answer that will not come
			return
		}
		b.say(append(body, '\n'))
	}
}

func (b *bridge) say(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.out.Write(line)
}
