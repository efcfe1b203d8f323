package main

import (
	"strings"
	"syscall"
	"testing"

	"fabricbroker/broker/ledger/pgledger/pgtest"
)

// newPostgres starts a server that the test may stop.
func newPostgres(t *testing.T) *pgtest.Server {
	t.Helper()
	s, err := pgtest.New()
	t.Cleanup(s.Stop)
	return pgtest.For(t, s, err)
}

// Two replicas at one ledger: any of them confirms what another proposed, and a
// ledger that is away refuses mutations while reads go on.
func TestHTTPReplicasShareALedger(t *testing.T) {
	t.Parallel()
	pg := newPostgres(t)
	sim, api := simulator(t)
	env := mutating(t, api, t.TempDir()+"/one", "EQUINIX_MCP_LEDGER_DSN="+pg.DSN("public"))
	one := startHTTP(t, env)
	two := startHTTP(t, append(env, "EQUINIX_MCP_STATE_DIR="+t.TempDir()+"/two"))
	here, there := one.peer(modern), two.peer(modern)
	for _, s := range []*server{one, two} {
		if code, text := s.get("/readyz"); code != 200 {
			t.Errorf("readyz %d %s", code, text)
		}
	}

	proposed := here.propose(connectionSpec("dc-aws-01", 1017))
	q := there.ask(proposed)
	var calls []*pending
	for i := range 6 {
		calls = append(calls, []*peer{here, there}[i%2].retry(q.token, q.state, `{"confirm":`+saysYes+`}`))
	}
	for _, c := range calls {
		createdAfter("accepted").check(t, c.wait().structured(t))
	}
	refused("token_replayed", "spent", "ttf--").check(t, here.confirm(proposed))
	wantMade(t, sim, 1)

	// A question that a session of one replica asks can be withdrawn at another.
	old := one.peer("2025-11-25")
	asked := old.propose(connectionSpec("dc-aws-02", 1018))
	waiting := old.ask(asked)
	there.call("fabric_withdraw_change", map[string]any{"proposal_id": asked["proposal_id"]})
	ended("withdrawn").check(t, waiting.call.wait().structured(t))

	// What an operator halts is halted everywhere.
	if code, out, errs := execute(t, env, "", "halt", "--reason=maintenance"); code != 0 {
		t.Errorf("halt: %d %s%s", code, out, errs)
	}
	for _, p := range []*peer{here, there} {
		if got := p.call("fabric_propose_change", map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-03", 1019)}); got.at("error.code") != "halted" {
			t.Errorf("propose while halted: %v", got)
		}
	}
	if code, out, errs := execute(t, env, "", "resume"); code != 0 || !strings.Contains(out, "maintenance") {
		t.Errorf("resume: %d %s%s", code, out, errs)
	}

	pg.Halt()
	if got := here.call("fabric_propose_change", map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-03", 1019)}); got.at("error.code") != "ledger_unavailable" && got.at("error.code") != "halted" {
		t.Errorf("propose without a ledger: %v", got)
	}
	if got := here.call("fabric_list_metros", map[string]any{}); got["error"] != nil {
		t.Errorf("a read without a ledger: %v", got)
	}
	eventually(t, "readyz tells of it", func() bool { code, _ := one.get("/readyz"); return code == 503 })
	if err := pg.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "readyz tells of it", func() bool { code, _ := one.get("/readyz"); return code == 200 })
	there.propose(connectionSpec("dc-aws-03", 1019))
	wantMade(t, sim, 1)
	for _, s := range []*server{one, two} {
		if code := s.end(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}
