package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fabricbroker/testdata/clients/job"
)

// TestClients drives every client over every transport, in every era that it
// speaks, with every answer. A yes creates exactly once, whatever else nothing:
// counted at the simulator (I2, I3).
func TestClients(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	saw := map[string]result{}
	busy := make(chan struct{}, 4) // scripts that compute rather than wait
	rs := matrix()
	t.Run("run", func(t *testing.T) {
		for _, r := range rs {
			t.Run(r.name(), func(t *testing.T) {
				t.Parallel()
				if !r.patient {
					busy <- struct{}{}
					defer func() { <-busy }()
				}
				got := w.drive(t, r)
				mu.Lock()
				defer mu.Unlock()
				saw[r.name()] = got
			})
		}
	})
	// Nothing came later either.
	creates, approved := w.creates(t), 0
	for _, r := range rs {
		got, ran := saw[r.name()]
		want := 0
		if got.state == "created" {
			want = 1
			approved++
		}
		if ran && creates[r.asset()] != want {
			t.Errorf("%s: %d creates at the end, want %d", r.name(), creates[r.asset()], want)
		}
		delete(creates, r.asset())
	}
	if len(creates) > 0 {
		t.Errorf("creates that nobody asked for: %v", creates)
	}
	t.Logf("%d runs, %d yeses in time, as many creates", len(saw), approved)
	if !t.Failed() && len(saw) == len(rs) {
		checkTable(t, table(t, saw))
	}
}

// result is what became of a run.
type result struct {
	job.Saw
	state string
}

// drive makes one run.
func (w *world) drive(t *testing.T, r run) result {
	dir := filepath.Join(w.dir, r.asset())
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ask, think := r.times()
	env := w.env(dir, ask)
	j := job.Job{Era: r.era, Answer: r.answer, ThinkMS: think.Milliseconds(), Propose: r.proposal()}
	if r.transport == "http" {
		j.URL = w.serve(t, env)
	} else {
		j.Command = []string{filepath.Join(w.bin, "fabric-broker"), "stdio"}
	}
	saw := w.script(t, r, env, j)
	got := result{saw, w.settle(t, r, filepath.Join(dir, "state"))}
	r.check(t, got)
	want := 0
	if got.state == "created" {
		want = 1
	}
	if n := w.creates(t)[r.asset()]; n != want {
		t.Errorf("%d creates, want %d", n, want)
	}
	return got
}

// proposal is a connection of 80 dollars a month, for three years where it has
// to be worth a code.
func (r run) proposal() job.Object {
	spec := job.Object{
		"type": "EVPL_VC", "name": r.asset(), "bandwidth_mbps": 50, "notification_emails": []string{"noc@example.net"}, "project_id": project,
		"a_side": job.Object{"port_uuid": port, "link_protocol": job.Object{"type": "dot1q", "vlan_tag": r.vlan}},
		"z_side": job.Object{"service_profile_uuid": profile, "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012"},
	}
	if r.answer == "code" {
		spec["term_length_months"] = 36
	}
	return job.Object{"change_type": "connection_create", "spec": spec}
}

// script runs the client's script. Where the connection is to be lost it kills
// itself, after its line.
func (w *world) script(t *testing.T, r run, env []string, j job.Job) (saw job.Saw) {
	t.Helper()
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	argv := []string{filepath.Join(w.bin, r.script)}
	if strings.HasPrefix(r.pkg, "@") {
		argv = []string{"node", r.script + ".mjs"}
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], string(b))...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errs
	cmd.WaitDelay = time.Second // a killed client's server has its stderr
	err = cmd.Run()
	if (err != nil) != (r.answer == "lost") {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if err := json.Unmarshal(out.Bytes(), &saw); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	return saw
}

// settle waits until the proposal is as it has to be, or has ended otherwise,
// and returns how it is.
func (w *world) settle(t *testing.T, r run, state string) string {
	t.Helper()
	open := []string{"", "pending", "asking", "approved", "sending"}
	last := recorded(t, state)
	for end := time.Now().Add(patience); last.State != r.want() && slices.Contains(open, last.State) && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
		last = recorded(t, state)
	}
	if era := map[bool]string{true: modern, false: legacy}[last.ProtocolVersion >= "2026-07-28"]; era != r.era {
		t.Errorf("it spoke %s", last.ProtocolVersion)
	}
	return last.State
}

// check compares what was seen with what has to be.
func (r run) check(t *testing.T, got result) {
	t.Helper()
	if got.state != r.want() {
		t.Errorf("the proposal is %s, want %s: %+v", got.state, r.want(), got)
	}
	if got.state == "created" && !r.mayCreate() {
		t.Error("created without a yes")
	}
	if got.Asked != (r.answer != "none") || got.Code != (r.answer == "code") {
		t.Errorf("the form: %+v", got)
	}
	if got.Read == 0 && (r.script != "mcpdo" || r.answer == "accept") {
		t.Error("it read nothing")
	}
	// What the agent is told is what is on record, but that whoever gives up and
	// asks at once may be faster than the record of it.
	told := got.state
	gaveUp := r.answer == "slow" && got.state == "call_cancelled"
	switch {
	case told == "created":
		told = "accepted"
	case r.answer == "lost":
		told = "" // it is dead
	}
	if got.Status != told && (!gaveUp || got.Status != "asking") {
		t.Errorf("it was told %q, want %q: %s", got.Status, told, got.Error)
	}
	if noResult := gaveUp || r.answer == "empty" && got.state == "asking"; noResult != (got.Error != "") {
		t.Errorf("its confirm ended with %q", got.Error)
	}
}
