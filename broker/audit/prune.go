package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Pruned is what Prune did.
type Pruned struct {
	// Removed are the files that are gone, the oldest first, and Bytes what they had.
	Removed []string
	Bytes   int64
	// Kept are files that are old enough but stay: what is broken is evidence.
	Kept []string
}

// String is a line for each file, and the sum.
func (p Pruned) String() string {
	var b strings.Builder
	for _, name := range p.Removed {
		fmt.Fprintf(&b, "%s: removed\n", shown(name))
	}
	for _, name := range p.Kept {
		fmt.Fprintf(&b, "%s: kept, because it does not verify: fabric-broker audit verify says why; remove it by hand when that is settled\n", shown(name))
	}
	fmt.Fprintf(&b, "%s removed, %d bytes", plural(len(p.Removed), "file"), p.Bytes)
	return b.String()
}

// Prune removes the files of the log in the state directory dir whose last event
// is more than olderThan before now. Files are removed whole. One that a process
// still writes stays, and one that does not verify. What was removed is noted in
// audit.head first, with the hash of its last line: the chain that goes on from
// it still verifies.
//
// The outcomes in a removed file cannot be told any more (see [Replay]).
func Prune(dir string, olderThan time.Duration, now time.Time) (Pruned, error) {
	var out Pruned
	if olderThan < 0 {
		return out, fmt.Errorf("audit: prune: an age of %s", olderThan)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return out, fmt.Errorf("audit: prune: %w", err)
	}
	if err := private(dir, info); err != nil {
		return out, fmt.Errorf("audit: prune: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return out, fmt.Errorf("audit: prune: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	d := &Dir{path: dir, root: root, now: time.Now}
	report, err := Verify(dir)
	if err != nil {
		return out, err
	}
	heads, err := readHeads(filepath.Join(dir, headFile))
	if err != nil {
		return out, fmt.Errorf("audit: prune: %w", err)
	}
	for _, f := range report.Files {
		if err := d.prune(f, heads, now.Add(-olderThan), now, &out); err != nil {
			return out, fmt.Errorf("audit: prune %s: %w", f.Name, err)
		}
	}
	if err := d.sync("."); err != nil {
		return out, fmt.Errorf("audit: prune: %w", err)
	}
	return out, nil
}

func (d *Dir) prune(r FileReport, h heads, before, now time.Time, out *Pruned) error {
	last := r.Last
	if begun, _, ok := parseName(r.Name); last.IsZero() && ok {
		last = begun
	}
	if last.IsZero() || !last.Before(before) {
		return nil
	}
	f, err := d.root.OpenFile(r.Name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written; gives up the lock
	if got, err := tryLock(f); err != nil || !got {
		return err // its process lives and writes it
	}
	if r.Bad != nil {
		out.Kept = append(out.Kept, r.Name)
		return nil
	}
	// Read again: between the look and the lock it may have gone on.
	c, err := readChain(d.path, r.Name)
	if err != nil {
		return err
	}
	if len(c.entries) != r.Lines {
		return nil
	}
	if err := d.markPruned(c, h, now); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := d.root.Remove(r.Name); err != nil {
		return err
	}
	out.Removed, out.Bytes = append(out.Removed, r.Name), out.Bytes+info.Size()
	return nil
}

// markPruned notes in audit.head what a file was, durably. Its writer is gone, so
// that its slot is free to write.
func (d *Dir) markPruned(c chain, h heads, now time.Time) error {
	last, ok := c.last()
	if !ok {
		return nil // it said nothing
	}
	e := headEntry{
		File: c.name, First: c.entries[0].seq, Prev: c.entries[0].prev, Seq: last.seq, Hash: last.hash, Pruned: now.UTC().Truncate(time.Second),
	}
	var s slot
	defer s.close()
	if at, known := h.at[c.name]; known {
		f, err := d.root.OpenFile(headFile, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		s.f, s.at = f, at
	}
	if err := s.write(d, e); err != nil {
		return err
	}
	return s.f.Sync()
}
