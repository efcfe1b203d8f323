package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/toolsets"
)

// patience is how long a test waits for what must happen. It only matters where
// it does not happen.
const patience = 60 * time.Second

// world is a small server on a real socket.
type world struct {
	t      *testing.T
	url    string
	server *Server
	mcp    *mcp.Server
	calls  *Calls
	logs   *buffer
	// started gets a value when the tool "wait" runs, ended what its context
	// said; release lets it go.
	started chan string
	ended   chan error
	release chan struct{}
	stop    context.CancelFunc
	served  chan error
}

type setup struct {
	options Options
	limits  CallLimits
}

func newWorld(t *testing.T, change ...func(*setup)) *world {
	t.Helper()
	w := &world{
		t: t, logs: &buffer{}, started: make(chan string, 100), ended: make(chan error, 100),
		release: make(chan struct{}), served: make(chan error, 1),
	}
	log := slog.New(LogHandler(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s := setup{options: Options{Log: log, Verifier: people(t, "alice", "bob")}, limits: CallLimits{Log: log}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + ln.Addr().String() + "/mcp"
	if s.options.Resource, err = Resource(w.url); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&s)
	}
	w.calls = NewCalls(s.limits)
	ending, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.mcp = toolsets.NewServer(toolsets.ServerOptions{
		Version: "test", Log: log, Toolsets: []toolsets.Toolset{w.tools(ending)}, Middleware: []mcp.Middleware{w.calls.Middleware},
	})
	s.options.Server, s.options.Calls = w.mcp, w.calls
	if w.server, err = New(s.options); err != nil {
		t.Fatal(err)
	}
	go func() { w.served <- w.server.Serve(ending, ln, 10*time.Second, nil) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-w.served:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
			w.served <- err
		case <-time.After(patience):
			t.Error("the server did not end")
		}
		if t.Failed() {
			t.Logf("log:\n%s", w.logs.String())
		}
	})
	return w
}

func (w *world) tools(ending context.Context) toolsets.Toolset {
	tool := func(name string, h toolsets.Handler) toolsets.Tool {
		return toolsets.Tool{Definition: &mcp.Tool{Name: name, InputSchema: toolsets.Object(map[string]any{})}, Handler: h}
	}
	return toolsets.Toolset{Name: "test", Tools: []toolsets.Tool{
		tool("who", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			w.server.log.InfoContext(ctx, "who ran")
			p := Principal(req)
			return toolsets.Result(map[string]any{"who": p.Kind + ":" + p.Tenant + "/" + p.Subject, "header": req.Extra.Header.Get("Authorization")}, false)
		}),
		tool("big", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			defer func() { w.started <- "big" }()
			return toolsets.Result(map[string]any{"big": strings.Repeat("x", 16<<20)}, false)
		}),
		tool("boom", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") }),
		tool("wait", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			w.started <- Principal(req).Subject
			select {
			case <-w.release:
			case <-ending.Done():
			case <-ctx.Done():
				w.ended <- ctx.Err()
				return nil, ctx.Err()
			}
			return toolsets.Result(map[string]any{"waited": true}, false)
		}),
	}}
}

// people verifies the token "token-of-NAME-…" of each name.
func people(t *testing.T, names ...string) *Static {
	t.Helper()
	var b strings.Builder
	for _, n := range names {
		sum := sha256.Sum256([]byte(tokenOf(n)))
		fmt.Fprintf(&b, "sha256:%s acme/%s\n", hex.EncodeToString(sum[:]), n)
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStatic(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tokenOf(name string) string { return "token-of-" + name + "-0123456789abcdef" }

// reply is an HTTP response and the last JSON-RPC message in it.
type reply struct {
	status  int
	header  http.Header
	text    string
	message map[string]any
}

func (r reply) result() map[string]any {
	m, _ := r.message["result"].(map[string]any)
	s, _ := m["structuredContent"].(map[string]any)
	if s == nil {
		return m
	}
	return s
}

func (r reply) code() any {
	e, _ := r.message["error"].(map[string]any)
	return e["code"]
}

// request makes a request with the headers of a client of MCP; more wins, and an
// empty value takes a header away.
func (w *world) request(method, path, body string, more map[string]string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, strings.TrimSuffix(w.url, "/mcp")+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokenOf("alice"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range more {
		switch {
		case k == "Host":
			r.Host = v
		case v == "":
			r.Header.Del(k)
		default:
			r.Header.Set(k, v)
		}
	}
	return r
}

func (w *world) do(method, path, body string, more map[string]string) reply {
	w.t.Helper()
	res, err := client(w.t).Do(w.request(method, path, body, more))
	if err != nil {
		w.t.Fatal(err)
	}
	return read(w.t, res)
}

func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

func read(t *testing.T, res *http.Response) reply {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := reply{status: res.StatusCode, header: res.Header, text: string(b)}
	last := b
	for line := range bytes.Lines(b) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			last = data
		}
	}
	_ = json.Unmarshal(last, &out.message)
	return out
}

const modern = "2026-07-28"

// call calls a tool in the modern era.
func (w *world) call(tool string, more map[string]string) reply {
	w.t.Helper()
	h := map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": tool}
	maps.Copy(h, more)
	return w.do("POST", "/mcp", modernCall(tool, ""), h)
}

func modernCall(tool, meta string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},"_meta":{` + meta +
		`"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func legacyCall(tool string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`

// open opens a session of the legacy era and returns its id.
func (w *world) open(more map[string]string) string {
	w.t.Helper()
	r := w.do("POST", "/mcp", initialize, more)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || id == "" {
		w.t.Fatalf("initialize: %d %s", r.status, r.text)
	}
	w.do("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with(more, "Mcp-Session-Id", id))
	return id
}

func with(h map[string]string, kv ...string) map[string]string {
	out := maps.Clone(h)
	if out == nil {
		out = map[string]string{}
	}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = kv[i+1]
	}
	return out
}

func as(name string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + tokenOf(name)}
}

func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("it did not happen")
	}
	panic("unreachable")
}

// buffer is a log that many write to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// line returns the log lines with this message.
func (b *buffer) lines(msg string) (out []map[string]any) {
	s := bufio.NewScanner(strings.NewReader(b.String()))
	for s.Scan() {
		var m map[string]any
		if json.Unmarshal(s.Bytes(), &m) == nil && m["msg"] == msg {
			out = append(out, m)
		}
	}
	return out
}
