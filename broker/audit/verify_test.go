package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
)

// spoil writes lines in the place of a file.
func spoil(t testing.TB, path string, lines []string) {
	t.Helper()
	do(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
}

func lines(t testing.TB, dir, name string) []string {
	t.Helper()
	return slices.DeleteFunc(strings.SplitAfter(content(t, dir, name), "\n"), func(s string) bool { return s == "" })
}

// finds checks the first bad line of the only file.
func finds(t testing.TB, rule, path string, line int, kinds ...Kind) {
	t.Helper()
	r := verified(t, path)
	if len(r.Files) != 1 || r.OK() || r.Files[0].Bad.Line != line || !slices.Contains(kinds, r.Files[0].Bad.Kind) {
		t.Errorf("%s: want line %d %v, got\n%s", rule, line, kinds, r)
	}
}

func TestVerifyAnUntouchedLog(t *testing.T) {
	dir, names := sample(t, LogOptions{})
	n := len(story())
	for _, path := range []string{dir, filepath.Join(dir, names[0])} {
		r := verified(t, path)
		if !r.OK() || len(r.Files) != 1 || len(r.Notes)+len(r.Files[0].Notes) != 0 {
			t.Fatal(r)
		}
		if f := r.Files[0]; f.Lines != n || f.Beyond != 0 || f.Torn != 0 || !f.First.Equal(start) || !f.Last.Equal(start.Add(time.Duration(n-1)*time.Second)) {
			t.Errorf("%+v", f)
		}
	}
	for _, s := range []string{"rewrote", "audit.head", "clock", "recorded"} {
		if !strings.Contains(Report{}.Limits(), s) {
			t.Errorf("the limits do not speak of %q", s)
		}
	}
}

func TestEveryChangedByteIsFound(t *testing.T) {
	dir, names := sample(t, LogOptions{NoSync: true})
	name := names[0]
	heads, err := readHeads(filepath.Join(dir, headFile))
	do(t, err)
	whole := []byte(strings.Join(lines(t, dir, name)[:5], ""))
	heads.entries[name] = headOf(t, whole, name)
	c, err := chainOf(bytes.NewReader(whole), name)
	do(t, err)
	if f := (verifier{heads: heads}).file(c); f.Bad != nil || f.Lines != 5 {
		t.Fatalf("%+v", f)
	}
	for i := range whole {
		line := bytes.Count(whole[:i], []byte("\n")) + 1
		for _, flip := range []byte{0x01, 0x20} {
			b := bytes.Clone(whole)
			b[i] ^= flip
			c, err := chainOf(bytes.NewReader(b), name)
			do(t, err)
			if f := (verifier{heads: heads}).file(c); f.Bad == nil || f.Bad.Line != line {
				t.Fatalf("byte %d ^ %x, in line %d: %+v", i, flip, line, f)
			}
			// Without audit.head the last newline is a broken last line.
			if f := (verifier{}).file(c); f.Bad == nil && f.Torn != line || f.Bad != nil && f.Bad.Line != line {
				t.Fatalf("byte %d ^ %x, in line %d, without a head: %+v", i, flip, line, f)
			}
		}
	}
}

// headOf is what audit.head would say of a file.
func headOf(t testing.TB, b []byte, name string) headEntry {
	t.Helper()
	c, err := chainOf(bytes.NewReader(b), name)
	do(t, err)
	last, _ := c.last()
	return headEntry{File: name, First: c.entries[0].seq, Prev: c.entries[0].prev, Seq: last.seq, Hash: last.hash}
}

func TestEveryRemovedDoubledAndSwappedLineIsFound(t *testing.T) {
	for _, head := range []bool{true, false} {
		t.Run(fmt.Sprint("head ", head), func(t *testing.T) {
			dir, names := sample(t, LogOptions{NoSync: true})
			path := filepath.Join(dir, names[0])
			all := lines(t, dir, names[0])
			if !head {
				do(t, os.Remove(filepath.Join(dir, headFile)))
			}
			for i := range all {
				n := i + 1
				switch without := slices.Delete(slices.Clone(all), i, i+1); {
				case i < len(all)-1:
					spoil(t, path, without)
					finds(t, fmt.Sprint("removed ", n), path, n, Removed)
				case head:
					spoil(t, path, without)
					finds(t, "cut the last", path, n, Cut)
				}
				spoil(t, path, slices.Insert(slices.Clone(all), n, all[i]))
				finds(t, fmt.Sprint("doubled ", n), path, n+1, Doubled)
				spoil(t, path, append(slices.Clone(all), all[i]))
				finds(t, fmt.Sprint("doubled at the end ", n), path, len(all)+1, Doubled)
				for j := i + 1; j < min(i+4, len(all)); j++ {
					s := slices.Clone(all)
					s[i], s[j] = s[j], s[i]
					spoil(t, path, s)
					finds(t, fmt.Sprint("swapped ", n, j+1), path, n, Swapped)
				}
				if head {
					spoil(t, path, all[:i])
					finds(t, fmt.Sprint("cut from ", n), path, n, Cut)
					spoil(t, path, append(slices.Clone(all[:i]), all[i][:len(all[i])/2]))
					finds(t, fmt.Sprint("cut within ", n), path, n, Cut)
				}
			}
		})
	}
}

// rehash changes a line and gives it the hash it then has.
func rehash(t testing.TB, s string) string {
	t.Helper()
	l, err := parse([]byte(strings.TrimSuffix(s, "\n")))
	do(t, err)
	l.Name = "forged"
	b, err := l.encode()
	do(t, err)
	return string(b)
}

func TestALineWithANewHashIsFound(t *testing.T) {
	dir, names := sample(t, LogOptions{NoSync: true})
	path := filepath.Join(dir, names[0])
	all := lines(t, dir, names[0])
	for i := range all {
		s := slices.Clone(all)
		s[i] = rehash(t, s[i])
		spoil(t, path, s)
		want := i + 1
		if i == len(all)-2 { // nothing behind the last line tells which of the two it was
			want++
		}
		finds(t, fmt.Sprint("line ", i+1), path, want, Changed)
	}
}

func TestABrokenLastLineIsTolerated(t *testing.T) {
	for _, rest := range []string{"{", `{"v":1,"seq":99`, strings.Repeat("\x00", 4096), strings.Repeat("x", 3*maxLine)} {
		dir, names := sample(t, LogOptions{NoSync: true})
		spoil(t, filepath.Join(dir, names[0]), append(lines(t, dir, names[0]), rest))
		r := verified(t, dir)
		if f := r.Files[0]; !r.OK() || f.Torn != len(story())+1 || f.Lines != len(story()) {
			t.Errorf("%s", r)
		}
		if !strings.Contains(r.String(), "not written to its end") {
			t.Errorf("%s", r)
		}
	}
}

func TestALineThatIsTooLongIsNone(t *testing.T) {
	dir, names := sample(t, LogOptions{NoSync: true})
	all := lines(t, dir, names[0])
	spoil(t, filepath.Join(dir, names[0]), slices.Insert(slices.Clone(all), 3, strings.Repeat("x", 2*maxLine)+"\n"))
	finds(t, "a very long line", dir, 4, Changed)
}

func TestWhatTheHeadDoesNotReachIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	write(t, l, story()[:6]...) // created, synced
	write(t, l, refusal(0, ada, broker.ErrTokenForged), refusal(1, ada, broker.ErrTokenForged))
	r := verified(t, dir)
	if !r.OK() || r.Files[0].Beyond != 2 || !strings.Contains(r.String(), "does not vouch for the last 2 lines") {
		t.Errorf("%s", r)
	}
	do(t, l.Close())
	if r := verified(t, dir); r.Files[0].Beyond != 0 {
		t.Errorf("%s", r)
	}
	do(t, os.Remove(filepath.Join(dir, headFile)))
	if r := verified(t, dir); !r.OK() || r.Files[0].Beyond != 8 || len(r.Notes) != 1 {
		t.Errorf("%s", r)
	}
}

func TestADamagedHeadIsReported(t *testing.T) {
	dir, _ := sample(t, LogOptions{})
	head := filepath.Join(dir, headFile)
	whole := content(t, head)
	if len(whole) != slotSize {
		t.Fatalf("%d bytes", len(whole))
	}
	do(t, os.WriteFile(head, []byte("{"+whole[:100]), 0o600))
	if r := verified(t, dir); !r.OK() || !strings.Contains(r.String(), "1 slot that cannot be read") {
		t.Errorf("%s", r)
	}
	do(t, os.WriteFile(head, []byte(strings.Replace(whole, `"hash":"`, `"hash":"0`, 1)), 0o600))
	finds(t, "another hash", dir, len(story()), Changed)
}

// rotated writes the story into files of a few lines.
func rotated(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir, names = sample(t, LogOptions{MaxBytes: 5000})
	if len(names) < 4 {
		t.Fatalf("files %v", names)
	}
	return dir, names
}

func TestRotationKeepsTheChain(t *testing.T) {
	dir, names := rotated(t)
	r := verified(t, dir)
	n := 0
	for _, f := range r.Files {
		n += f.Lines
		if f.Beyond != 0 {
			t.Errorf("%+v", f)
		}
	}
	if !r.OK() || n != len(story()) || len(r.Notes) != 0 {
		t.Errorf("%s", r)
	}
	for _, name := range names {
		if r := verified(t, filepath.Join(dir, name)); !r.OK() {
			t.Errorf("alone: %s", r)
		}
	}
}

func TestVerifyADirectory(t *testing.T) {
	for _, tc := range []struct {
		rule  string
		spoil func(t *testing.T, dir string, names []string)
		file  int
		line  int
		kind  Kind
	}{
		{"the last line of an earlier file", func(t *testing.T, dir string, names []string) {
			all := lines(t, dir, names[0])
			spoil(t, filepath.Join(dir, names[0]), all[:len(all)-1])
		}, 0, 0, Cut},
		{"and without the head", func(t *testing.T, dir string, names []string) {
			all := lines(t, dir, names[0])
			spoil(t, filepath.Join(dir, names[0]), all[:len(all)-1])
			do(t, os.Remove(filepath.Join(dir, headFile)))
		}, 0, 0, Cut},
		{"the first line of a later file", func(t *testing.T, dir string, names []string) {
			spoil(t, filepath.Join(dir, names[1]), lines(t, dir, names[1])[1:])
		}, 1, 1, Removed},
		{"a whole file", func(t *testing.T, dir string, names []string) {
			do(t, os.Remove(filepath.Join(dir, names[1])))
		}, 1, 0, Removed},
		{"the first file", func(t *testing.T, dir string, names []string) {
			do(t, os.Remove(filepath.Join(dir, names[0])))
		}, 0, 0, Removed},
		{"the last file", func(t *testing.T, dir string, names []string) {
			do(t, os.Remove(filepath.Join(dir, names[len(names)-1])))
		}, -1, 0, Removed},
		{"a file emptied", func(t *testing.T, dir string, names []string) {
			spoil(t, filepath.Join(dir, names[1]), nil)
		}, 1, 1, Cut},
		{"a file copied", func(t *testing.T, dir string, names []string) {
			spoil(t, filepath.Join(dir, fileNameAt(start, 1)), lines(t, dir, names[1]))
		}, 0, 1, Doubled},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			dir, names := rotated(t)
			whole := len(lines(t, dir, names[0]))
			tc.spoil(t, dir, names)
			r := verified(t, dir)
			at := tc.file
			if at < 0 {
				at = len(r.Files) - 1
			}
			want := tc.line
			if tc.kind == Cut && want == 0 {
				want = whole
			}
			if b := r.Files[at].Bad; b == nil || b.Kind != tc.kind || b.Line != want {
				t.Errorf("want %s in line %d of file %d, got\n%s", tc.kind, want, at, r)
			}
			for i, f := range r.Files {
				if i != at && f.Bad != nil {
					t.Errorf("another is blamed too:\n%s", r)
				}
			}
		})
	}
}

func TestACopyElsewhereVerifies(t *testing.T) {
	dir, names := rotated(t)
	path := filepath.Join(t.TempDir(), "copy.jsonl")
	spoil(t, path, lines(t, dir, names[1]))
	if r := verified(t, path); !r.OK() || len(r.Files[0].Notes) != 1 {
		t.Errorf("%s", r)
	}
	spoil(t, path, lines(t, dir, names[1])[1:])
	finds(t, "its beginning", path, 1, Removed)
}

func TestVerifyFailsWhereNothingCanBeRead(t *testing.T) {
	if _, err := Verify(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("verified nothing")
	}
	dir := t.TempDir()
	do(t, os.Mkdir(filepath.Join(dir, "audit-x.jsonl"), 0o700))
	if _, err := Verify(dir); err == nil {
		t.Error("verified a directory as a file")
	}
	if r := verified(t, t.TempDir()); !r.OK() || len(r.Files) != 0 {
		t.Errorf("%s", r)
	}
}
