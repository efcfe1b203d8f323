package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
)

// A slip of the operator's must not become a verdict: an empty shell variable
// would say that nothing exists.
func TestResolveTakesNoVerdictThatIsNone(t *testing.T) {
	t.Parallel()
	state := t.TempDir() + "/state"
	dir, err := audit.OpenDir(state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	i := broker.Intent{Account: "a", ProposalID: "p-1", Hash: "h", SendBy: time.Now()}
	if err := dir.Intents().Claim(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	const id = "5d113752-996b-4b59-8e21-8927e7b98058"
	for _, tc := range []struct {
		args []string
		code int
	}{
		{[]string{"--created="}, 2},
		{[]string{"--created", "dc-aws-01"}, 2},
		{[]string{"--created", "urn:uuid:" + id}, 2},
		{[]string{"--absent"}, 2},
		{nil, 2},
		{[]string{"--created", id}, 0},
	} {
		code, _, errs := execute(t, processEnv("http://127.0.0.1:1", state), "", append([]string{"resolve", "p-1"}, tc.args...)...)
		list, err := dir.Intents().List(t.Context())
		if err != nil || code != tc.code || (list[0].Verdict != nil) != (tc.code == 0) {
			t.Errorf("%q: exit code %d, %v, verdict %v: %s", tc.args, code, err, list[0].Verdict, errs)
		}
	}
}

// Whatever stands in the way of reading the switch halts, and can be resumed.
func TestResumeAfterAHaltThatCannotBeRead(t *testing.T) {
	t.Parallel()
	state := t.TempDir() + "/state"
	dir, err := audit.OpenDir(state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if err := os.WriteFile(filepath.Join(state, "halt"), bytes.Repeat([]byte("why "), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := execute(t, processEnv("http://127.0.0.1:1", state), "", "resume")
	if reason, err := dir.Halt().Halted(t.Context()); code != 0 || !strings.HasPrefix(out, "resumed") || reason != "" || err != nil {
		t.Errorf("exit code %d, %q, %s; still halted: %q, %v", code, out, errs, reason, err)
	}
}
