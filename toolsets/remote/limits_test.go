package remote

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
)

// dial opens a connection and sends text on it.
func (w *world) dial(text string) net.Conn {
	w.t.Helper()
	d := net.Dialer{Timeout: patience}
	c, err := d.DialContext(w.t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), "/mcp"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func head(more string) string {
	return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + tokenOf("alice") +
		"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" + more
}

func status(t *testing.T, c net.Conn) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// forever never ends.
type forever struct{ n atomic.Int64 }

func (f *forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	f.n.Add(int64(len(p)))
	return len(p), nil
}

func TestLargeBodiesAreRefusedUnread(t *testing.T) {
	w := newWorld(t)
	const large = 100 << 20
	for _, token := range []string{tokenOf("alice"), "nope"} {
		want := map[bool]int{true: 413, false: 401}[token != "nope"]
		// Declared: not a byte of it is needed.
		c := w.dial(strings.Replace(head(fmt.Sprintf("Content-Length: %d\r\n\r\n", large)), tokenOf("alice"), token, 1))
		if got := status(t, c); got != want {
			t.Errorf("declared, %s: %d, want %d", token, got, want)
		}
	}
	// Undeclared, it ends a little after the limit.
	body := &forever{}
	r := w.request("POST", "/mcp", "", nil)
	r.Body, r.ContentLength = io.NopCloser(io.LimitReader(body, large)), -1
	began := time.Now()
	res, err := client(t).Do(r)
	if err == nil { // else the connection was closed while it was still sending
		if got := read(t, res).status; got != 413 {
			t.Errorf("chunked: %d", got)
		}
	}
	if body.n.Load() > large/2 || time.Since(began) > 10*time.Second {
		t.Errorf("%d bytes were taken in %s", body.n.Load(), time.Since(began))
	}
	exact := strings.Repeat(" ", maxBody-len(modernCall("who", ""))) + modernCall("who", "")
	if r := w.do("POST", "/mcp", exact, map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "who"}); r.status != 200 {
		t.Errorf("4 MiB exactly: %d", r.status)
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	w := newWorld(t)
	c := w.dial(head("X-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"))
	if got := status(t, c); got != 431 {
		t.Errorf("status %d", got)
	}
}

// Two thousand connections that say nothing, and some that send slowly, cost a
// connection each: others are served.
func TestSilentAndSlowClientsDelayNobody(t *testing.T) {
	w := newWorld(t)
	for range 2000 {
		w.dial("")
	}
	for range 20 {
		w.dial("POST /mcp HTT")
		w.dial(head("Content-Length: 100\r\n\r\n{"))
	}
	began := time.Now()
	for range 20 {
		if r := w.call("who", as("bob")); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.text)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 calls took %s", took)
	}
	t.Logf("20 calls beside %d connections took %s", w.server.conns.open(), time.Since(began))
}

func TestTheStillestConnectionGoesWhenThereAreTooMany(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.options.MaxConns = 50 })
	first := w.dial("")
	for range 100 {
		w.dial("")
	}
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("the first connection still stands")
	}
	if r := w.call("who", nil); r.status != 200 {
		t.Errorf("%d %s", r.status, r.text)
	}
	if n := w.server.conns.open(); n > 50 {
		t.Errorf("%d connections are open", n)
	}
}

// A body that never comes ends by deadline and not with the process.
func TestASlowBodyEndsByDeadline(t *testing.T) {
	old := bodyTimeout
	bodyTimeout = 50 * time.Millisecond
	t.Cleanup(func() { bodyTimeout = old })
	w := newWorld(t)
	c := w.dial(head("Content-Length: 100\r\n\r\n{"))
	if got := status(t, c); got != 408 {
		t.Errorf("status %d", got)
	}
	// The deadline is of the body: a call may take longer.
	done := make(chan reply, 1)
	go func() { done <- w.call("wait", nil) }()
	wait(t, w.started)
	<-time.After(2 * bodyTimeout)
	w.release <- struct{}{}
	if r := wait(t, done); r.result()["waited"] != true {
		t.Errorf("%d %s", r.status, r.text)
	}
}

// A client that reads nothing holds its connection for the time of one write.
func TestASlowReaderEndsByDeadline(t *testing.T) {
	old := writeTimeout
	writeTimeout = 50 * time.Millisecond
	t.Cleanup(func() { writeTimeout = old })
	w := newWorld(t)
	call := modernCall("big", "")
	w.dial(head(fmt.Sprintf("Mcp-Protocol-Version: %s\r\nMcp-Method: tools/call\r\nMcp-Name: big\r\nContent-Length: %d\r\n\r\n%s", modern, len(call), call)))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	wait(t, w.started)
	late := time.After(patience)
	for w.server.conns.open() > 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the connection still stands")
		}
	}
}

func TestASlowHeaderEndsByDeadline(t *testing.T) {
	if headerTimeout > 10*time.Second || idleTimeout > 5*time.Minute {
		t.Errorf("%s, %s", headerTimeout, idleTimeout)
	}
}

// Beyond its limit a caller is rate_limited, and nobody else is.
func TestCallsOfOneCallerAtATime(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.limits.Calls = 2; s.limits.ConfirmTool = "wait" })
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			if r := w.call("wait", nil); r.result()["waited"] != true {
				t.Errorf("%d %s", r.status, r.text)
			}
		})
		wait(t, w.started)
	}
	r := w.call("wait", nil)
	e, _ := r.result()["error"].(map[string]any)
	if e["code"] != string(broker.ErrRateLimited) || !strings.Contains(r.text, "seconds") || r.result()["confirm_checks"] == nil {
		t.Errorf("the third: %d %s", r.status, r.text)
	}
	if r := w.call("who", as("bob")); r.result()["who"] != "static:acme/bob" {
		t.Errorf("somebody else: %s", r.text)
	}
	w.release <- struct{}{}
	w.release <- struct{}{}
	running.Wait()
	if r := w.call("who", nil); r.result()["who"] != "static:acme/alice" {
		t.Errorf("afterwards: %s", r.text)
	}
}

func TestProposalsAMinute(t *testing.T) {
	var now sync.Map
	now.Store("now", time.Now())
	w := newWorld(t, func(s *setup) {
		s.limits.ProposeTools, s.limits.Proposals = []string{"who"}, 3
		s.limits.Now = func() time.Time { v, _ := now.Load("now"); return v.(time.Time) }
	})
	limited := func(r reply) bool {
		return strings.Contains(r.text, `"rate_limited"`) || strings.Contains(r.text, `\"rate_limited\"`)
	}
	for n := range 3 {
		if r := w.call("who", nil); limited(r) {
			t.Errorf("number %d: %s", n, r.text)
		}
	}
	r := w.call("who", nil)
	if !limited(r) || r.result()["next_step"] != "wait 20 seconds, then call again; nothing is spent" {
		t.Errorf("the fourth: %s", r.text)
	}
	if r := w.call("who", as("bob")); limited(r) {
		t.Errorf("somebody else: %s", r.text)
	}
	v, _ := now.Load("now")
	now.Store("now", v.(time.Time).Add(20*time.Second))
	if r := w.call("who", nil); limited(r) {
		t.Errorf("20 s later: %s", r.text)
	}
}

func TestRequestsOfOneCallerAtATime(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.options.MaxRequests = 1 })
	done := make(chan reply, 1)
	go func() { done <- w.call("wait", nil) }()
	wait(t, w.started)
	if r := w.call("who", nil); r.status != 429 || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.status, r.text)
	}
	w.release <- struct{}{}
	wait(t, done)
	if r := w.call("who", nil); r.status != 200 {
		t.Errorf("afterwards: %d", r.status)
	}
}

// A client that never closes its sessions keeps the ones it used last.
func TestSessionsOfOneCaller(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.options.MaxSessions = 3 })
	var ids []string
	for range 5 {
		ids = append(ids, w.open(nil))
	}
	for n, id := range ids {
		r := w.do("POST", "/mcp", legacyCall("who"), map[string]string{"Mcp-Session-Id": id})
		if want := map[bool]int{true: 404, false: 200}[n < 2]; r.status != want {
			t.Errorf("session %d: %d, want %d", n, r.status, want)
		}
	}
}

// An issuer may name very many subjects: those that are done are forgotten.
func TestUsageIsForgotten(t *testing.T) {
	u := usages{perMinute: 30}
	for n := range 1000 {
		p := broker.Principal{Kind: "jwt", Subject: fmt.Sprint(n)}
		u.done(p, u.of(p))
	}
	if len(u.m) != 0 {
		t.Errorf("%d are remembered", len(u.m))
	}
}
