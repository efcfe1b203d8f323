package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Verify checks the chain of one file, or of every file of a state directory and
// from file to file. It names the first bad line of each file. A broken last line
// as a crash leaves it is tolerated and reported. An error means that something
// could not be read; a broken chain is none.
//
// It may run while the directory is written.
func Verify(path string) (Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Report{}, fmt.Errorf("audit: verify: %w", err)
	}
	dir, names := path, []string(nil)
	if !info.IsDir() {
		dir, names = filepath.Dir(path), []string{filepath.Base(path)}
	}
	// The head first: what is written meanwhile is beyond it.
	h, err := readHeads(filepath.Join(dir, headFile))
	if err != nil {
		return Report{}, fmt.Errorf("audit: verify: %w", err)
	}
	if info.IsDir() {
		if names, err = logNames(dir); err != nil {
			return Report{}, fmt.Errorf("audit: verify: %w", err)
		}
	}
	v := verifier{dir: dir, heads: h, whole: info.IsDir(), ends: map[string]uint64{}}
	for _, name := range names {
		c, err := readChain(dir, name)
		if err != nil {
			return Report{}, fmt.Errorf("audit: verify: %w", err)
		}
		v.chains = append(v.chains, c)
		if e, ok := c.last(); ok {
			v.ends[e.hash] = e.seq
		}
	}
	return v.report()
}

type verifier struct {
	dir    string
	heads  heads
	whole  bool // all files of a directory
	chains []chain
	ends   map[string]uint64 // hash and number of every last line
}

func (v verifier) report() (Report, error) {
	var out Report
	for _, c := range v.chains {
		out.Files = append(out.Files, v.file(c))
	}
	if v.whole {
		v.link(&out)
		if err := v.missing(&out); err != nil {
			return Report{}, err
		}
	}
	if v.heads.none && len(v.chains) > 0 {
		out.Notes = append(out.Notes, "there is no audit.head beside the log: lines cut off at the end cannot be noticed")
	}
	if v.heads.bad > 0 {
		out.Notes = append(out.Notes, "audit.head has "+plural(v.heads.bad, "slot")+" that cannot be read")
	}
	return out, nil
}

// file looks at one file.
func (v verifier) file(c chain) FileReport {
	f := FileReport{Name: c.name, Lines: len(c.entries), Bad: c.check()}
	for _, e := range c.entries {
		if e.err == nil {
			if f.First.IsZero() {
				f.First = e.time
			}
			f.Last = e.time
		}
	}
	if c.torn {
		f.Torn = len(c.entries) + 1
	}
	if f.Bad == nil {
		v.atHead(c, &f)
	}
	if f.Bad == nil {
		v.atName(c, &f)
	}
	return f
}

// atHead compares a file with what audit.head says of it.
func (v verifier) atHead(c chain, f *FileReport) {
	h, ok := v.heads.entries[c.name]
	if !ok {
		f.Beyond = len(c.entries)
		if !v.heads.none {
			f.Notes = append(f.Notes, "audit.head does not know this file")
		}
		return
	}
	if len(c.entries) == 0 {
		f.Bad = bad(0, Cut, "audit.head says that numbers %d to %d were written", h.First, h.Seq)
		return
	}
	first, last := c.entries[0], c.entries[len(c.entries)-1]
	switch {
	case first.seq != h.First || first.prev != h.Prev:
		f.Bad = bad(0, Changed, "audit.head says that the file began with number %d after another line", h.First)
	case last.seq < h.Seq:
		f.Bad = bad(len(c.entries), Cut, "audit.head says that numbers %d to %d were written too", last.seq+1, h.Seq)
	case h.Seq < first.seq || c.entries[h.Seq-first.seq].hash != h.Hash:
		n := max(h.Seq, first.seq) - first.seq
		f.Bad = bad(int(n), Changed, "audit.head says that number %d had another hash", h.Seq)
	default:
		f.Beyond = int(last.seq - h.Seq)
	}
}

// atName compares a file with the name in its first line.
func (v verifier) atName(c chain, f *FileReport) {
	if len(c.entries) == 0 || c.entries[0].file == c.name {
		return
	}
	named := c.entries[0].file
	if v.whole && slices.ContainsFunc(v.chains, func(o chain) bool { return o.name == named }) {
		f.Bad = bad(0, Doubled, "the file is a copy of %q, which is here too", named)
		return
	}
	f.Notes = append(f.Notes, fmt.Sprintf("it was written as %q", named))
}
