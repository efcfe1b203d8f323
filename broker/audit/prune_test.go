package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// end is when the story's last event was.
var end = start.Add(time.Duration(len(story())-1) * time.Second)

func pruned(t testing.TB, dir string, age time.Duration, now time.Time) Pruned {
	t.Helper()
	p, err := Prune(dir, age, now)
	do(t, err)
	return p
}

func TestPruneRemovesWholeOldFiles(t *testing.T) {
	dir, names := sample(t, LogOptions{})
	size := int64(len(content(t, dir, names[0])))
	if p := pruned(t, dir, time.Hour, end.Add(time.Hour)); len(p.Removed) != 0 {
		t.Errorf("too young: %s", p)
	}
	p := pruned(t, dir, time.Hour, end.Add(time.Hour+time.Nanosecond))
	if !slices.Equal(p.Removed, names) || p.Bytes != size || len(logs(t, dir)) != 0 {
		t.Errorf("%s", p)
	}
	r := verified(t, dir)
	if !r.OK() || len(r.Files) != 0 || !strings.Contains(r.String(), "1 earlier file pruned") {
		t.Errorf("%s", r)
	}
	if p := pruned(t, dir, 0, end.Add(24*time.Hour)); len(p.Removed) != 0 {
		t.Errorf("again: %s", p)
	}
}

func TestWhatGoesOnFromAPrunedFileVerifies(t *testing.T) {
	for _, head := range []bool{true, false} {
		dir, names := rotated(t)
		first := verified(t, filepath.Join(dir, names[0])).Files[0]
		if !head { // it was lost: prune notes the file all the same
			do(t, os.Remove(filepath.Join(dir, headFile)))
		}
		p := pruned(t, dir, 0, first.Last.Add(time.Nanosecond))
		if !slices.Equal(p.Removed, names[:1]) {
			t.Fatalf("%s", p)
		}
		if r := verified(t, dir); !r.OK() || len(r.Files) != len(names)-1 {
			t.Errorf("%s", r)
		}
		// Its end is known although it is gone.
		spoil(t, filepath.Join(dir, names[1]), lines(t, dir, names[1])[1:])
		if r := verified(t, dir); r.OK() {
			t.Errorf("%s", r)
		}
	}
}

func TestPruneKeepsWhatIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	write(t, l, story()...)
	if p := pruned(t, dir, 0, end.Add(24*time.Hour)); len(p.Removed) != 0 {
		t.Errorf("%s", p)
	}
	write(t, l, proposed(1))
	do(t, l.Close())
	if r := verified(t, dir); !r.OK() || r.Files[0].Lines != len(story())+1 {
		t.Errorf("%s", r)
	}
}

func TestPruneKeepsEvidence(t *testing.T) {
	dir, names := sample(t, LogOptions{})
	path := filepath.Join(dir, names[0])
	all := lines(t, dir, names[0])
	spoil(t, path, slices.Delete(slices.Clone(all), 3, 4))
	p := pruned(t, dir, 0, end.Add(24*time.Hour))
	if len(p.Removed) != 0 || !slices.Equal(p.Kept, names) || !strings.Contains(p.String(), "does not verify") {
		t.Errorf("%s", p)
	}
	// A broken last line is none.
	spoil(t, path, append(all, `{"v":1`))
	if p := pruned(t, dir, 0, end.Add(24*time.Hour)); !slices.Equal(p.Removed, names) {
		t.Errorf("%s", p)
	}
}

func TestPruneRefuses(t *testing.T) {
	dir, _ := sample(t, LogOptions{})
	if _, err := Prune(dir, -time.Second, end); err == nil {
		t.Error("a negative age")
	}
	if _, err := Prune(filepath.Join(dir, "nothing"), 0, end); err == nil {
		t.Error("no directory")
	}
	do(t, os.Chmod(dir, 0o755))
	if _, err := Prune(dir, 0, end); err == nil {
		t.Error("a directory that others may read")
	}
}

// Real processes: one that died without a word, one that lives.
func TestADirectoryOfSeveralProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	run := func(hold bool) func() {
		t.Helper()
		c := process(t, dir, "", hold)
		c.Env = append(c.Env, envLog+"=1")
		in, err := c.StdinPipe()
		do(t, err)
		out, err := c.StdoutPipe()
		do(t, err)
		do(t, c.Start())
		said := make([]byte, len("claimed\n"))
		if _, err := out.Read(said); err != nil || string(said) != "claimed\n" {
			t.Fatalf("%q, %v", said, err)
		}
		return func() {
			do(t, in.Close())
			_ = c.Wait() // it always exits with 3
		}
	}
	run(false)()
	leave := run(true)
	l := logIn(t, dir, LogOptions{})
	write(t, l, story()...)
	r := verified(t, dir)
	if !r.OK() || len(r.Files) != 3 || len(r.Notes) != 0 {
		t.Fatalf("%s", r)
	}
	for _, f := range r.Files {
		if f.Lines != len(story()) {
			t.Errorf("%s", r)
		}
	}
	if p := pruned(t, dir, 0, end.Add(24*time.Hour)); len(p.Removed) != 1 {
		t.Errorf("two processes live: %s", p)
	}
	leave()
	if p := pruned(t, dir, 0, end.Add(24*time.Hour)); len(p.Removed) != 1 {
		t.Errorf("one process lives: %s", p)
	}
	write(t, l, proposed(1))
	if r := verified(t, dir); !r.OK() || len(r.Files) != 1 {
		t.Errorf("%s", r)
	}
}

func TestAReportNamesWhatItMeans(t *testing.T) {
	dir, names := rotated(t)
	spoil(t, filepath.Join(dir, names[1]), slices.Delete(lines(t, dir, names[1]), 2, 3))
	spoil(t, filepath.Join(dir, "audit-\x1b[2J.jsonl"), nil)
	s := verified(t, dir).String()
	if !strings.Contains(s, names[1]+": BROKEN, line 3: removed") || !strings.Contains(s, names[0]+": unbroken") || strings.Contains(s, "\x1b") {
		t.Errorf("%q", s)
	}
}
