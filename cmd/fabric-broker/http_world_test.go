package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/toolsets/remote"
)

// replica is one server over HTTP at the ledger of a world.
type replica struct {
	w      *world
	url    string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error) // nil is a socket
	events *events
	stop   context.CancelFunc
	served chan error
}

// events are what a broker's recorder was told.
type events struct {
	mu  sync.Mutex
	all []broker.Event
}

// Record implements broker.Recorder.
func (e *events) Record(_ context.Context, v broker.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, v)
	return nil
}

// refused returns who was refused with this code.
func (e *events) refused(code broker.Code) (who []broker.Principal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.all {
		if v.Kind == broker.EventRefused && v.Code == code {
			who = append(who, v.Caller.Principal)
		}
	}
	return who
}

func tokenOf(name string) string { return "token-of-" + name + "-0123456789abcdef" }

func principalOf(name string) broker.Principal {
	return broker.Principal{Kind: "static", Tenant: "acme", Subject: name}
}

// tokensFile is a file of static tokens of people.
func tokensFile(t *testing.T, names ...string) string {
	t.Helper()
	var text string
	for _, n := range names {
		sum := sha256.Sum256([]byte(tokenOf(n)))
		text += fmt.Sprintf("sha256:%s acme/%s\n", hex.EncodeToString(sum[:]), n)
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replica starts a server on a socket that shares the world's ledger, keys and
// records.
func (w *world) replica(change ...func(*parts)) *replica {
	w.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.listening(ln, append([]func(*parts){func(p *parts) { p.options.CodeMode = broker.CodeNever }}, change...)...)
}

// listening starts a replica on ln.
func (w *world) listening(ln net.Listener, change ...func(*parts)) *replica {
	w.t.Helper()
	v, err := remote.OpenStatic(tokensFile(w.t, "alice", "bob"))
	if err != nil {
		w.t.Fatal(err)
	}
	r := &replica{w: w, url: "http://" + ln.Addr().String() + "/mcp", events: &events{}, served: make(chan error, 1)}
	if l, ok := ln.(*pipes); ok {
		r.dial = l.dial
	}
	p := w.parts
	p.options.Recorder = r.events
	p.log = slog.New(remote.LogHandler(p.log.Handler()))
	p.ending, r.stop = context.WithCancel(context.Background())
	for _, f := range change {
		f(&p)
	}
	c := &httpCmd{verifier: v}
	c.CreateTimeout = time.Minute.Milliseconds()
	go func() { r.served <- c.serve(p, ln, nil) }()
	w.t.Cleanup(func() {
		r.stop()
		select {
		case err := <-r.served:
			if err != nil {
				w.t.Errorf("serve: %v", err)
			}
		case <-time.After(patience):
			w.t.Error("the server did not end")
		}
	})
	return r
}

// carries sends a bearer token with every request.
type carries struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c carries) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.token)
	return c.next.RoundTrip(r)
}

func (r *replica) http(name string) *http.Client {
	return httpClient(r.w.t, name, &http.Transport{DialContext: r.dial})
}

func httpClient(t testing.TB, name string, tr *http.Transport) *http.Client {
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: carries{tokenOf(name), tr}}
}

// client connects the SDK's client as somebody. It opens no stream of its own:
// questions have to come on the stream of the call (CLIENTS.md 28 to 30).
func (r *replica) client(name, version string, answer answerer) *client {
	r.w.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: answer, Capabilities: &mcp.ClientCapabilities{},
	})
	session, err := c.Connect(r.w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: r.url, HTTPClient: r.http(name), DisableStandaloneSSE: true, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.w.t.Fatal(err)
	}
	r.w.t.Cleanup(func() { _ = session.Close() })
	return &client{r.w.t, session}
}
