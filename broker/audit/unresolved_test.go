package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

// A test binary that is started with these in its environment is another
// process: it claims, says how it went, and dies without a word.
const (
	envDir  = "AUDIT_TEST_CLAIM_IN"
	envID   = "AUDIT_TEST_CLAIM_AS"
	envHold = "AUDIT_TEST_HOLD"
	envLog  = "AUDIT_TEST_LOG"
)

func TestMain(m *testing.M) {
	path := os.Getenv(envDir)
	if path == "" {
		os.Exit(m.Run())
	}
	d, err := OpenDir(path)
	if err == nil && os.Getenv(envLog) != "" {
		err = tellStory(d)
	} else if err == nil {
		i := intent()
		i.ProposalID = broker.ID(os.Getenv(envID))
		err = d.Intents().Claim(context.Background(), i)
	}
	switch {
	case err == nil:
		os.Stdout.WriteString("claimed\n")
	case errors.Is(err, broker.ErrSameRequestUnresolved):
		os.Stdout.WriteString("taken\n")
	default:
		os.Stdout.WriteString(err.Error() + "\n")
	}
	if os.Getenv(envHold) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent lets go
	}
	os.Exit(3)
}

// tellStory records the story and leaves the log open.
func tellStory(d *Dir) error {
	l, err := d.Log(LogOptions{})
	for _, e := range story() {
		if err == nil {
			err = l.Record(context.Background(), e)
		}
	}
	return err
}

// process starts another process that claims.
func process(t *testing.T, dir, id string, hold bool) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	do(t, err)
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), envDir+"="+dir, envID+"="+id)
	if hold {
		c.Env = append(c.Env, envHold+"=1")
	}
	return c
}

func intent() broker.Intent {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return broker.Intent{
		Account: "account-1", ProposalID: "p-1", ChangeType: broker.ConnectionCreate, Name: "a",
		Hash:      broker.HashRequest(broker.ConnectionCreate, []byte(`{"name":"a"}`)),
		Principal: broker.Principal{Kind: "jwt", Issuer: "i", Tenant: "t", Subject: "s"},
		MintedAt:  at, ClaimedAt: at.Add(time.Minute), SendBy: at.Add(2 * time.Minute),
		Path: "/fabric/v4/connections", Request: []byte(`{"name":"a"}`),
		Since: at, Before: []string{"u-1"},
	}
}

func refused(t *testing.T, err error, want broker.Code) *broker.Refusal {
	t.Helper()
	r, ok := errors.AsType[*broker.Refusal](err)
	if !ok || r.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if r.Message == "" || r.NextStep == "" {
		t.Errorf("%s without a message or a next step", r.Code)
	}
	return r
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "unresolved"))
	do(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestClaimListSettle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d, other := open(t, dir), open(t, dir)
	want := intent()
	do(t, d.Intents().Claim(t.Context(), want))
	for _, in := range []*Dir{d, other} {
		got, err := in.Intents().List(t.Context())
		do(t, err)
		if diff := cmp.Diff([]broker.Intent{want}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	names := files(t, dir)
	if len(names) != 1 || len(names[0]) != 64 {
		t.Fatalf("files %v", names)
	}
	info, err := os.Stat(filepath.Join(dir, "unresolved", names[0]))
	do(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}

	do(t, other.Intents().Settle(t.Context(), want.Account, want.Hash, "p-2")) // not its own
	if len(files(t, dir)) != 1 {
		t.Fatal("settled by another proposal")
	}
	for range 2 {
		do(t, other.Intents().Settle(t.Context(), want.Account, want.Hash, want.ProposalID))
		if n := len(files(t, dir)); n != 0 {
			t.Fatalf("%d files", n)
		}
	}
	do(t, d.Intents().Claim(t.Context(), want))
}

func TestI12ATakenNameIsRefused(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "state"))
	i := intent()
	do(t, d.Intents().Claim(t.Context(), i))
	i.ProposalID = "p-2"
	i.Principal = broker.Local
	r := refused(t, d.Intents().Claim(t.Context(), i), broker.ErrSameRequestUnresolved)
	if !strings.Contains(r.Message, `"p-1"`) {
		t.Errorf("%q does not name the proposal that holds it", r.Message)
	}
	// Other requests and other accounts have other names, also where the two
	// written in a row would be the same text.
	j := i
	j.Account = "account-2"
	do(t, d.Intents().Claim(t.Context(), j))
	j.Hash, j.Account = i.Hash+"a", "ccount-1"
	do(t, d.Intents().Claim(t.Context(), j))
}

func TestI12OfManyClaimsOneWins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	dirs := []*Dir{open(t, dir), open(t, dir)}
	start, errs := make(chan struct{}), make([]error, 100)
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() {
			<-start
			i := intent()
			i.ProposalID = broker.ID(fmt.Sprint("p-", n))
			errs[n] = dirs[n%2].Intents().Claim(t.Context(), i)
		})
	}
	var out [3][]byte
	for n := range out {
		c := process(t, dir, fmt.Sprint("process-", n), false)
		wg.Go(func() {
			<-start
			out[n], _ = c.Output() // it always exits with 3
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			refused(t, err, broker.ErrSameRequestUnresolved)
		}
	}
	for _, o := range out {
		switch string(o) {
		case "claimed\n":
			won++
		case "taken\n":
		default:
			t.Errorf("a process said %q", o)
		}
	}
	if won != 1 || len(files(t, dir)) != 1 {
		t.Errorf("%d won, %d files", won, len(files(t, dir)))
	}
}

// Settling twice at once must not remove what was claimed in between.
func TestI12SettleRemovesNoLaterClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a, b := open(t, dir), open(t, dir)
	for n := range 50 {
		i := intent()
		i.ProposalID = broker.ID(fmt.Sprint("p-", n))
		do(t, a.Intents().Claim(t.Context(), i))
		next := i
		next.ProposalID += "-next"
		var wg sync.WaitGroup
		for _, d := range []*Dir{a, b} {
			wg.Go(func() {
				if err := d.Intents().Settle(t.Context(), i.Account, i.Hash, i.ProposalID); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			for b.Intents().Claim(t.Context(), next) != nil { //nolint:revive // until the name is free
			}
		})
		wg.Wait()
		got, err := a.Intents().List(t.Context())
		do(t, err)
		if len(got) != 1 || got[0].ProposalID != next.ProposalID {
			t.Fatalf("the later claim is gone: %v", got)
		}
		do(t, a.Intents().Settle(t.Context(), next.Account, next.Hash, next.ProposalID))
	}
}

func TestI8WhatACrashLeftStillHoldsItsRequest(t *testing.T) {
	i := intent()
	whole, err := json.Marshal(record{1, i, ownerInfo{1, "token"}})
	do(t, err)
	other := i
	other.Account = "account-2"
	foreign, err := json.Marshal(record{1, other, ownerInfo{1, "token"}})
	do(t, err)
	for name, content := range map[string][]byte{
		"an empty file": {}, "half a file": whole[:len(whole)/2], "zeros": make([]byte, 300),
		"other JSON": []byte("{}"), "null": []byte("null"), "another request's": foreign,
		"a later version": []byte(strings.Replace(string(whole), `"v":1`, `"v":2`, 1)),
		"too much":        append(whole, make([]byte, maxIntent)...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			d := open(t, dir)
			file := filepath.Join(dir, fileName(i.Account, i.Hash))
			do(t, os.WriteFile(file, content, 0o600))
			if r := refused(t, d.Intents().Claim(t.Context(), i), broker.ErrSameRequestUnresolved); strings.Contains(r.Message, "p-1") && name != "half a file" {
				t.Errorf("%q", r.Message)
			}
			got, err := d.Intents().List(t.Context())
			do(t, err)
			if len(got) != 1 || got[0].ProposalID != "" || got[0].Hash != "" || !strings.Contains(got[0].Name, filepath.Base(file)) {
				t.Errorf("listed %+v", got)
			}
			refused(t, d.Intents().Settle(t.Context(), i.Account, i.Hash, i.ProposalID), broker.ErrAuditUnavailable)
			if len(files(t, dir)) != 1 {
				t.Error("removed by somebody who could not read it")
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		d := open(t, dir)
		do(t, os.Mkdir(filepath.Join(dir, fileName(i.Account, i.Hash)), 0o700))
		refused(t, d.Intents().Claim(t.Context(), i), broker.ErrSameRequestUnresolved)
	})
}

func TestI7ClaimFailsWithoutAFile(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"the directory is gone":  func(t *testing.T, dir string) { do(t, os.RemoveAll(dir)) },
		"the directory is moved": func(t *testing.T, dir string) { do(t, os.Rename(dir, dir+"2")) },
		"the directory was made anew": func(t *testing.T, dir string) {
			do(t, os.Rename(dir, dir+"2"))
			do(t, os.MkdirAll(filepath.Join(dir, "unresolved"), 0o700))
		},
		"unresolved is gone": func(t *testing.T, dir string) { do(t, os.Remove(filepath.Join(dir, "unresolved"))) },
		"unresolved is a file": func(t *testing.T, dir string) {
			do(t, os.Remove(filepath.Join(dir, "unresolved")))
			do(t, os.WriteFile(filepath.Join(dir, "unresolved"), nil, 0o600))
		},
		"unresolved cannot be written": func(t *testing.T, dir string) {
			if os.Geteuid() == 0 {
				t.Skip("root writes everywhere")
			}
			do(t, os.Chmod(filepath.Join(dir, "unresolved"), 0o500))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			d := open(t, dir)
			spoil(t, dir)
			err := d.Intents().Claim(t.Context(), intent())
			r := refused(t, err, broker.ErrAuditUnavailable)
			if strings.Contains(r.Message+r.NextStep, dir) {
				t.Errorf("a path in %q", r.Message)
			}
			if name != "unresolved cannot be written" {
				_, err := d.Intents().List(t.Context())
				refused(t, err, broker.ErrAuditUnavailable)
			}
		})
	}
}

func TestI7ACreateThatFailsLeavesNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d := open(t, dir)
	if err := d.create("no such directory", "unresolved/x", []byte("x")); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if n := files(t, dir); len(n) != 0 {
		t.Errorf("left %v", n)
	}
}

func TestI7ClaimFailsWhileAnotherHoldsTheLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d, other := open(t, dir), open(t, dir)
	do(t, other.exclusive(t.Context(), func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		refused(t, d.Intents().Claim(ctx, intent()), broker.ErrAuditUnavailable)
		return nil
	}))
	do(t, d.Intents().Claim(t.Context(), intent()))
}

func TestListGivesTheOldestClaimFirst(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "state"))
	for _, n := range []int{3, 1, 2} {
		i := intent()
		i.Account = fmt.Sprint(n)
		i.ClaimedAt = i.ClaimedAt.Add(time.Duration(n) * time.Second)
		do(t, d.Intents().Claim(t.Context(), i))
	}
	got, err := d.Intents().List(t.Context())
	do(t, err)
	if len(got) != 3 || got[0].Account != "1" || got[1].Account != "2" || got[2].Account != "3" {
		t.Errorf("%v", got)
	}
}

func TestAdopt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a, b := open(t, dir), open(t, dir)
	i := intent()
	i.ProposalID = "theirs"
	late := i.SendBy.Add(adoptAfter)
	adopts := func(rule string, d *Dir, at time.Time, i broker.Intent, want bool) {
		t.Helper()
		d.now = func() time.Time { return at }
		got, err := d.Intents().Adopt(t.Context(), i)
		if err != nil || got != want {
			t.Errorf("%s: adopted %t, %v", rule, got, err)
		}
	}
	adopts("nothing is there", a, late.Add(time.Hour), i, false)

	c := process(t, dir, "theirs", true)
	in, err := c.StdinPipe()
	do(t, err)
	out, err := c.StdoutPipe()
	do(t, err)
	do(t, c.Start())
	said := make([]byte, len("claimed\n"))
	if _, err := out.Read(said); err != nil || string(said) != "claimed\n" {
		t.Fatalf("%q, %v", said, err)
	}
	adopts("the owner runs", a, late.Add(time.Hour), i, false)
	open(t, dir) // clears away what the dead left
	adopts("the owner runs, and another process has started", a, late.Add(time.Hour), i, false)
	do(t, in.Close())
	_ = c.Wait() // it always exits with 3

	other := i
	other.ProposalID = "another"
	adopts("the create may be under way", a, late, i, false)
	adopts("it is another proposal's", a, late.Add(time.Hour), other, false)
	adopts("the owner is gone and the time is past", a, late.Add(time.Nanosecond), i, true)
	adopts("it is this process's own", a, late.Add(time.Hour), i, false)
	adopts("another process was faster", b, late.Add(time.Hour), i, false)
	do(t, a.Close())
	open(t, dir)
	adopts("that process is gone too", b, late.Add(time.Hour), i, true)

	got, err := b.Intents().List(t.Context())
	do(t, err)
	if diff := cmp.Diff([]broker.Intent{i}, got); diff != "" {
		t.Errorf("adopting changed it (-want +got)\n%s", diff)
	}
	refused(t, b.Intents().Claim(t.Context(), i), broker.ErrSameRequestUnresolved)
	do(t, b.Intents().Settle(t.Context(), i.Account, i.Hash, i.ProposalID))
}

func TestI8ADamagedIntentIsNotAdopted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d, i := open(t, dir), intent()
	do(t, os.WriteFile(filepath.Join(dir, fileName(i.Account, i.Hash)), []byte("{"), 0o600))
	got, err := d.Intents().Adopt(t.Context(), i)
	if refused(t, err, broker.ErrAuditUnavailable); got {
		t.Error("adopted")
	}
}

func TestJudge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	holder, person := open(t, dir), open(t, dir)
	want := intent()
	do(t, holder.Intents().Claim(t.Context(), want))
	broken := filepath.Join(dir, "unresolved", strings.Repeat("0", 64))
	do(t, os.WriteFile(broken, nil, 0o600)) // another's trouble

	v := broker.Verdict{UUID: "u-2", Reason: "seen in the portal", At: want.SendBy}
	for _, want.Verdict = range []*broker.Verdict{{Reason: "not there", At: want.SendBy}, &v} {
		do(t, person.Intents().Judge(t.Context(), want.ProposalID, *want.Verdict))
		got, err := holder.Intents().List(t.Context())
		do(t, err)
		if diff := cmp.Diff(want, got[1]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	refused(t, person.Intents().Judge(t.Context(), "p-2", v), broker.ErrProposalUnknown)
	refused(t, person.Intents().Judge(t.Context(), "", v), broker.ErrProposalUnknown)
	do(t, holder.Intents().Settle(t.Context(), want.Account, want.Hash, want.ProposalID))
	refused(t, person.Intents().Judge(t.Context(), want.ProposalID, v), broker.ErrProposalUnknown)
}

func TestOwnersLeaveNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for range 3 {
		d, err := OpenDir(dir)
		do(t, err)
		do(t, d.Close())
	}
	do(t, os.WriteFile(filepath.Join(dir, "owners", "dead.lock"), nil, 0o600))
	do(t, os.WriteFile(filepath.Join(dir, "owners", "dead.halt"), nil, 0o600))
	open(t, dir)
	entries, err := os.ReadDir(filepath.Join(dir, "owners"))
	do(t, err)
	if len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
