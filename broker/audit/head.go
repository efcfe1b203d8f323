package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// headFile says of every file of the log up to which line it was synced, and
// what was pruned. Each file has a slot of slotSize bytes there: one JSON object,
// blanks, a newline. A slot is written by the process that writes the file, and
// by nobody else until it is dead, so that no process can spoil another's; a slot
// fills one sector of a disk, so that it changes at once. Only a new slot is added
// under the directory's lock. The file itself is not synced: after a loss of
// power it may reach less far, never too far.
const (
	headFile = "audit.head"
	slotSize = 512
	// slotWait is how long a new slot is waited for. The next call tries again.
	slotWait = time.Second
)

// headEntry is what a slot says.
type headEntry struct {
	File string `json:"file"`
	// First and Prev are of the file's first line, Seq and Hash of the last one
	// that was synced.
	First  uint64    `json:"first"`
	Prev   string    `json:"prev"`
	Seq    uint64    `json:"seq"`
	Hash   string    `json:"hash"`
	Pruned time.Time `json:"pruned,omitzero"`
}

// slot is a place in headFile. The zero value is none yet.
type slot struct {
	f  *os.File
	at int64
}

// write puts e into the slot, and makes one where there is none.
func (s *slot) write(d *Dir, e headEntry) error {
	if s.f != nil && !d.holds(headFile, s.f) { // removed meanwhile
		s.close()
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(b) >= slotSize {
		return fmt.Errorf("a head of %d bytes", len(b))
	}
	b = append(b, bytes.Repeat([]byte(" "), slotSize-1-len(b))...)
	b = append(b, '\n')
	if s.f != nil {
		_, err := s.f.WriteAt(b, s.at)
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), slotWait)
	defer cancel()
	return d.exclusive(ctx, func() error { return s.add(d, b) })
}

func (s *slot) add(d *Dir, b []byte) error {
	f, err := d.root.OpenFile(headFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	at := (info.Size() + slotSize - 1) / slotSize * slotSize
	if _, err := f.WriteAt(b, at); err != nil {
		return errors.Join(err, f.Close())
	}
	s.f, s.at = f, at
	return nil
}

func (s *slot) close() {
	if s.f != nil {
		_ = s.f.Close() // the slot is written
	}
	s.f = nil
}

// heads are the slots of a directory by file, each with its place.
type heads struct {
	entries map[string]headEntry
	at      map[string]int64
	// bad is how many slots cannot be read.
	bad int
	// none says that there is no such file.
	none bool
}

func readHeads(path string) (heads, error) {
	h := heads{entries: map[string]headEntry{}, at: map[string]int64{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		h.none = true
		return h, nil
	}
	if err != nil {
		return h, err
	}
	for at := 0; at < len(b); at += slotSize {
		var e headEntry
		if json.Unmarshal(b[at:min(at+slotSize, len(b))], &e) != nil || e.File == "" {
			h.bad++
			continue
		}
		if old, ok := h.entries[e.File]; !ok || e.Seq >= old.Seq {
			h.entries[e.File], h.at[e.File] = e, int64(at)
		}
	}
	return h, nil
}
