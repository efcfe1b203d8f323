package fabricsim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func TestFaultAnswers(t *testing.T) {
	page := "text/html; charset=utf-8"
	for _, tt := range []struct {
		name    string
		do      Action
		status  int
		media   string
		body    string // "" is an empty body, "*" anything
		creates int
		header  string
	}{
		{"status with a body", Action{Kind: FaultStatus, Status: 400, Body: json.RawMessage(`[{"errorCode": "EQ-1"}]`)}, 400, "application/json", `[{"errorCode": "EQ-1"}]`, 0, ""},
		{"status with raw text", Action{Kind: FaultStatus, Status: 503, Body: json.RawMessage(`"oops"`)}, 503, "text/plain; charset=utf-8", "oops", 0, ""},
		{"status with an empty text", Action{Kind: FaultStatus, Status: 202, Body: json.RawMessage(`""`)}, 202, "", "", 0, ""},
		{"status alone", Action{Kind: FaultStatus, Status: 429, RetryAfter: 7}, 429, "", "", 0, "7"},
		{"commit_then_status", Action{Kind: FaultCommitThenStatus, Status: 502, Headers: map[string]string{"Content-Type": "text/html"}, Body: json.RawMessage(`"<html>"`)}, 502, "text/html", "<html>", 1, ""},
		{"commit_then_status by default", Action{Kind: FaultCommitThenStatus}, 504, "", "", 1, ""},
		{"empty_body", Action{Kind: FaultEmptyBody, Status: 201}, 201, "", "", 0, ""},
		{"empty_body with commit", Action{Kind: FaultEmptyBody, Commit: true}, 201, "", "", 1, ""},
		{"html", Action{Kind: FaultHTML}, 502, page, "*", 0, ""},
		{"html with commit", Action{Kind: FaultHTML, Status: 200, Commit: true}, 200, page, "*", 1, ""},
		{"unknown_state", Action{Kind: FaultUnknownState, State: "SHINY"}, 201, "application/json", "*", 1, ""},
		{"redirect", Action{Kind: FaultRedirect}, 307, "", "", 0, ""},
		{"delay", Action{Kind: FaultDelay, Milliseconds: 1}, 201, "application/json", "*", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.sim.Fail(Fault{Match: Match{Method: "POST", Path: connections, DryRun: no()}, Do: tt.do, Times: 1})
			r.post(connections+"?dryRun=true", portToAWS(1017), 200) // does not match
			g := r.do("POST", connections, portToAWS(1017))
			if g.status != tt.status || g.header.Get("Content-Type") != tt.media || g.header.Get("Retry-After") != tt.header {
				t.Errorf("got %d %v", g.status, g.header)
			}
			if tt.body != "*" && string(g.raw) != tt.body {
				t.Errorf("body %q, want %q", g.raw, tt.body)
			}
			if n := countCreated(r.sim); n != tt.creates {
				t.Errorf("%d creates, want %d", n, tt.creates)
			}
			if tt.name == "redirect" && g.header.Get("Location") != connections {
				t.Errorf("location %q", g.header.Get("Location"))
			}
			if tt.name == "unknown_state" {
				if text(g.doc, "state") != "SHINY" || text(g.doc, "uuid") == "" {
					t.Errorf("answer %s", g.raw)
				}
				if s := r.get(connections+"/"+text(g.doc, "uuid"), 200).doc["state"]; s != "PROVISIONING" {
					t.Errorf("stored state %v", s)
				}
			}
			if h := r.sim.History(); h[1].Status != tt.status {
				t.Errorf("history says %d", h[1].Status)
			}
			if tt.creates == 0 {
				r.post(connections, portToAWS(1017), 201) // used up
			}
		})
	}
}

func countCreated(s *Sim) int {
	n := 0
	for _, a := range s.Assets("") {
		if a.Created {
			n++
		}
	}
	return n
}

func TestIgnoreDryRun(t *testing.T) {
	r := newRig(t)
	r.sim.Fail(Fault{Match: Match{Path: "/fabric/v4/*", DryRun: yes()}, Do: Action{Kind: FaultIgnoreDryRun}})
	g := r.post("/fabric/v4/routers?dryRun=true", router, 200)
	if text(g.doc, "uuid") == "" || countCreated(r.sim) != 1 || !r.sim.History()[0].DryRun {
		t.Errorf("answer %s, history %+v", g.raw, r.sim.History())
	}
}

func TestDroppedConnections(t *testing.T) {
	for _, tt := range []struct {
		do      Action
		creates int
	}{
		{Action{Kind: FaultReset}, 0},
		{Action{Kind: FaultCommitThenReset}, 1},
		{Action{Kind: FaultTruncated, Bytes: 20}, 0},
		{Action{Kind: FaultTruncated, Bytes: 20, Commit: true}, 1},
		{Action{Kind: FaultTruncated, Bytes: 1 << 20, Commit: true}, 1},
	} {
		name := string(tt.do.Kind)
		if tt.do.Commit {
			name += " with commit"
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sim.Fail(Fault{Match: Match{Path: connections}, Do: tt.do})
			g, err := r.try("POST", connections, portToAWS(1017))
			if err == nil {
				t.Fatalf("answered %d %s", g.status, g.raw)
			}
			if tt.do.Kind == FaultTruncated {
				if !errors.Is(err, io.ErrUnexpectedEOF) || g.status != 201 || len(g.raw) == 0 {
					t.Errorf("%d %q, %v", g.status, g.raw, err)
				}
			} else if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
				t.Errorf("not a reset: %v", err)
			}

			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://sim"+connections, strings.NewReader(portToAWS(1018)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+StaticToken)
			req.Header.Set("Content-Type", "application/json")
			if _, err := send(r.sim.Client(), req); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("without a socket: %v", err)
			}
			if n := countCreated(r.sim); n != 2*tt.creates {
				t.Errorf("%d creates, want %d", n, 2*tt.creates)
			}
		})
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	r := newRig(t)
	r.sim.Fail(Fault{Match: Match{Path: connections, DryRun: no()}, Do: Action{Kind: FaultCommitThenHang}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+connections, strings.NewReader(portToAWS(1017)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+StaticToken)
	req.Header.Set("Content-Type", "application/json")
	if _, err := send(http.DefaultClient, req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if h := r.sim.History(); countCreated(r.sim) != 1 || h[0].Status != 0 {
		t.Errorf("created %d, history %+v", countCreated(r.sim), h)
	}
}

// In a bubble the clock is synctest's, and waiting costs nothing.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := &Sim{}
		sim.Fail(Fault{Match: Match{Path: "/fabric/v4/ports"}, Do: Action{Kind: FaultDelay, Milliseconds: 60_000}})
		sim.Fail(Fault{Match: Match{Path: connections}, Do: Action{Kind: FaultCommitThenHang}})
		start := time.Now()
		call := func(ctx context.Context, method, path, body string) (got, error) {
			req, err := http.NewRequestWithContext(ctx, method, "http://sim"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+StaticToken)
			req.Header.Set("Content-Type", "application/json")
			return send(sim.Client(), req)
		}
		if g, err := call(t.Context(), "GET", "/fabric/v4/ports", ""); err != nil || g.status != 200 {
			t.Errorf("delayed: %v %v", g.status, err)
		}
		if d := time.Since(start); d != time.Minute {
			t.Errorf("took %s", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := call(ctx, "POST", connections, portToAWS(1017)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("hanging: %v", err)
		}
		if a := sim.Assets(KindConnection); len(a) != 2 || a[1].State != "PROVISIONED" {
			t.Errorf("assets %+v", a)
		}
		go func() {
			time.Sleep(time.Minute)
			sim.Close()
		}()
		if _, err := call(t.Context(), "POST", connections, portToAWS(1018)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("closed: %v", err)
		}
	})
}

func TestFaultOrder(t *testing.T) {
	r := newRig(t)
	status := func(n int) Action { return Action{Kind: FaultStatus, Status: n} }
	r.sim.Fail(Fault{Match: Match{Path: "/fabric/v4/ports/*"}, Do: status(500), Times: 2})
	r.sim.Fail(Fault{Match: Match{Method: "GET"}, Do: Action{Kind: FaultDelay, Milliseconds: 1}})
	r.sim.Fail(Fault{Match: Match{Method: "GET"}, Do: status(502), Times: 1})
	r.sim.Fail(Fault{Do: status(503)})
	var got []int
	for range 4 {
		got = append(got, r.do("GET", "/fabric/v4/ports/"+portDC, "").status)
	}
	got = append(got, r.do("GET", "/fabric/v4/ports", "").status)
	r.sim.ClearFaults()
	got = append(got, r.do("GET", "/fabric/v4/ports/"+portDC, "").status)
	if diff := cmp.Diff([]int{500, 500, 502, 503, 503, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestSlowIndex(t *testing.T) {
	for name, match := range map[string]Match{
		"at the create": {Method: "POST", Path: connections},
		"at the search": {Path: connections + "/search"},
		"everywhere":    {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sim.Fail(Fault{Match: match, Do: Action{Kind: FaultSlowIndex, Milliseconds: 30_000}})
			id := text(r.post(connections, portToAWS(1017), 201).doc, "uuid")
			r.get(connections+"/"+id, 200)
			find := func() int {
				g := r.post(connections+"/search", `{"filter":{"property":"/name","operator":"=","values":["dc-aws-01"]}}`, 200)
				return len(list(g.doc, "data"))
			}
			if n := find(); n != 0 {
				t.Errorf("found %d at once", n)
			}
			r.clock.move(30 * time.Second)
			if n := find(); n != 1 {
				t.Errorf("found %d later", n)
			}
		})
	}
}

func TestFailPanicsOnNonsense(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	(&Sim{}).Fail(Fault{Do: Action{Kind: "explode"}})
}
