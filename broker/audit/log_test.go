package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// disk is a file that fails when the test wants it to.
type disk struct {
	*os.File

	room     int // bytes that still fit; negative is no end
	sync     error
	truncate error
}

func (d *disk) Write(b []byte) (int, error) {
	if d.room < 0 || len(b) <= d.room {
		return d.File.Write(b)
	}
	n, err := d.File.Write(b[:d.room])
	return n, errors.Join(err, io.ErrShortWrite)
}

func (d *disk) Sync() error {
	if d.sync != nil {
		return d.sync
	}
	return d.File.Sync()
}

func (d *disk) Truncate(n int64) error {
	if d.truncate != nil {
		return d.truncate
	}
	return d.File.Truncate(n)
}

func TestAFileIsMadeWithTheFirstEvent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	if n := logs(t, dir); len(n) != 0 {
		t.Errorf("files %v", n)
	}
	write(t, l, proposed(1))
	if n := logs(t, dir); len(n) != 1 {
		t.Errorf("files %v", n)
	}
	do(t, l.Close())
	do(t, l.Close())
	refused(t, l.Record(t.Context(), proposed(2)), broker.ErrAuditUnavailable)
}

func TestI7AShortWriteIsTakenBack(t *testing.T) {
	for _, room := range []int{0, 1, 300, 600} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprint(room, " bytes, first ", first), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "state")
				l := logIn(t, dir, LogOptions{})
				full := &disk{room: -1}
				l.wrap = func(f *os.File) file { full.File = f; return full }
				events := story()
				if !first {
					write(t, l, events[:3]...)
				}
				full.room = min(room, 300) // shorter than any line
				refused(t, l.Record(t.Context(), events[3]), broker.ErrAuditUnavailable)
				if first && len(logs(t, dir)) != 0 {
					t.Error("an empty file is left")
				}
				l.wrap = func(f *os.File) file { return f }
				write(t, l, events[3:]...)
				do(t, l.Close())
				r := verified(t, dir)
				if !r.OK() {
					t.Errorf("%s", r)
				}
				for _, f := range r.Files {
					if f.Torn != 0 {
						t.Errorf("%s", r)
					}
				}
				if want := map[bool]int{true: 1, false: 2}[first]; len(r.Files) != want {
					t.Errorf("%d files, want %d", len(r.Files), want)
				}
			})
		}
	}
}

func TestAShortWriteThatCannotBeTakenBackIsABrokenLastLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	full := &disk{room: -1, truncate: errors.New("no")}
	l.wrap = func(f *os.File) file { full.File = f; return full }
	write(t, l, story()[:3]...)
	full.room = 20
	refused(t, l.Record(t.Context(), story()[3]), broker.ErrAuditUnavailable)
	l.wrap = func(f *os.File) file { return f }
	write(t, l, story()[3:]...)
	do(t, l.Close())
	if r := verified(t, dir); !r.OK() || len(r.Files) != 2 || r.Files[0].Torn != 4 {
		t.Errorf("%s", r)
	}
}

func TestI7AnEventThatCannotBeSyncedIsRefused(t *testing.T) {
	for _, e := range story() {
		dir := filepath.Join(t.TempDir(), "state")
		l := logIn(t, dir, LogOptions{})
		broken := &disk{room: -1, sync: errors.New("input/output error")}
		l.wrap = func(f *os.File) file { broken.File = f; return broken }
		err := l.Record(t.Context(), e)
		if !durable(e.Kind) {
			do(t, err)
			continue
		}
		r := refused(t, err, broker.ErrAuditUnavailable)
		if strings.Contains(r.Message+r.NextStep, dir) {
			t.Errorf("a path in %q", r.Message)
		}
		if n := logs(t, dir); len(n) != 0 {
			t.Errorf("%s: files %v", e.Kind, n)
		}
	}
}

func TestI7WhatComesBeforeMoneyIsSynced(t *testing.T) {
	for kind, want := range map[broker.EventKind]bool{
		broker.EventAnswered: true, broker.EventSending: true, broker.EventCreated: true, broker.EventRejected: true,
		broker.EventUnknown: true, broker.EventNotSent: true, broker.EventResolved: true, broker.EventHalted: true,
		broker.EventProposed: false, broker.EventRefused: false, broker.EventAsked: false, broker.EventWithdrawn: false,
	} {
		if durable(kind) != want {
			t.Errorf("%s is synced: %t", kind, !want)
		}
	}
}

func TestI11ADirectoryThatIsGoneRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"gone":  func(t *testing.T, dir string) { do(t, os.RemoveAll(dir)) },
		"moved": func(t *testing.T, dir string) { do(t, os.Rename(dir, dir+"2")) },
		"made anew": func(t *testing.T, dir string) {
			do(t, os.Rename(dir, dir+"2"))
			do(t, os.Mkdir(dir, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			l := logIn(t, dir, LogOptions{})
			write(t, l, proposed(1))
			spoil(t, dir)
			refused(t, l.Record(t.Context(), proposed(2)), broker.ErrAuditUnavailable)
		})
	}
}

func TestAFileThatWasRemovedIsNotWrittenOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	write(t, l, story()[:4]...)
	do(t, os.Remove(filepath.Join(dir, logs(t, dir)[0])))
	do(t, os.Remove(filepath.Join(dir, headFile)))
	write(t, l, story()[4:]...)
	do(t, l.Close())
	r := verified(t, dir)
	if len(r.Files) != 1 || r.Files[0].Lines != len(story())-4 || r.OK() || r.Files[0].Bad.Kind != Removed {
		t.Errorf("%s", r)
	}
}

func TestOnAFullDiskProposalsAreRefusedFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{MinFree: 1000})
	room := int64(999)
	l.free = func(path string) (int64, bool, error) {
		if path != dir {
			t.Errorf("looked at %q", path)
		}
		return room, true, nil
	}
	for _, e := range story() {
		if err := l.Record(t.Context(), e); e.Kind == broker.EventProposed {
			refused(t, err, broker.ErrAuditUnavailable)
		} else {
			do(t, err)
		}
	}
	room = 1000
	write(t, l, proposed(1))
	l.free = func(string) (int64, bool, error) { return 0, false, errors.New("no") }
	refused(t, l.Record(t.Context(), proposed(2)), broker.ErrAuditUnavailable)
}

func TestFreeSpaceIsThatOfTheDisk(t *testing.T) {
	free, known, err := freeSpace(t.TempDir())
	if err != nil || known && free <= 0 {
		t.Errorf("%d, %v", free, err)
	}
	l := logIn(t, filepath.Join(t.TempDir(), "state"), LogOptions{MinFree: 1 << 62})
	if known {
		refused(t, l.Record(t.Context(), proposed(1)), broker.ErrAuditUnavailable)
	}
}

// counted returns how many refusals the log tells of, and in how many lines.
func counted(t testing.TB, dir string) (count, singles, sums int) {
	t.Helper()
	for _, name := range logs(t, dir) {
		for _, raw := range lines(t, dir, name) {
			l, err := parse([]byte(strings.TrimSuffix(raw, "\n")))
			do(t, err)
			switch {
			case l.Event != broker.EventRefused:
			case l.Count == 0:
				count, singles = count+1, singles+1
			default:
				count, sums = count+l.Count, sums+1
				n := 0
				for _, c := range l.Codes {
					n += c
				}
				if n != l.Count {
					t.Errorf("%s", raw)
				}
			}
		}
	}
	return count, singles, sums
}

func expectCounts(t testing.TB, dir string, count, singles, sums int) {
	t.Helper()
	if c, s, m := counted(t, dir); c != count || s != singles || m != sums {
		t.Errorf("%d refusals in %d lines and %d sums; want %d in %d and %d", c, s, m, count, singles, sums)
	}
}

func TestRefusalsBeyond60AMinuteShareALine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	now := start
	l := logIn(t, dir, LogOptions{Now: func() time.Time { return now }})
	bob := ada
	bob.Principal.Subject = "bob"
	for n := range 500 {
		write(t, l, refusal(n, ada, []broker.Code{broker.ErrTokenForged, broker.ErrTokenReplayed}[n%2]))
	}
	write(t, l, refusal(0, bob, broker.ErrTokenForged))
	expectCounts(t, dir, 61, 61, 0)
	now = now.Add(59 * time.Second)
	write(t, l, refusal(0, ada, broker.ErrTokenForged))
	now = now.Add(time.Second)
	write(t, l, proposed(1)) // any event after the minute
	expectCounts(t, dir, 502, 61, 1)
	for n := range 61 {
		write(t, l, refusal(n, ada, broker.ErrTokenForged)) // a new minute
	}
	expectCounts(t, dir, 562, 121, 1)
	do(t, l.Close())
	expectCounts(t, dir, 563, 121, 2)
	if r := verified(t, dir); !r.OK() {
		t.Errorf("%s", r)
	}
}

// What changed its proposal is never summed up: the log must replay.
func TestI5TheRefusalThatSpendsHasItsOwnLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{Now: func() time.Time { return start }})
	for n := range 100 {
		e := refusal(n, ada, broker.ErrTokenExpired)
		e.Proposal = pending(broker.ID(fmt.Sprint("p-", n)), broker.ConnectionCreate)
		write(t, l, e)
	}
	expectCounts(t, dir, 100, 100, 0)
}

func TestManyPrincipalsAreCountedInBoundedMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	now := start
	l := logIn(t, dir, LogOptions{Now: func() time.Time { return now }, NoSync: true})
	const many = maxWindows + 500
	for n := range many {
		c := ada
		c.Principal.Subject = fmt.Sprint(n)
		write(t, l, refusal(n, c, broker.ErrTokenForged))
	}
	if n := len(l.quota.windows); n > maxWindows+1 {
		t.Errorf("%d windows", n)
	}
	now = now.Add(time.Minute)
	c := ada
	c.Principal.Subject = "late"
	write(t, l, refusal(0, c, broker.ErrTokenForged))
	if n := len(l.quota.windows); n > maxWindows+1 {
		t.Errorf("%d windows", n)
	}
	do(t, l.Close())
	expectCounts(t, dir, many+1, maxWindows+maxSingle+1, 1)
}

func TestSumsAndSyncsComeByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		l := logIn(t, dir, LogOptions{Now: time.Now})
		for n := range 70 {
			write(t, l, refusal(n, ada, broker.ErrTokenForged))
		}
		if r := verified(t, dir); r.Files[0].Beyond != 60 {
			t.Errorf("%s", r)
		}
		time.Sleep(syncLag)
		synctest.Wait()
		if r := verified(t, dir); r.Files[0].Beyond != 0 {
			t.Errorf("%s", r)
		}
		expectCounts(t, dir, 60, 60, 0)
		time.Sleep(time.Minute)
		synctest.Wait()
		expectCounts(t, dir, 70, 60, 1)
		do(t, l.Close())
	})
}

func TestManyRecordAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a, b := logIn(t, dir, LogOptions{Now: time.Now, MaxBytes: 20_000}), logIn(t, dir, LogOptions{Now: time.Now, MaxBytes: 20_000})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for _, e := range story() {
				if err := []*Log{a, b}[n%2].Record(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			if r := verified(t, dir); !r.OK() {
				t.Errorf("while it is written: %s", r)
			}
		})
	}
	wg.Wait()
	do(t, errors.Join(a.Close(), b.Close()))
	r, n := verified(t, dir), 0
	for _, f := range r.Files {
		n += f.Lines
	}
	if !r.OK() || n != 8*len(story()) || len(r.Files) < 4 || len(r.Notes) != 0 {
		t.Errorf("%d lines: %s", n, r)
	}
	// Both logs have the same pid and still have their own files and slots.
	if info, err := os.Stat(filepath.Join(dir, headFile)); err != nil || info.Size() != int64(slotSize*len(r.Files)) {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func BenchmarkRecordAConfirm(b *testing.B) {
	for name, noSync := range map[string]bool{"with sync": false, "without sync": true} {
		b.Run(name, func(b *testing.B) {
			l := logIn(b, filepath.Join(b.TempDir(), "state"), LogOptions{NoSync: noSync, Now: time.Now})
			confirm := story()[2:6] // asked, answered, sending, created
			for b.Loop() {
				write(b, l, confirm...)
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "state")
	l := logIn(b, dir, LogOptions{NoSync: true, Now: time.Now})
	const n = 10_000
	for i := range n {
		write(b, l, proposed(i))
	}
	do(b, l.Close())
	for b.Loop() {
		if r := verified(b, dir); !r.OK() {
			b.Fatal(r)
		}
	}
}
