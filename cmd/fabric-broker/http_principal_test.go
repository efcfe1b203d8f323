package main

import (
	"maps"
	"testing"

	"fabricbroker/broker"
	"fabricbroker/toolsets/mutate"
)

// I10: with what belongs to alice, bob gets what he would get for what never
// existed, on every tool. Her token, which he cannot have guessed, is a security
// event, and stays hers.
func TestHTTPAnotherPrincipal(t *testing.T) {
	remotely(t, func(t *testing.T, era string, w *world, r *replica) {
		alice, bob := r.peer("alice", era, canAsk), r.peer("bob", era, canAsk)
		proposed := alice.propose(connectionSpec("dc-aws-01", 1017))
		never := map[string]any{"proposal_id": "00000000-0000-4000-8000-000000000000"}
		hers := map[string]any{"proposal_id": proposed["proposal_id"]}
		for _, tool := range []string{mutate.StatusTool, mutate.WithdrawTool} {
			want, got := bob.call(tool, never), bob.call(tool, hers)
			if want.at("error.code") != "proposal_unknown" || !equalJSON(want, got) {
				t.Errorf("%s: %v, of what never was: %v", tool, got, want)
			}
		}
		if list := bob.call(mutate.StatusTool, map[string]any{})["proposals"].([]any); len(list) != 0 {
			t.Errorf("bob sees %v", list)
		}
		refused("wrong_principal", "unspent", "-----").check(t, bob.confirm(proposed))
		if who := r.events.refused(broker.ErrWrongPrincipal); len(who) != 1 || who[0] != principalOf("bob") {
			t.Errorf("security events: %v", who)
		}
		// Bob's proposals push none of hers out.
		for vlan := range 21 {
			bob.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-02", 2000+vlan)})
		}
		q := alice.ask(proposed)
		if alice.modern() {
			m := bob.retry(q.token, q.state, `{"confirm":`+saysYes+`}`).wait()
			if m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("her state with her token: %v %v", m.Error, m.Result)
			}
			m = bob.retry(bob.propose(connectionSpec("dc-aws-03", 1019))["confirm_token"], q.state, `{"confirm":`+saysYes+`}`).wait()
			if m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("her state with his token: %v %v", m.Error, m.Result)
			}
		}
		w.wantCreates(0)
		createdAfter("accepted").check(t, q.answer(saysYes))
		if got := bob.call(mutate.StatusTool, hers); got.at("error.code") != "proposal_unknown" {
			t.Errorf("what was created: %v", got)
		}
		w.wantCreates(1)
	})
}

// The answer to her question cannot come from somebody else's session, nor his
// session be used with her token.
func TestHTTPAnswersOfAnotherPrincipal(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	alice := r.peer("alice", "2025-11-25", canAsk)
	proposed := alice.propose(connectionSpec("dc-aws-01", 1017))
	q := alice.ask(proposed)
	b := alice.out.(*bridge)
	stranger := bridged(&quiet{TB: t}, r.url, r.http("bob"), "2025-11-25", canAsk)
	stranger.out.(*bridge).session = b.session
	stranger.write(`{"jsonrpc":"2.0","id":` + string(q.id) + `,"result":` + saysYes + `}`)
	if s := r.peer("alice", modern, canAsk).status(proposed); s["state"] != "asking" {
		t.Errorf("after a stranger's answer: %v", s)
	}
	ended("declined").check(t, q.answer(saysNo))
	w.wantCreates(0)
}

// quiet is a test in which errors are expected.
type quiet struct{ testing.TB }

func (q *quiet) Errorf(string, ...any) {}

func equalJSON(a, b object) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	return len(a) == len(b) && a.at("error.code") == b.at("error.code") &&
		a.at("error.message") == b.at("error.message") && a["next_step"] == b["next_step"]
}
