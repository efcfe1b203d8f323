package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// examined is what the doctor finds, by check.
func examined(t *testing.T, env []string) (found map[string]finding, code int) {
	t.Helper()
	code, out, errs := execute(t, env, "", "doctor", "--json")
	var all struct{ Findings []finding }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	found = map[string]finding{}
	bad := false
	for _, f := range all.Findings {
		if _, twice := found[f.Check]; twice || f.Status != good && f.Fix == "" {
			t.Errorf("%+v", f)
		}
		found[f.Check] = f
		bad = bad || f.Status == problem
	}
	if (code == exitFailed) != bad || code != 0 && code != exitFailed {
		t.Errorf("exit code %d: %s", code, out)
	}
	return found, code
}

// wants fails unless the check has that status and says all these words.
func wants(t *testing.T, found map[string]finding, check, status string, words ...string) {
	t.Helper()
	f := found[check]
	for _, w := range words {
		if !strings.Contains(f.Detail+" "+f.Fix, w) {
			t.Errorf("%s does not say %q: %+v", check, w, f)
		}
	}
	if f.Status != status {
		t.Errorf("%s: %+v, want %s", check, f, status)
	}
}

// The doctor sees what a killed server leaves, the stop switch and a broken
// audit log, and changes nothing.
func TestDoctorLooksAtTheStateDirectory(t *testing.T) {
	t.Parallel()
	sim, url := simulator(t)
	state := t.TempDir() + "/state"
	env := processEnv(url, state)
	found, code := examined(t, env)
	wants(t, found, "state directory", good, "does not exist yet")
	if _, err := os.Stat(state); err == nil || code != 0 {
		t.Errorf("the doctor made it, or ended with %d", code)
	}

	p := start(t, modern, env, agrees)
	if got := p.wait(p.confirm(p.propose("connection_create", connectionSpec("dc-aws-01", 1017)))); got["outcome"] != "created" {
		t.Fatalf("%v", got)
	}
	found, _ = examined(t, env)
	wants(t, found, "unresolved creates", good)
	wants(t, found, "audit log", good, "unbroken: files 1")

	onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultCommitThenHang})
	proposed := p.propose("connection_create", connectionSpec("dc-aws-02", 1018))
	p.confirm(proposed)
	eventually(t, "the asset is made", func() bool { return made(sim) == 2 })
	p.signal(syscall.SIGKILL)
	p.ended()
	id := text(proposed["proposal_id"])
	if code, out, errs := execute(t, env, "", "halt", "--reason=look into it"); code != 0 {
		t.Errorf("halt: %s%s", out, errs)
	}
	found, _ = examined(t, env)
	wants(t, found, "unresolved creates", problem, id, "fabric-broker resolve")
	wants(t, found, "halt", problem, "look into it", "fabric-broker resume")
	wants(t, found, "audit log", good)
	if code, out, errs := execute(t, env, "", "resolve", id, "--absent", "--reason=asked the provider"); code != 0 {
		t.Errorf("resolve: %s%s", out, errs)
	}
	found, _ = examined(t, env)
	wants(t, found, "unresolved creates", problem, "a verdict waits")

	// Without a path, audit verify looks at the configured state directory.
	if code, out, errs := execute(t, env, "", "audit", "verify"); code != 0 || !strings.Contains(out, "unbroken") {
		t.Errorf("verify: %d %s%s", code, out, errs)
	}
	logs, _ := filepath.Glob(filepath.Join(state, "audit-*.jsonl"))
	b, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logs[0], bytes.Replace(b, []byte("dc-aws-01"), []byte("dc-aws-99"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	found, _ = examined(t, env)
	wants(t, found, "audit log", problem, "broken", filepath.Base(logs[0]), "line ")
	if code, out, _ := execute(t, env, "", "audit", "verify"); code != exitFailed || !strings.Contains(out, "BROKEN") {
		t.Errorf("verify: %d %s", code, out)
	}
}
