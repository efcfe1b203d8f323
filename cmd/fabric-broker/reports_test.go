package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// elicit/form/CLIENTS.md has a row for each reported fault, and what a row names
// exists.
func TestReportedFaults(t *testing.T) {
	b, err := os.ReadFile("../../elicit/form/CLIENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(string(b), -1)
	if len(rows) != 44 {
		t.Errorf("%d rows, want 44", len(rows))
	}
	for i, row := range rows {
		number, tests := row[1], row[5]
		if number != fmt.Sprint(i+1) {
			t.Errorf("row %s stands at %d", number, i+1)
		}
		named := namedTests.FindAllStringSubmatch(tests, -1)
		if len(named) == 0 && !strings.HasPrefix(tests, "no test: ") {
			t.Errorf("row %s names no test, and does not say why", number)
		}
		for _, n := range named {
			source := testSource(t, n[1], n[2])
			if source == "" {
				t.Errorf("row %s: there is no %s", number, n[2])
			}
			for _, c := range quoted.FindAllStringSubmatch(n[3], -1) {
				if !strings.Contains(source, c[1]) {
					t.Errorf("row %s: %s has no case %q", number, n[2], c[1])
				}
			}
		}
	}
}

// A named test is a package, its name, and what stands up to the next one.
var (
	namedTests = regexp.MustCompile("`(?:([a-z]+)\\.)?((?:Test|Fuzz)\\w+)`([^;]*)")
	quoted     = regexp.MustCompile(`"([^"]+)"`)
)

// testSource is the file that has a test, "" where none has.
func testSource(t *testing.T, pkg, name string) string {
	t.Helper()
	dir, known := map[string]string{"": ".", "elicit": "../../elicit", "seal": "../../broker/seal", "remote": "../../toolsets/remote"}[pkg]
	if !known {
		t.Errorf("nothing says where the package %s is", pkg)
	}
	files, err := filepath.Glob(dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+name+"(") {
			return string(b)
		}
	}
	return ""
}

// CLIENTS.md 6, 7: a no ends its proposal. The same thing, proposed again, can be
// confirmed.
func TestANoIsNotForEver(t *testing.T) {
	for status, raw := range map[string]string{"declined": saysNo, "cancelled": `{"action":"cancel"}`} {
		t.Run(status, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				ended(status).check(t, p.ask(p.propose(connectionSpec("dc-aws-01", 1017))).answer(raw))
				createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-01", 1017))).answer(saysYes))
				w.wantCreates(1)
			})
		})
	}
}

// CLIENTS.md 9: a question that its client dropped holds nothing up: neither the
// end of the process, nor another client that wants the same thing.
func TestAQuestionThatNobodyTakes(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		other := w.peer(p.era, canAsk)
		dropped := p.propose(connectionSpec("dc-aws-01", 1017))
		p.ask(dropped)
		p.leave()
		began := time.Now()
		if err := w.broker.Drain(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("something waits for the answer: %v", err)
		}
		createdAfter("accepted").check(t, other.ask(other.propose(connectionSpec("dc-aws-01", 1017))).answer(saysYes))
		if s := other.status(dropped); s["state"] != "superseded" {
			t.Errorf("the dropped one: %v", s)
		}
		w.wantCreates(1)
	})
}

// CLIENTS.md 18: silence, in the real program.
func TestSilenceOverStdio(t *testing.T) {
	for _, era := range eras[:2] {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			p := start(t, era, processEnv(url, t.TempDir()+"/state", "EQUINIX_MCP_ELICIT_TIMEOUT_MS=1000"), silent)
			proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			ended("timed_out").check(t, p.wait(p.confirm(proposed)))
			refused("token_replayed", "spent", "ttf--").check(t, p.wait(p.confirm(proposed))) // the session goes on
			wantMade(t, sim, 0)
		})
	}
}

// CLIENTS.md 35: a restarted server knows no session of before, and says so.
func TestHTTPSessionOfAServerThatIsGone(t *testing.T) {
	w := newWorld(t)
	before, after := w.replica(), w.replica()
	old := before.peer("alice", eras[1], canAsk)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, after.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": eras[1], "Mcp-Session-Id": old.out.(*bridge).session,
	} {
		r.Header.Set(name, value)
	}
	res, err := httpClient(t, "alice", &http.Transport{}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d, want 404", res.StatusCode)
	}
	again := after.peer("alice", eras[1], `{}`)
	ended("unsupported_by_client").check(t, again.confirm(again.propose(connectionSpec("dc-aws-01", 1017))))
	w.wantCreates(0)
}

// CLIENTS.md 41: nothing pings a session that is idle.
func TestAnIdleSessionIsLeftAlone(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			inBubble(t, func(w *world) {
				p := w.peer(era, canAsk)
				p.listed()
				pass(24 * time.Hour)
				if n := len(p.asks) + len(p.noted("notifications/message")); n != 0 {
					t.Errorf("an idle client was told %d things", n)
				}
				createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-01", 1017))).answer(saysYes))
				w.wantCreates(1)
			})
		})
	}
}
