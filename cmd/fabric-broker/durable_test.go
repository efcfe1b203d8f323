package main

import (
	"context"
	"testing"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// loses makes the next real create lose its answer: kind says how.
func (w *world) loses(kind fabricsim.FaultKind) {
	no := false
	w.sim.Fail(fabricsim.Fault{
		Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &no},
		Do:    fabricsim.Action{Kind: kind}, Times: 1,
	})
}

// run starts the broker's own looking, as the server does.
func (w *world) run() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { w.broker.Run(ctx); close(done) }()
	w.t.Cleanup(func() { stop(); <-done })
}

// I8: an unknown outcome is reported as unknown, never as failed, and the same
// request is refused until it is resolved.
func TestALostAnswerIsUnknownThenFound(t *testing.T) {
	for _, kind := range []fabricsim.FaultKind{fabricsim.FaultCommitThenReset, fabricsim.FaultCommitThenStatus} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			c := w.client("2026-07-28", approves)
			p := c.propose(connectionSpec("dc-aws-01", 1017))
			w.loses(kind)
			done := c.confirm(p)
			if done.at("outcome") != "unknown" || done.at("executed") != false || done.at("phase") != "executed" {
				t.Errorf("confirm: %v", done)
			}
			again := c.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-01", 1017)})
			if again.at("error.code") != string(broker.ErrSameRequestUnresolved) {
				t.Errorf("the same request again: %v", again)
			}
			status := c.call(mutate.StatusTool, map[string]any{"proposal_id": p["proposal_id"]})
			one, _ := status["proposals"].([]any)[0].(map[string]any)
			if one["state"] != "created" || object(one).at("result.uuid") == nil {
				t.Errorf("status: %v", one)
			}
			w.wantCreates(1)
			intents, err := w.dir.Intents().List(t.Context())
			if err != nil || len(intents) != 0 {
				t.Errorf("unresolved files %v, %v", intents, err)
			}
		})
	}
}

// The server finds a lost create by itself.
func TestALostAnswerIsLookedForWithoutBeingAsked(t *testing.T) {
	w := newWorld(t)
	w.run()
	c := w.client("2026-07-28", approves)
	p := c.propose(connectionSpec("dc-aws-01", 1017))
	w.loses(fabricsim.FaultCommitThenReset)
	c.confirm(p)
	id, _ := p["proposal_id"].(string)
	found, err := w.broker.Wait(t.Context(), broker.ID(id), broker.Unknown)
	if err != nil || found.State != broker.Created {
		t.Errorf("%v, %v", found.State, err)
	}
}
