package audit

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fabricbroker/broker"
)

func TestHalt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	h, other := open(t, dir).Halt(), open(t, dir).Halt()
	is := func(want string) {
		t.Helper()
		for _, h := range []*Halt{h, other} {
			got, err := h.Halted(t.Context())
			if err != nil || got != want {
				t.Errorf("halted %q, %v, want %q", got, err, want)
			}
		}
	}
	is("")
	do(t, h.Clear(t.Context()))
	do(t, h.Set(t.Context(), "a dry run\n created  x"))
	is("a dry run created x")
	do(t, other.Set(t.Context(), ""))
	is(noReason)
	do(t, other.Clear(t.Context()))
	is("")
	do(t, h.Set(t.Context(), strings.Repeat("é", maxReason)))
	if got, err := other.Halted(t.Context()); err != nil || len(got) > maxReason || len(got) < maxReason-2 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestHaltByHand(t *testing.T) {
	for content, want := range map[string]string{"": noReason, " \n": noReason, "stop\n": "stop"} {
		dir := filepath.Join(t.TempDir(), "state")
		h := open(t, dir).Halt()
		do(t, os.WriteFile(filepath.Join(dir, "halt"), []byte(content), 0o644))
		if got, err := h.Halted(t.Context()); err != nil || got != want {
			t.Errorf("%q: halted %q, %v, want %q", content, got, err, want)
		}
	}
}

func TestHaltThatCannotBeReadIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a directory":     func(t *testing.T, dir string) { do(t, os.Mkdir(filepath.Join(dir, "halt"), 0o700)) },
		"a symbolic link": func(t *testing.T, dir string) { do(t, os.Symlink("nothing", filepath.Join(dir, "halt"))) },
		"much too long": func(t *testing.T, dir string) {
			do(t, os.WriteFile(filepath.Join(dir, "halt"), make([]byte, 1<<20), 0o600))
		},
		"the directory is gone": func(t *testing.T, dir string) { do(t, os.RemoveAll(dir)) },
		"the directory was made anew": func(t *testing.T, dir string) {
			do(t, os.Rename(dir, dir+"2"))
			do(t, os.Mkdir(dir, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			h := open(t, dir).Halt()
			spoil(t, dir)
			_, err := h.Halted(t.Context())
			refused(t, err, broker.ErrAuditUnavailable)
		})
	}
}

func TestHaltIsSetWhereAReasonCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	h := open(t, dir).Halt()
	do(t, os.RemoveAll(filepath.Join(dir, "owners")))
	do(t, h.Set(t.Context(), "why"))
	if got, err := h.Halted(t.Context()); err != nil || got != noReason {
		t.Errorf("halted %q, %v", got, err)
	}
	do(t, os.RemoveAll(dir))
	refused(t, h.Set(t.Context(), "why"), broker.ErrAuditUnavailable)
}

func TestHaltSetByManyAtOnceIsAlwaysWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a, b := open(t, dir).Halt(), open(t, dir).Halt()
	do(t, a.Set(t.Context(), "the reason"))
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			if err := []*Halt{a, b}[n%2].Set(t.Context(), "the reason"); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if got, err := a.Halted(t.Context()); err != nil || got != "the reason" {
				t.Errorf("halted %q, %v", got, err)
			}
		})
	}
	wg.Wait()
}
