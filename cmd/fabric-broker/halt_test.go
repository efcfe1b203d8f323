package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// The stop switch is a file: it stops every process of the directory until it is
// removed, and spends nothing.
func TestHaltFile(t *testing.T) {
	t.Parallel()
	sim, url := simulator(t)
	state := t.TempDir() + "/state"
	a := start(t, "2025-11-25", processEnv(url, state), agrees)
	b := start(t, modern, processEnv(url, state), agrees)
	pending := a.propose("connection_create", connectionSpec("dc-aws-01", 1017))
	halt := filepath.Join(state, "halt")
	if err := os.WriteFile(halt, []byte("maintenance window\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, before := seen(sim)
	for _, p := range []*process{a, b} {
		got := p.propose("connection_create", connectionSpec("dc-aws-02", 1018))
		if message, _ := got.at("error.message").(string); got.at("error.code") != "halted" || !strings.Contains(message, "maintenance window") {
			t.Errorf("a propose while halted: %v", got)
		}
	}
	got := a.wait(a.confirm(pending))
	if got.at("error.code") != "halted" || got["token_state"] != "unspent" {
		t.Errorf("a confirm while halted: %v", got)
	}
	if creates, after := seen(sim); creates != 0 || after != before {
		t.Errorf("%d creates and %d dry runs were sent while halted", creates, after-before)
	}
	if err := os.Remove(halt); err != nil {
		t.Fatal(err)
	}
	if got := a.wait(a.confirm(pending)); got["outcome"] != "created" {
		t.Errorf("the same token after the halt: %v", got)
	}
	wantMade(t, sim, 1)
}

// A dry run that creates is told with the uuid, and everything halts.
func TestDryRunThatCreates(t *testing.T) {
	t.Run("the first", func(t *testing.T) {
		t.Parallel()
		sim, url := simulator(t)
		state := t.TempDir() + "/state"
		p := start(t, "2025-11-25", processEnv(url, state), agrees)
		onDryRun(sim, 1, fabricsim.Action{Kind: fabricsim.FaultIgnoreDryRun})
		got := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
		if got.at("error.code") != "dry_run_created" || got.at("result.uuid") != createdUUID(t, sim) || got["confirm_token"] != nil {
			t.Errorf("the propose came to %v", got)
		}
		wantHalted(t, url, state, p)
		if creates, _ := seen(sim); creates != 0 || made(sim) != 1 {
			t.Errorf("%d creates were sent and %d assets made, want 0 and 1", creates, made(sim))
		}
	})
	for _, era := range []string{"2025-11-25", modern} {
		t.Run("the last/"+era, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			state := t.TempDir() + "/state"
			p := start(t, era, processEnv(url, state), agrees)
			proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			onDryRun(sim, 1, fabricsim.Action{Kind: fabricsim.FaultIgnoreDryRun})
			got := p.wait(p.confirm(proposed))
			if got.at("error.code") != "dry_run_created" || got["executed"] != true || got["outcome"] != "created" ||
				got.at("result.uuid") != createdUUID(t, sim) {
				t.Errorf("the confirm came to %v", got)
			}
			wantHalted(t, url, state, p)
			if creates, _ := seen(sim); creates != 0 || made(sim) != 1 {
				t.Errorf("%d creates were sent and %d assets made, want 0 and 1", creates, made(sim))
			}
			if left := unresolved(t, state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
		})
	}
}

// wantHalted fails unless p, and a process that starts now, refuse to propose.
func wantHalted(t *testing.T, url, state string, p *process) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(state, "halt")); err != nil {
		t.Errorf("the halt file is not set: %v", err)
	}
	for _, p := range []*process{p, start(t, modern, processEnv(url, state), agrees)} {
		if got := p.propose("connection_create", connectionSpec("dc-aws-09", 1099)); got.at("error.code") != "halted" {
			t.Errorf("the next propose came to %v", got)
		}
	}
}
