package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/toolsets/mutate"
)

// remotely runs f in every era, with a world and a server on a socket; flows has
// the same table over HTTP as over stdio.
func remotely(t *testing.T, f func(t *testing.T, era string, w *world, r *replica)) {
	t.Helper()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			w := newWorld(t)
			f(t, era, w, w.replica())
		})
	}
}

// With the SDK's client, which opens no stream of its own: every answer, and
// only the approval creates.
func TestHTTPAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		answer  answerer
		status  string
		creates int
	}{
		"approve": {approves, "accepted", 1},
		"decline": {declines, "declined", 0},
		"cancel": {func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}, "cancelled", 0},
		"no capability": {nil, "unsupported_by_client", 0},
	} {
		t.Run(name, func(t *testing.T) {
			remotely(t, func(t *testing.T, era string, w *world, r *replica) {
				c := r.client("alice", era, row.answer)
				proposed := c.propose(connectionSpec("dc-aws-01", 1017))
				done := c.confirm(proposed)
				if done.at("human_confirmation.status") != row.status || done["executed"] != (row.creates == 1) || done["token_state"] != "spent" {
					t.Errorf("confirm: %v", done)
				}
				replay := c.confirm(proposed)
				if replay.at("error.code") != "token_replayed" || replay.at("previous_outcome.outcome") != done["outcome"] {
					t.Errorf("replay: %v", replay)
				}
				w.wantCreates(row.creates)
			})
		})
	}
}

// A call that is lost in the middle of its create is finished and recorded, and
// its retry gets the outcome.
func TestHTTPHangUpWhileSending(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	p, other := r.peer("alice", modern, canAsk), r.peer("alice", modern, canAsk)
	proposed := p.propose(connectionSpec("dc-aws-01", 1017))
	q := p.ask(proposed)
	w.sim.Fail(slow(false, 300*time.Millisecond))
	q.retry(`{"confirm":` + saysYes + `}`)
	eventually(t, "the create arrives", func() bool { sent, _ := seen(w.sim); return sent == 1 })
	p.leave()
	eventually(t, "the create is recorded", func() bool { return other.status(proposed)["state"] == "created" })
	createdAfter("accepted").check(t, other.retry(q.token, q.state, `{"confirm":`+saysYes+`}`).wait().structured(t))
	w.wantCreates(1)
}

// I2: the same approved retry, again and in parallel, at any replica.
func TestHTTPApprovedRetryAgain(t *testing.T) {
	w := newWorld(t)
	one, two := w.replica(), w.replica()
	here, there := one.peer("alice", modern, canAsk), two.peer("alice", modern, canAsk)
	q := here.ask(here.propose(connectionSpec("dc-aws-01", 1017)))
	w.sim.Fail(slow(false, 200*time.Millisecond))
	var mu sync.Mutex
	uuids := map[any]bool{}
	var all sync.WaitGroup
	for i := range 10 {
		p := []*peer{here, there}[i%2]
		call := p.retry(q.token, q.state, `{"confirm":`+saysYes+`}`)
		all.Go(func() {
			got := call.wait().structured(t)
			createdAfter("accepted").check(t, got)
			mu.Lock()
			defer mu.Unlock()
			uuids[got.at("result.uuid")] = true
		})
	}
	all.Wait()
	for _, p := range []*peer{here, there} {
		got := p.retry(q.token, q.state, `{"confirm":`+saysNo+`}`).wait().structured(t)
		createdAfter("accepted").check(t, got)
		uuids[got.at("result.uuid")] = true
	}
	if len(uuids) != 1 {
		t.Errorf("the outcomes name %v", uuids)
	}
	w.wantCreates(1)
}

// I2, I5: one token confirmed at two replicas at once asks one person once.
func TestHTTPParallelConfirms(t *testing.T) {
	remotely(t, func(t *testing.T, era string, w *world, r *replica) {
		other := w.replica()
		proposed := r.client("alice", era, approves).propose(connectionSpec("dc-aws-01", 1017))
		var all sync.WaitGroup
		var mu sync.Mutex
		got := map[any]int{}
		for i := range 6 {
			c := []*replica{r, other}[i%2].client("alice", era, approves)
			all.Go(func() {
				done := c.confirm(proposed)
				mu.Lock()
				defer mu.Unlock()
				got[done.at("error.code")]++
			})
		}
		all.Wait()
		if got[nil] != 1 || got["token_replayed"] != 5 {
			t.Errorf("%v", got)
		}
		w.wantCreates(1)
	})
}

// A modern client needs no session: each of its requests may go elsewhere.
func TestHTTPEveryRoundAtAnotherReplica(t *testing.T) {
	w := newWorld(t)
	proposed := w.replica().peer("alice", modern, canAsk).propose(connectionSpec("dc-aws-01", 1017))
	q := w.replica().peer("alice", modern, canAsk).ask(proposed)
	third := w.replica().peer("alice", modern, canAsk)
	createdAfter("accepted").check(t, third.retry(q.token, q.state, `{"confirm":`+saysYes+`}`).wait().structured(t))
	if s := w.replica().peer("alice", modern, canAsk).status(proposed); s["state"] != "created" {
		t.Errorf("status: %v", s)
	}
	w.wantCreates(1)
}

// CLIENTS.md 35: what a session could do, another one cannot.
func TestHTTPSessionsHaveTheirOwnCapabilities(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	can, cannot := r.peer("alice", "2025-11-25", canAsk), r.peer("alice", "2025-11-25", `{}`)
	ended("unsupported_by_client").check(t, cannot.confirm(can.propose(connectionSpec("dc-aws-01", 1017))))
	createdAfter("accepted").check(t, can.ask(cannot.propose(connectionSpec("dc-aws-02", 1018))).answer(saysYes))
	w.wantCreates(1)
}

// A person who is asked when the server goes down is asked no longer; the call
// is answered.
func TestHTTPGoingDownWhileAsked(t *testing.T) {
	for _, era := range eras[:2] {
		t.Run(era, func(t *testing.T) {
			w := newWorld(t)
			r := w.replica()
			p := r.peer("alice", era, canAsk)
			proposed := p.propose(connectionSpec("dc-aws-01", 1017))
			q := p.ask(proposed)
			r.stop()
			ended("call_cancelled").check(t, q.call.wait().structured(t))
			w.wantCreates(0)
		})
	}
}

// The pace of proposals: refused before the provider hears of it.
func TestHTTPProposalsAMinute(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	p := r.peer("alice", modern, canAsk)
	for range 30 {
		p.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": map[string]any{}})
	}
	_, before := seen(w.sim)
	got := p.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-01", 1017)})
	if got.at("error.code") != "rate_limited" || !strings.Contains(text(got["next_step"]), "seconds") {
		t.Errorf("%v", got)
	}
	if _, after := seen(w.sim); after != before {
		t.Error("a dry run was sent")
	}
	r.peer("bob", modern, canAsk).propose(connectionSpec("dc-aws-01", 1017))
}
