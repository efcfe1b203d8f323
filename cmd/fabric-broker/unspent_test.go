package main

import (
	"fmt"
	"testing"
	"time"

	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// I5: these refusals come before anything is spent, and the token still works
// once their reason is gone.

func TestPreviewSpendsNothing(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		want := refused("preview_mode", "unspent", "ttt--")
		want.Phase = "preview"
		want.check(t, p.confirm(proposed))
		want.check(t, p.confirm(proposed))
		if s := p.status(proposed)["state"]; s != "pending" {
			t.Errorf("state %v", s)
		}
		w.wantCreates(0)
	}, allowed, func(s *worldSetup) { s.broker.Preview = true })
}

func TestHaltSpendsNothing(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		if err := w.dir.Halt().Set(t.Context(), "maintenance"); err != nil {
			t.Fatal(err)
		}
		before := len(w.sim.History())
		refused("halted", "unspent", "ttt--").check(t, p.confirm(proposed))
		again := p.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-02", 1018)})
		if again.at("error.code") != "halted" || len(w.sim.History()) != before {
			t.Errorf("propose while halted: %v", again)
		}
		if err := w.dir.Halt().Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		q := p.ask(proposed)
		if err := w.dir.Halt().Set(t.Context(), "maintenance"); err != nil {
			t.Fatal(err)
		}
		want := refused("halted", "spent", "ttttt")
		want.Status = "accepted"
		want.check(t, q.answer(saysYes))
		w.wantCreates(0)
	})
}

func TestFiveWaitingPromptsAreTheMost(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		var asked []*question
		for i := range 5 {
			asked = append(asked, p.ask(p.propose(connectionSpec(fmt.Sprint("dc-aws-", i), 1000+i))))
		}
		sixth := p.propose(connectionSpec("dc-aws-5", 1005))
		refused("rate_limited", "unspent", "ttt--").check(t, p.confirm(sixth))
		w.wantCreates(0)
		ended("declined").check(t, asked[0].answer(saysNo))
		createdAfter("accepted").check(t, p.ask(sixth).answer(saysYes))
		w.wantCreates(1)
	})
}

func TestSixHundredConfirmsAMinuteAreTheMost(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		for range 600 {
			if code := p.confirmToken("x").at("error.code"); code != "token_malformed" {
				t.Fatalf("got %v", code)
			}
		}
		refused("rate_limited", "none", "-----").check(t, p.confirm(proposed))
		pass(time.Minute)
		createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
		w.wantCreates(1)
	})
}

func TestThreeNoesPauseConfirming(t *testing.T) {
	const cancels = `{"action":"cancel"}`
	long := func(s *worldSetup) { s.broker.TTL = time.Hour }
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		for i, raw := range []string{saysNo, cancels, `{"action":"yes"}`, `{"action":"accept","content":{}}`} {
			p.ask(p.propose(connectionSpec(fmt.Sprint("dc-aws-", i), 1000+i))).answer(raw)
		}
		next := p.propose(connectionSpec("dc-aws-5", 1005))
		refused("cooling_down", "unspent", "ttt--").check(t, p.confirm(next))
		pass(10*time.Minute - time.Second)
		refused("cooling_down", "unspent", "ttt--").check(t, p.confirm(next))
		pass(time.Second)
		createdAfter("accepted").check(t, p.ask(next).answer(saysYes))
		w.wantCreates(1)
	}, long)
	t.Run("not when they are spread", func(t *testing.T) {
		flows(t, eras[2:], func(t *testing.T, _ *world, p *peer) {
			for i, raw := range []string{saysNo, cancels, saysNo, cancels} {
				ended(map[string]string{saysNo: "declined", cancels: "cancelled"}[raw]).
					check(t, p.ask(p.propose(connectionSpec(fmt.Sprint("dc-aws-", i), 1000+i))).answer(raw))
				pass(5 * time.Minute)
			}
		}, long)
	})
}

// The 21st pending proposal pushes the oldest out, says so, and its token knows.
func TestEvictionIsTold(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		first := p.propose(connectionSpec("dc-aws-0", 1000))
		for i := range 19 {
			if e, _ := p.propose(connectionSpec(fmt.Sprint("dc-aws-", i+1), 1001+i))["evicted_proposals"].([]any); e == nil || len(e) != 0 {
				t.Errorf("proposal %d evicts %v", i+2, e)
			}
			pass(time.Second)
		}
		last := p.propose(connectionSpec("dc-aws-20", 1020))
		gone, _ := last["evicted_proposals"].([]any)
		if len(gone) != 1 {
			t.Fatalf("evicted: %v", gone)
		}
		one, _ := gone[0].(map[string]any)
		for _, k := range []string{"proposal_id", "change_type", "request_sha256"} {
			if one[k] != first[k] {
				t.Errorf("evicted: %v", one)
			}
		}
		if one["name"] != "dc-aws-0" {
			t.Errorf("evicted: %v", one)
		}
		refused("token_evicted", "unspent", "tf---").check(t, p.confirm(first))
		w.wantCreates(0)
		createdAfter("accepted").check(t, p.ask(last).answer(saysYes))
	})
}

func TestWithdrawnTokenIsNotPending(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		p.call(mutate.WithdrawTool, map[string]any{"proposal_id": proposed["proposal_id"]})
		refused("not_pending", "unspent", "tt---").check(t, p.confirm(proposed))
		w.wantCreates(0)
	})
}

// A confirm after the TTL reaches the ledger, so it spends (I5, I6): once
// expired, then replayed.
func TestExpiredToken(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		pass(10 * time.Minute)
		refused("token_expired", "spent", "tttf-").check(t, p.confirm(proposed))
		refused("token_replayed", "spent", "ttf--").check(t, p.confirm(proposed))
		w.wantCreates(0)
	})
}

// Nobody approves by an argument: unknown ones are refused and spend nothing.
func TestUnknownArgumentsSpendNothing(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		token := proposed["confirm_token"]
		for _, args := range []map[string]any{
			{"confirm_token": token, "confirm": true},
			{"confirm_token": token, "confirmed": "true"},
			{"Confirm_Token": token},
			{"confirm_token": []any{token}},
			{"confirm_token": 1},
		} {
			refused("invalid_arguments", "none", "-----").check(t, p.call(mutate.ConfirmTool, args))
		}
		refused("token_missing", "none", "-----").check(t, p.call(mutate.ConfirmTool, map[string]any{}))
		refused("token_missing", "none", "-----").check(t, p.call(mutate.ConfirmTool, map[string]any{"confirm_token": nil}))
		w.wantCreates(0)
		createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
	})
}

// I8: what was sent and not answered is unknown, never failed; the same request
// is refused, and the same retry says the same.
func TestLostAnswerOfTheCreate(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed, equal := p.propose(connectionSpec("dc-aws-01", 1017)), p.propose(connectionSpec("dc-aws-01", 1017))
		q := p.ask(proposed)
		for _, kind := range []fabricsim.FaultKind{fabricsim.FaultSlowIndex, fabricsim.FaultCommitThenReset} { // nor is it found
			f := slow(false, time.Hour)
			f.Do.Kind = kind
			w.sim.Fail(f)
		}
		want := confirmed{Status: "accepted", Outcome: "unknown", Phase: "executed", TokenState: "spent", Checks: "ttttt"}
		want.check(t, q.answer(saysYes))
		if p.modern() {
			want.check(t, q.answer(saysYes))
		}
		got := p.ask(equal).answer(saysYes)
		if code := got.at("error.code"); code != "same_request_unresolved" {
			t.Errorf("an equal request: %v", got)
		}
		again := p.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-01", 1017)})
		if code := again.at("error.code"); code != "same_request_unresolved" {
			t.Errorf("proposed again: %v", again)
		}
		w.wantCreates(1)
	})
}
