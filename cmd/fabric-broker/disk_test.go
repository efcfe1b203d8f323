//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// nobody is the user that a test's process runs as where the test is root, for
// whom no directory is read-only.
const nobody = 65534

// private makes a state directory's parent for the user of unprivileged.
func private(t *testing.T) (state string) {
	t.Helper()
	parent := t.TempDir()
	if os.Getuid() == 0 {
		for _, dir := range []string{parent, filepath.Dir(parent)} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(parent, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(parent, "state")
}

// unprivileged has a process run as somebody whom file modes hold back.
func unprivileged(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.Path = "/proc/self/exe" // the path itself may lead through directories of root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// badDisk is something that happens to a state directory, and how it ends.
type badDisk struct {
	hit, heal func(t *testing.T, p *process, state string)
	// writes says that the open audit log can still be written.
	writes bool
}

var badDisks = map[string]badDisk{
	// No file can grow, as on a full disk.
	"full": {
		hit:  func(t *testing.T, p *process, _ string) { fileSizes(t, p, "0:unlimited") },
		heal: func(t *testing.T, p *process, _ string) { fileSizes(t, p, "unlimited:unlimited") },
	},
	"read-only": {
		hit:    func(t *testing.T, _ *process, state string) { modes(t, state, 0o500) },
		heal:   func(t *testing.T, _ *process, state string) { modes(t, state, 0o700) },
		writes: true,
	},
	"gone": {
		hit:  func(t *testing.T, _ *process, state string) { rename(t, state, state+"-away") },
		heal: func(t *testing.T, _ *process, state string) { rename(t, state+"-away", state) },
	},
}

func fileSizes(t *testing.T, p *process, limits string) {
	t.Helper()
	out, err := exec.Command("prlimit", "--pid", strconv.Itoa(p.cmd.Process.Pid), "--fsize="+limits).CombinedOutput()
	if err != nil {
		t.Skipf("prlimit, of util-linux, cannot limit a process: %v %s", err, out)
	}
}

func modes(t *testing.T, state string, mode os.FileMode) {
	t.Helper()
	for _, dir := range []string{state, filepath.Join(state, "unresolved"), filepath.Join(state, "owners")} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// I7: no record, no send; and when the disk is back, so is the server.
func TestDiskFailsBeforeTheCreate(t *testing.T) {
	t.Parallel()
	for name, disk := range badDisks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			state := private(t)
			p := startAs(t, modern, processEnv(url, state), agrees, unprivileged)
			proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			disk.hit(t, p, state)
			got := p.wait(p.confirm(proposed))
			if got.at("error.code") != "audit_unavailable" || got["outcome"] == "created" || got["executed"] != false {
				t.Errorf("the confirm came to %v", got)
			}
			wantMade(t, sim, 0)
			disk.heal(t, p, state)
			if left := unresolved(t, state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
			got = p.wait(p.confirm(p.propose("connection_create", connectionSpec("dc-aws-01", 1017))))
			if got["outcome"] != "created" {
				t.Errorf("with the disk back the confirm came to %v", got)
			}
			wantMade(t, sim, 1)
		})
	}
}

// A disk that fails while the create is under way takes nothing from its answer,
// and the record is made when the disk is back.
func TestDiskFailsAfterTheCreate(t *testing.T) {
	t.Parallel()
	for name, disk := range badDisks {
		for _, heals := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/heals %v", name, heals), func(t *testing.T) {
				t.Parallel()
				sim, url := simulator(t)
				state := private(t)
				env := processEnv(url, state, "EQUINIX_MCP_CONFIRM_SECRET="+strings.Repeat("5a", 32))
				p := startAs(t, modern, env, agrees, unprivileged)
				proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
				onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 500})
				done := p.confirm(proposed)
				eventually(t, "the create arrives", func() bool { creates, _ := seen(sim); return creates == 1 })
				disk.hit(t, p, state)
				got := p.wait(done)
				uuid := createdUUID(t, sim)
				if got["outcome"] != "created" || got.at("result.uuid") != uuid {
					t.Errorf("the confirm came to %v", got)
				}
				recorded := heals || disk.writes
				if heals {
					disk.heal(t, p, state)
					eventually(t, "the intent is settled", func() bool { return len(unresolved(t, state)) == 0 })
				}
				_ = p.stdin.Close()
				if code := p.ended(); recorded != (code == 0) {
					t.Errorf("exit code %d", code)
				}
				if !recorded && !strings.Contains(p.log.String(), uuid) {
					t.Error("stderr does not have the uuid")
				}
				if !heals && name != "full" { // that limit ended with its process
					disk.heal(t, p, state)
				}
				want := "unknown" // the intent holds the request till somebody looks
				if recorded {
					want = "created"
				}
				next := startAs(t, modern, env, agrees, unprivileged)
				status := next.call("fabric_change_status", object{"proposal_id": proposed["proposal_id"]})
				ps, _ := status["proposals"].([]any)
				if len(ps) != 1 || object(ps[0].(map[string]any)).at("state") != want {
					t.Errorf("the next process tells %v", status)
				}
				again := next.propose("connection_create", connectionSpec("dc-aws-01", 1017))
				if !heals && again.at("error.code") != "same_request_unresolved" {
					t.Errorf("the same request again: %v", again)
				}
				wantMade(t, sim, 1)
			})
		}
	}
}

// The directory is deleted for good: nothing is left but the answer and stderr,
// and the process ends soon all the same.
func TestDirectoryIsDeletedAfterTheCreate(t *testing.T) {
	t.Parallel()
	sim, url := simulator(t)
	state := t.TempDir() + "/state"
	p := start(t, modern, processEnv(url, state), agrees)
	proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
	onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 500})
	done := p.confirm(proposed)
	eventually(t, "the create arrives", func() bool { creates, _ := seen(sim); return creates == 1 })
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	got := p.wait(done)
	uuid := createdUUID(t, sim)
	if got["outcome"] != "created" || got.at("result.uuid") != uuid {
		t.Errorf("the confirm came to %v", got)
	}
	if next := p.propose("connection_create", connectionSpec("dc-aws-02", 1018)); next.at("error.code") != "audit_unavailable" {
		t.Errorf("without a record the next propose came to %v", next)
	}
	_ = p.stdin.Close()
	if code := p.ended(); code != 1 || !strings.Contains(p.log.String(), uuid) {
		t.Errorf("exit code %d, and the uuid on stderr: %v", code, strings.Contains(p.log.String(), uuid))
	}
	wantMade(t, sim, 1)
}
