package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// A host that goes away with every pipe while the create is under way learns
// from the next start what became of it.
func TestAllPipesClosedAfterTheCreate(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"2025-11-25", modern} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			state := t.TempDir() + "/state"
			env := processEnv(url, state, "EQUINIX_MCP_CONFIRM_SECRET="+strings.Repeat("5a", 32))
			stderr, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			p := startAs(t, era, env, agrees, func(cmd *exec.Cmd) { cmd.Stderr = w })
			_ = w.Close()
			proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 700})
			p.confirm(proposed)
			eventually(t, "the create arrives", func() bool { creates, _ := seen(sim); return creates == 1 })
			_ = stderr.Close()
			_ = p.stdout.Close()
			_ = p.stdin.Close()
			if code := p.ended(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			wantMade(t, sim, 1)

			uuid := createdUUID(t, sim)
			next := start(t, era, env, agrees)
			ps, _ := next.call("fabric_change_status", object{})["proposals"].([]any)
			if len(ps) != 1 || object(ps[0].(map[string]any)).at("result.uuid") != uuid {
				t.Errorf("the next process tells %v", ps)
			}
			r := next.wait(next.confirm(proposed))
			if r.at("error.code") != "token_replayed" || r.at("previous_outcome.uuid") != uuid {
				t.Errorf("the token again: %v", r)
			}
			wantMade(t, sim, 1)
		})
	}
}
