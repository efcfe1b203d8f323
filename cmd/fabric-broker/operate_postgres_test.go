package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker/seal"
	"fabricbroker/fabric/fabricsim"
)

// lost has the answers of the next n creates lost, and hides what they made from
// searches.
func lost(sim *fabricsim.Sim, n int) {
	for _, kind := range []fabricsim.FaultKind{fabricsim.FaultSlowIndex, fabricsim.FaultCommitThenReset} {
		onCreate(sim, n, fabricsim.Action{Kind: kind, Milliseconds: int(time.Hour.Milliseconds())})
	}
}

// An operator at the shared ledger: the doctor before and after its migration,
// metrics, halt and resume, a person's word on lost creates, and a rotation of
// the confirm secret, all with the real program.
func TestOperatingTheSharedLedger(t *testing.T) {
	t.Parallel()
	pg := newPostgres(t)
	sim, api := simulator(t)
	older, newer := seal.Generate(), seal.Generate()
	with := func(secrets string) []string {
		return mutating(t, api, t.TempDir()+"/state", "EQUINIX_MCP_LEDGER_DSN="+strings.Replace(pg.DSN("public"), "ledger@", "ledger:hunter2@", 1),
			"EQUINIX_MCP_CONFIRM_SECRET="+secrets, "EQUINIX_MCP_METRICS_LISTEN=127.0.0.1:0")
	}
	env := with(older)
	found, _ := examined(t, env)
	wants(t, found, "ledger", warning, "not migrated")
	s := startHTTP(t, env)
	found, _ = examined(t, env)
	wants(t, found, "ledger", good, "pending 0, unknown 0")

	p := s.peer(modern)
	lost(sim, 2)
	var unknown []object
	for i, name := range []string{"dc-aws-01", "dc-aws-02"} {
		proposed := p.propose(connectionSpec(name, 1017+i))
		if got := p.ask(proposed).answer(saysYes); got["outcome"] != "unknown" {
			t.Fatalf("confirm: %v", got)
		}
		unknown = append(unknown, proposed)
	}
	p.propose(connectionSpec("dc-aws-03", 1019))
	found, _ = examined(t, env)
	wants(t, found, "ledger", good, "pending 1, unknown 2")
	wants(t, found, "ledger's creates", problem, text(unknown[0]["proposal_id"]), text(unknown[1]["proposal_id"]))
	page := s.metrics()
	for _, line := range []string{"fabric_broker_proposals_pending 1\n", "fabric_broker_proposals_unknown 2\n", `fabric_broker_events_total{event="unknown"} 2` + "\n"} {
		if !strings.Contains(page, line) {
			t.Errorf("the metrics have no line %s", line)
		}
	}
	if code, _ := s.get("/metrics"); code != http.StatusNotFound {
		t.Errorf("metrics where callers come: %d", code)
	}

	operate := func(want string, args ...string) {
		t.Helper()
		if code, out, errs := execute(t, env, "", args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: %d %s%s", args, code, out, errs)
		}
	}
	operate("halted", "halt", "--reason=maintenance")
	found, _ = examined(t, env)
	wants(t, found, "ledger's halt", problem, "maintenance")
	operate("maintenance", "resume")

	uuid := createdUUID(t, sim)
	operate("recorded", "resolve", text(unknown[0]["proposal_id"]), "--created="+uuid)
	operate("recorded", "resolve", text(unknown[1]["proposal_id"]), "--absent", "--reason=asked the provider")
	for i, want := range []string{"created", "absent"} {
		eventually(t, "the verdict is applied", func() bool { return p.status(unknown[i])["state"] == want })
	}
	if got := p.status(unknown[0]).at("result.uuid"); got != uuid {
		t.Errorf("created %v, the person said %s", got, uuid)
	}
	found, _ = examined(t, env)
	wants(t, found, "ledger", good, "pending 1, unknown 0")
	wants(t, found, "ledger's creates", good, "none")
	wants(t, found, "old secrets", good)

	// The rotation in its three steps.
	found, _ = examined(t, with(newer))
	wants(t, found, "old secrets", problem, "not configured: 3")
	first, second := with(older+","+newer), with(newer+","+older)
	found, _ = examined(t, first)
	wants(t, found, "old secrets", good) // the newer one has sealed nothing yet
	found, _ = examined(t, second)
	wants(t, found, "old secrets", warning, "still hang on one: 3")
	startHTTP(t, second)
	found, _ = examined(t, second)
	wants(t, found, "old secrets", good, "an old one among them may go")
	found, _ = examined(t, with(newer))
	wants(t, found, "old secrets", good)
	if s := startHTTP(t, with(newer)).peer(modern).status(unknown[0])["state"]; s != "created" {
		t.Errorf("under the newer secret alone: %v", s)
	}

	pg.Halt()
	found, _ = examined(t, env)
	wants(t, found, "ledger", problem, "cannot be used")
	for _, f := range found {
		if strings.Contains(f.Detail+f.Fix, "hunter2") {
			t.Errorf("the DSN's password is printed: %+v", f) // I9
		}
	}
}

var metricsLine = regexp.MustCompile(`"msg":"metrics","addr":"([^"]+)"`)

// metrics is the page on the process's other listener.
func (s *server) metrics() string {
	s.t.Helper()
	m := metricsLine.FindStringSubmatch(s.log.String())
	if m == nil {
		s.t.Fatal("no metrics are served")
	}
	res, err := httpClient(s.t, "nobody", &http.Transport{}).Get("http://" + m[1] + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%d %v", res.StatusCode, err)
	}
	return string(b)
}
