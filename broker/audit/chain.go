package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is what the verifier keeps of a line.
type entry struct {
	seq        uint64
	time       time.Time
	prev, hash string
	file       string
	err        error // why it is none; the rest is empty then
}

// chain is one file.
type chain struct {
	name    string
	entries []entry
	// torn says that the last line has no newline: it was not written to its end.
	// It is not among the entries.
	torn bool
}

// openLog opens a file of the log. A pipe in its place would keep the reader
// waiting for ever: it is looked at before it is opened.
func openLog(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", path)
	}
	return os.Open(path)
}

// readLines calls f with every line, without its newline, and returns what stands
// behind the last one. A nil line is one that is too long.
func readLines(in io.Reader, f func(raw []byte)) (torn []byte, err error) {
	r := bufio.NewReaderSize(in, 16<<10)
	var long []byte // what the buffer could not hold of a line
	for {
		raw, err := r.ReadSlice('\n')
		if len(long) > 0 || errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, raw[:min(len(raw), maxLine+1-len(long))]...) // enough to see that it is too long
			raw = long
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return bytes.Clone(raw), nil
		case err != nil:
			return nil, err
		case len(raw) > maxLine:
			f(nil)
		default:
			f(raw[:len(raw)-1])
		}
		long = long[:0]
	}
}

func readChain(dir, name string) (chain, error) {
	in, err := openLog(filepath.Join(dir, name))
	if err != nil {
		return chain{}, err
	}
	defer func() { _ = in.Close() }() // nothing was written
	return chainOf(in, name)
}

func chainOf(in io.Reader, name string) (chain, error) {
	c := chain{name: name}
	torn, err := readLines(in, func(raw []byte) {
		l, err := parse(raw)
		c.entries = append(c.entries, entry{l.Seq, l.Time, l.Prev, l.hash, l.File, err})
	})
	c.torn = len(torn) > 0
	return c, err
}

// last returns the last line, which is none in an empty or broken file.
func (c chain) last() (entry, bool) {
	if len(c.entries) == 0 {
		return entry{}, false
	}
	e := c.entries[len(c.entries)-1]
	return e, e.err == nil
}

// check returns the first line of the file that is not where it was written.
// What comes before the file and what is beyond its end is not looked at.
func (c chain) check() *Bad {
	seen := map[string]int{}
	for i, e := range c.entries {
		switch {
		case e.err != nil:
			return bad(i, Changed, "it %s", e.err)
		case i == 0 && e.file == "":
			if c.find(i, func(o entry) bool { return o.file != "" }) > 0 {
				return bad(i, Swapped, "the first line of the file stands further down")
			}
			return bad(i, Removed, "the file does not begin here: the lines before number %d are gone", e.seq)
		case i == 0 && e.prev == noHash && e.seq != 1:
			return bad(i, Changed, "it says that nothing comes before it, and has number %d", e.seq)
		case i > 0 && !e.follows(c.entries[i-1]):
			return c.explain(i, seen)
		}
		seen[e.hash] = i
	}
	return nil
}

func (e entry) follows(o entry) bool { return e.prev == o.hash && e.seq == o.seq+1 && e.file == "" }

// explain says as far as can be told why line i does not follow the one before.
func (c chain) explain(i int, seen map[string]int) *Bad {
	e, o := c.entries[i], c.entries[i-1]
	if at, ok := seen[e.hash]; ok {
		return bad(i, Doubled, "it is line %d once more", at+1)
	}
	if c.find(i, func(later entry) bool { return later.follows(o) }) > 0 {
		return bad(i, Swapped, "the line that follows the one before it stands further down")
	}
	switch {
	case e.seq > o.seq+1:
		return bad(i, Removed, "numbers %d to %d are gone before it", o.seq+1, e.seq-1)
	case e.seq == o.seq+1 && i+1 < len(c.entries) && c.entries[i+1].err == nil && c.entries[i+1].follows(e):
		return bad(i-1, Changed, "it has a hash of its own, but not the one that the lines after it go on from")
	}
	return bad(i, Changed, "it does not go on from the line before it")
}

// find returns the first line behind i that is so, or 0.
func (c chain) find(i int, so func(entry) bool) int {
	for n := i + 1; n < len(c.entries); n++ {
		if c.entries[n].err == nil && so(c.entries[n]) {
			return n
		}
	}
	return 0
}

func bad(i int, k Kind, format string, args ...any) *Bad {
	return &Bad{Line: i + 1, Kind: k, Detail: fmt.Sprintf(format, args...)}
}
