package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/toolsets/mutate"
)

// question is what a client was asked, in whatever way its era asks.
type question struct {
	p       *peer
	token   any
	message string
	schema  object

	call  *pending        // up to 2025-11-25: the call that waits
	id    json.RawMessage // and the id of the server's request
	state string          // 2026-07-28: what the answer must bring back
}

// ask confirms and returns the question that comes of it.
func (p *peer) ask(proposed object, more ...map[string]any) *question {
	p.t.Helper()
	token := proposed["confirm_token"]
	call := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": token}, more...)
	if p.modern() {
		return p.asked(token, call.wait())
	}
	select {
	case m := <-p.asks:
		q := &question{p: p, token: token, call: call, id: m.ID}
		q.read(m.Params)
		return q
	case m := <-call.c:
		p.t.Fatalf("nobody was asked: %v", m)
		panic("unreachable")
	}
}

// asked is the question in the result of a modern call.
func (p *peer) asked(token any, m wire) *question {
	p.t.Helper()
	if m.Error != nil || m.Result["resultType"] != "input_required" {
		p.t.Fatalf("nobody was asked: %v %v", m.Error, m.Result)
	}
	q := &question{p: p, token: token}
	q.state, _ = m.Result["requestState"].(string)
	if method := m.Result.at("inputRequests.confirm.method"); method != "elicitation/create" {
		p.t.Fatalf("asked with %v", method)
	}
	params, _ := m.Result.at("inputRequests.confirm.params").(map[string]any)
	q.read(params)
	return q
}

func (q *question) read(params object) {
	q.message, _ = params["message"].(string)
	q.schema, _ = params["requestedSchema"].(map[string]any)
}

// reply answers with a raw elicit result and returns what the confirm call came
// to.
func (q *question) reply(raw string) wire {
	q.p.t.Helper()
	if q.p.modern() {
		return q.retry(fmt.Sprintf(`{"confirm":%s}`, raw)).wait()
	}
	q.p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, raw))
	return q.call.wait()
}

func (q *question) answer(raw string) object {
	q.p.t.Helper()
	return q.reply(raw).structured(q.p.t)
}

// retry is the second round of the modern era.
func (q *question) retry(responses string) *pending {
	return q.p.retry(q.token, q.state, responses)
}

func (p *peer) retry(token any, state, responses string) *pending {
	return p.start(mutate.ConfirmTool, map[string]any{"confirm_token": token},
		map[string]any{"requestState": state, "inputResponses": json.RawMessage(responses)})
}

// confirmed is what a confirm result says, without its words.
type confirmed struct {
	Status, Outcome, Phase, TokenState, Code string
	Executed                                 bool
	// Checks are proposal_exists, not_evicted, not_previously_used, not_expired
	// and request_matches_binding as t, f and -, which is null.
	Checks string
}

// The results of §7's table.
func ended(status string) confirmed {
	return confirmed{Status: status, Outcome: "not_sent", Phase: "not_executed", TokenState: "spent", Checks: "ttttt"}
}

func createdAfter(status string) confirmed {
	return confirmed{Status: status, Outcome: "created", Phase: "executed", TokenState: "spent", Executed: true, Checks: "ttttt"}
}

// refused is a confirm that ended in an error before anybody was asked.
func refused(code, tokenState, checks string) confirmed {
	return confirmed{Code: code, Outcome: "not_sent", Phase: "not_executed", TokenState: tokenState, Checks: checks}
}

// want compares a confirm result, and checks that all its fields are there.
func (want confirmed) check(t testing.TB, got object) {
	t.Helper()
	for _, k := range []string{
		"phase", "executed", "outcome", "change_type", "proposal_id", "result", "request_sha256",
		"human_confirmation", "confirm_checks", "token_state", "next_step",
	} {
		if _, has := got[k]; !has {
			t.Errorf("the result has no %s", k)
		}
	}
	has := confirmed{
		Status: text(got.at("human_confirmation.status")), Outcome: text(got["outcome"]), Phase: text(got["phase"]),
		TokenState: text(got["token_state"]), Code: text(got.at("error.code")), Executed: got["executed"] == true,
	}
	for _, k := range []string{"proposal_exists", "not_evicted", "not_previously_used", "not_expired", "request_matches_binding"} {
		switch got.at("confirm_checks." + k) {
		case true:
			has.Checks += "t"
		case false:
			has.Checks += "f"
		case nil:
			has.Checks += "-"
		}
	}
	if d := cmp.Diff(want, has); d != "" {
		t.Errorf("confirm (-want +got):\n%s%v", d, got)
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
