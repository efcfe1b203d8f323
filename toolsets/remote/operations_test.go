package remote

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestAPanickingToolIsInternalAndTheProcessLives(t *testing.T) {
	w := newWorld(t)
	session := w.open(nil)
	for rule, r := range map[string]reply{
		"modern": w.call("boom", nil),
		"legacy": w.do("POST", "/mcp", legacyCall("boom"), map[string]string{"Mcp-Session-Id": session}),
	} {
		if !strings.Contains(r.text, "internal: ask fabric_change_status") || r.code() != float64(-32603) {
			t.Errorf("%s: %d %s", rule, r.status, r.text)
		}
	}
	if r := w.call("who", nil); r.status != 200 {
		t.Errorf("afterwards: %d", r.status)
	}
}

func TestAPanickingHandlerIsInternalAndTheProcessLives(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		s.options.Checks = []Check{{"boom", func(context.Context) error { panic("hunter2") }}}
	})
	for range 2 {
		if r := w.do("GET", "/readyz", "", nil); r.status != 500 || r.text != "internal\n" {
			t.Errorf("%d %q", r.status, r.text)
		}
	}
	if n := len(w.logs.lines("request panicked")); n != 2 {
		t.Errorf("%d panics are in the log", n)
	}
	if r := w.call("who", nil); r.status != 200 {
		t.Errorf("afterwards: %d", r.status)
	}
}

func TestLogLinesNameRequestTraceAndCaller(t *testing.T) {
	w := newWorld(t)
	const header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	const meta = "00-11111111111111111111111111111111-2222222222222222-00"
	r := w.call("who", map[string]string{"X-Request-Id": "req-7", "Traceparent": header})
	if r.header.Get("X-Request-Id") != "req-7" {
		t.Errorf("header %v", r.header)
	}
	w.do("POST", "/mcp", modernCall("who", `"traceparent":"`+meta+`",`), map[string]string{
		"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "who", "X-Request-Id": "not fit\tfor a log", "Traceparent": header,
	})
	lines := w.logs.lines("who ran")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	p, _ := lines[0]["principal"].(map[string]any)
	if lines[0]["request_id"] != "req-7" || lines[0]["trace_id"] != "0af7651916cd43dd8448eb211c80319c" || lines[0]["span_id"] != "b7ad6b7169203331" || p["subject"] != "alice" {
		t.Errorf("%v", lines[0])
	}
	id, _ := lines[1]["request_id"].(string)
	if lines[1]["trace_id"] != strings.Repeat("1", 32) || len(id) < 20 || strings.Contains(id, " ") {
		t.Errorf("_meta: %v", lines[1])
	}
}

func TestTraceParents(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if parseTrace(good) == (trace{}) || parseTrace("01"+good[2:]+"-more") == (trace{}) {
		t.Error("a valid one is not taken")
	}
	for _, bad := range []string{
		"", "00", good + "-more", "ff" + good[2:], strings.ToUpper(good), good[:54], "00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "00-0af7651916cd43dd8448eb211c80319z-b7ad6b7169203331-01",
	} {
		if got := parseTrace(bad); got != (trace{}) {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestHealth(t *testing.T) {
	var broken atomic.Bool
	var looks atomic.Int32
	w := newWorld(t, func(s *setup) {
		s.options.Checks = []Check{{"ledger", func(context.Context) error {
			looks.Add(1)
			if broken.Load() {
				return errors.New("password=hunter2 is wrong")
			}
			return nil
		}}}
	})
	anybody := map[string]string{"Authorization": ""}
	if r := w.do("GET", "/healthz", "", anybody); r.status != 200 || r.text != "ok\n" {
		t.Errorf("%d %s", r.status, r.text)
	}
	for range 20 {
		if r := w.do("GET", "/readyz", "", anybody); r.status != 200 || r.message["ready"] != true {
			t.Errorf("%d %s", r.status, r.text)
		}
	}
	if n := looks.Load(); n > 5 {
		t.Errorf("%d looks for 20 requests", n)
	}
	broken.Store(true)
	w.server.health.mu.Lock()
	w.server.health.says = nil
	w.server.health.mu.Unlock()
	r := w.do("GET", "/readyz", "", anybody)
	if r.status != 503 || r.message["ready"] != false || strings.Contains(r.text, "hunter2") {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := w.do("GET", "/healthz", "", anybody); r.status != 200 {
		t.Errorf("alive: %d", r.status)
	}
}

// The SDK's own end of a session waits for its calls.
func TestDeletingASessionEndsItsCalls(t *testing.T) {
	w := newWorld(t)
	session := w.open(nil)
	h := map[string]string{"Mcp-Session-Id": session}
	var call sync.WaitGroup
	call.Go(func() { w.do("POST", "/mcp", legacyCall("wait"), h) })
	defer call.Wait()
	wait(t, w.started)
	if r := w.do("DELETE", "/mcp", "", h); r.status != 204 {
		t.Errorf("%d %s", r.status, r.text)
	}
	if err := wait(t, w.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	if r := w.do("POST", "/mcp", legacyCall("who"), h); r.status != 404 {
		t.Errorf("afterwards: %d", r.status)
	}
}

// 2026-07-28: a closed stream is a cancelled call. In a session it is not.
func TestHangingUpCancelsAModernCall(t *testing.T) {
	w := newWorld(t)
	ctx, hangUp := context.WithCancel(t.Context())
	r := w.request("POST", "/mcp", modernCall("wait", ""), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "wait"})
	go func() { _, _ = client(t).Do(r.WithContext(ctx)) }()
	wait(t, w.started)
	hangUp()
	if err := wait(t, w.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

// On the way down a stream that only listens ends, and a call is answered.
func TestGoingDownAnswersWhatRuns(t *testing.T) {
	w := newWorld(t)
	session := w.open(nil)
	listening, err := client(t).Do(w.request("GET", "/mcp", "", map[string]string{"Mcp-Session-Id": session}))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan reply, 1)
	go func() { done <- w.call("wait", nil) }()
	wait(t, w.started)
	w.stop()
	if r := wait(t, done); r.result()["waited"] != true {
		t.Errorf("%d %s", r.status, r.text)
	}
	read(t, listening)
	err = wait(t, w.served)
	w.served <- err // for the end of the test
	if err != nil {
		t.Error(err)
	}
}
