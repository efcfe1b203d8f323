package main

import (
	"net/http/httptest"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// simulator is a simulator on a socket, with the assets that tests name.
func simulator(t *testing.T) (*fabricsim.Sim, string) {
	t.Helper()
	w := &world{t: t, sim: &fabricsim.Sim{SettleAfter: -1}}
	w.seed()
	srv := httptest.NewServer(w.sim)
	t.Cleanup(func() { w.sim.Close(); srv.Close() })
	return w.sim, srv.URL
}

// seen counts the creates and the dry runs that reached the simulator.
func seen(sim *fabricsim.Sim) (creates, dryRuns int) {
	for _, e := range sim.History() {
		switch {
		case e.Method != "POST" || !isCreate(e.Path):
		case e.DryRun:
			dryRuns++
		default:
			creates++
		}
	}
	return creates, dryRuns
}

// made counts the assets that exist because of a create.
func made(sim *fabricsim.Sim) int {
	n := 0
	for _, a := range sim.Assets("") {
		if a.Created {
			n++
		}
	}
	return n
}

func wantMade(t *testing.T, sim *fabricsim.Sim, n int) {
	t.Helper()
	if creates, _ := seen(sim); creates != n || made(sim) != n {
		t.Errorf("%d creates sent and %d assets made, want %d of both", creates, made(sim), n)
	}
}

// onCreate makes the simulator do a to real creates, n times.
func onCreate(sim *fabricsim.Sim, n int, a fabricsim.Action) {
	no := false
	sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &no}, Do: a, Times: n})
}

func onDryRun(sim *fabricsim.Sim, n int, a fabricsim.Action) {
	yes := true
	sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &yes}, Do: a, Times: n})
}

func createdUUID(t *testing.T, sim *fabricsim.Sim) string {
	t.Helper()
	for _, a := range sim.Assets("") {
		if a.Created {
			return a.UUID
		}
	}
	t.Error("nothing was created")
	return ""
}
