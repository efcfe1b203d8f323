package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/toolsets"
	"fabricbroker/toolsets/mutate"
)

// What clients declare.
const (
	canAsk  = `{"elicitation":{"form":{}}}`
	saysYes = `{"action":"accept","content":{"confirm":true}}`
	saysNo  = `{"action":"decline"}`
)

// inBubble runs f with a world whose clock only moves when everything waits:
// minutes pass at once. Nothing in it has a socket, which would stop the clock.
func inBubble(t *testing.T, f func(w *world), setups ...setup) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(newWorld(t, append([]setup{func(s *worldSetup) {
			s.options.Transport, s.options.Endpoint = s.sim.RoundTripper(), "http://127.0.0.1:1"
			s.broker.CodeMode = broker.CodeNever
		}}, setups...)...))
	})
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// peer is an MCP client made of lines of JSON. It sends what a test says and
// checks and repeats nothing, so that it can be any client, a broken one
// included. What it receives it does check: every line is JSON-RPC, and no
// request is answered twice.
type peer struct {
	t    testing.TB
	era  string
	caps string
	out  io.WriteCloser
	asks chan wire     // what the server asks
	done chan struct{} // closed when the server is gone

	mu      sync.Mutex
	next    int
	waiting map[string]chan wire
	notes   []wire
}

// wire is a JSON-RPC message.
type wire struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  object          `json:"params"`
	Result  object          `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// peer connects a peer of that era with those capabilities, a JSON object.
func (w *world) peer(era, caps string) *peer {
	w.t.Helper()
	p := w.silent(era, caps)
	p.hello(era)
	return p
}

// silent connects a peer that has not said anything yet.
func (w *world) silent(era, caps string) *peer {
	w.t.Helper()
	if w.remote != nil {
		return w.remote.silent("alice", era, caps)
	}
	near, far := net.Pipe()
	if _, err := w.server.Connect(w.t.Context(), &link{Transport: &mcp.IOTransport{Reader: far, Writer: far}}, nil); err != nil {
		w.t.Fatal(err)
	}
	p := newPeer(w.t, era, caps, near, near)
	w.t.Cleanup(p.leave)
	return p
}

func newPeer(t testing.TB, era, caps string, in io.Reader, out io.WriteCloser) *peer {
	p := &peer{
		t: t, era: era, caps: caps, out: out,
		asks: make(chan wire, 100), done: make(chan struct{}), waiting: map[string]chan wire{},
	}
	go p.listen(in)
	return p
}

// hello opens the session where the era has such a thing.
func (p *peer) hello(version string) {
	p.t.Helper()
	if p.modern() {
		return
	}
	got := p.send("initialize", map[string]any{
		"protocolVersion": version, "capabilities": json.RawMessage(p.caps), "clientInfo": map[string]any{"name": "peer", "version": "1"},
	}).wait()
	if got.Error != nil {
		p.t.Fatalf("initialize: %v", got.Error)
	}
	p.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (p *peer) modern() bool { return p.era >= toolsets.ModernVersion }

// leave closes the connection and waits for the server to let go.
func (p *peer) leave() {
	_ = p.out.Close()
	<-p.done
}

func (p *peer) listen(in io.Reader) {
	defer close(p.done)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m wire
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
			p.t.Errorf("not a JSON-RPC message: %q", lines.Text())
			continue
		}
		switch {
		case m.Method != "" && m.ID != nil:
			p.asks <- m
		case m.Method != "":
			p.mu.Lock()
			p.notes = append(p.notes, m)
			p.mu.Unlock()
		default:
			p.mu.Lock()
			c := p.waiting[string(m.ID)]
			delete(p.waiting, string(m.ID))
			p.mu.Unlock()
			if c == nil {
				p.t.Errorf("a response to nothing, or a second one: %s", lines.Text())
				continue
			}
			c <- m
		}
	}
}

func (p *peer) write(line string) {
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		p.t.Errorf("write: %v", err)
	}
}

// pending is a request under way.
type pending struct {
	p  *peer
	id int
	c  chan wire
}

func (p *peer) send(method string, params map[string]any) *pending {
	p.mu.Lock()
	p.next++
	r := &pending{p, p.next, make(chan wire, 1)}
	p.waiting[strconv.Itoa(r.id)] = r.c
	p.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.id, "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(string(line))
	return r
}

// wait returns the response.
func (r *pending) wait() wire {
	r.p.t.Helper()
	select {
	case m := <-r.c:
		return m
	case <-r.p.done:
	}
	select {
	case m := <-r.c:
		return m
	default:
		r.p.t.Fatalf("request %d was never answered", r.id)
		panic("unreachable")
	}
}

// cancel tells the server that nobody waits any more.
func (r *pending) cancel() {
	r.p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, r.id))
}

// meta is the _meta of a request: in the modern era each says who asks.
func (p *peer) meta() map[string]any {
	if !p.modern() {
		return map[string]any{}
	}
	return map[string]any{
		mcp.MetaKeyProtocolVersion:    p.era,
		mcp.MetaKeyClientInfo:         map[string]any{"name": "peer", "version": "1"},
		mcp.MetaKeyClientCapabilities: json.RawMessage(p.caps),
	}
}

// start begins a tool call. More params replace those of every call.
func (p *peer) start(tool string, args map[string]any, more ...map[string]any) *pending {
	meta := p.meta()
	params := map[string]any{"name": tool, "arguments": args}
	for _, m := range more {
		for k, v := range m {
			if k == "progressToken" {
				meta[k] = v
			} else {
				params[k] = v
			}
		}
	}
	if len(meta) > 0 {
		params["_meta"] = meta
	}
	return p.send("tools/call", params)
}

// call calls a tool and returns its structured result.
func (p *peer) call(tool string, args map[string]any) object {
	p.t.Helper()
	return p.start(tool, args).wait().structured(p.t)
}

// structured returns the structured result of a tool call. It is the text of
// the result too, and is an error exactly where it says so.
func (m wire) structured(t testing.TB) object {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("protocol error %d: %s", m.Error.Code, m.Error.Message)
	}
	out, _ := m.Result["structuredContent"].(map[string]any)
	if out == nil {
		t.Fatalf("no structured result: %v", m.Result)
	}
	if isError := m.Result["isError"] == true; isError != (out["error"] != nil) {
		t.Errorf("isError is %v, error %v", isError, out["error"])
	}
	var text any
	content, _ := m.Result["content"].([]any)
	if len(content) == 1 {
		first, _ := content[0].(map[string]any)
		s, _ := first["text"].(string)
		_ = json.Unmarshal([]byte(s), &text)
	}
	if d := cmp.Diff(any(out), text); d != "" {
		t.Errorf("the text of a result is not its structure (-structure +text):\n%s", d)
	}
	return out
}

func (p *peer) propose(spec map[string]any) object {
	p.t.Helper()
	return p.proposeType("connection_create", spec)
}

func (p *peer) proposeType(change string, spec map[string]any) object {
	p.t.Helper()
	out := p.call(mutate.ProposeTool, map[string]any{"change_type": change, "spec": spec})
	if out["confirm_token"] == nil {
		p.t.Fatalf("the proposal was refused: %v", out["error"])
	}
	return out
}

// confirm confirms with a proposal's token and expects no question.
func (p *peer) confirm(proposed object) object {
	p.t.Helper()
	return p.confirmToken(proposed["confirm_token"])
}

func (p *peer) confirmToken(token any) object {
	p.t.Helper()
	return p.call(mutate.ConfirmTool, map[string]any{"confirm_token": token})
}

// status is what the server says of a proposal.
func (p *peer) status(proposed object) object {
	p.t.Helper()
	out := p.call(mutate.StatusTool, map[string]any{"proposal_id": proposed["proposal_id"]})
	list, _ := out["proposals"].([]any)
	if len(list) != 1 {
		p.t.Fatalf("status: %v", out)
	}
	one, _ := list[0].(map[string]any)
	return one
}

func (p *peer) noted(method string) []wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []wire
	for _, m := range p.notes {
		if m.Method == method {
			out = append(out, m)
		}
	}
	return out
}
