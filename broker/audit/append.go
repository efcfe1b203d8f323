package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is what a log needs of an os.File.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

// logFile is the file that is written at the moment.
type logFile struct {
	file
	name string
	size int64 // up to the last good byte
	head headEntry
	slot slot
}

// append writes a line behind the last one. After an error it is not there.
func (l *Log) append(ln line, durable bool) error {
	if err := l.d.there(); err != nil {
		return err
	}
	if l.f != nil && !l.there() { // somebody removed the file: what went on there nobody would read
		_ = l.f.Close()
		l.f.slot.close()
		l.f = nil
	}
	b, err := l.encode(&ln)
	if err != nil {
		return err
	}
	if l.f != nil && l.f.size > 0 && l.f.size+int64(len(b)) > l.o.MaxBytes {
		if err := l.finish(); err != nil {
			return err
		}
	}
	if l.f == nil {
		if err := l.begin(); err != nil {
			return err
		}
		ln.File = l.f.name
		if b, err = l.encode(&ln); err != nil {
			return l.giveUp(err)
		}
	}
	if n, err := l.f.Write(b); err != nil || n < len(b) {
		return l.giveUp(errors.Join(err, fmt.Errorf("%d of %d bytes were written", n, len(b))))
	}
	if durable && !l.o.NoSync {
		if err := l.f.Sync(); err != nil {
			return l.giveUp(err)
		}
	}
	if l.f.size == 0 {
		l.f.head = headEntry{File: l.f.name, First: ln.Seq, Prev: ln.Prev}
	}
	l.f.size += int64(len(b))
	l.seq, l.prev = ln.Seq, ln.hash
	if durable {
		l.reach()
	} else {
		l.syncLater()
	}
	return nil
}

func (l *Log) encode(ln *line) ([]byte, error) {
	ln.Seq, ln.Prev = l.seq+1, l.prev
	b, err := ln.encode()
	if err != nil || len(b) <= maxLine {
		return b, err
	}
	if ln.State.Settled() || ln.State.Unresolved() {
		ln.shorten()
		if b, err = ln.encode(); err != nil {
			return nil, err
		}
	}
	if len(b) > maxLine {
		return nil, fmt.Errorf("a line of %d bytes", len(b))
	}
	return b, nil
}

// begin makes the next file. Its name sorts behind the earlier ones of this
// process. It stays locked for as long as it is written.
func (l *Log) begin() error {
	at := l.o.Now().UTC()
	for range 1000 {
		name := fileNameAt(at, l.pid)
		at = at.Add(time.Nanosecond)
		f, err := l.d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // of the same instant
		}
		if err != nil {
			return err
		}
		got, err := tryLock(f)
		if err == nil && !l.o.NoSync {
			err = l.d.sync(".")
		}
		if err != nil {
			return errors.Join(err, f.Close(), l.d.root.Remove(name))
		}
		if !got || !l.d.holds(name, f) { // pruned between the two calls
			_ = f.Close()
			continue
		}
		l.f = &logFile{file: l.wrap(f), name: name}
		return nil
	}
	return errors.New("no name is free for another file")
}

// giveUp takes back what was written of a line and closes the file: after an
// error nobody knows what a second try would leave. Where even that fails, the
// broken last line stays, and the verifier knows it.
func (l *Log) giveUp(err error) error {
	f := l.f
	l.f, l.dirty = nil, false
	err = errors.Join(err, f.Truncate(f.size), f.Sync(), f.Close())
	f.slot.close()
	if f.size == 0 { // else every event on a full disk would leave an empty file
		err = errors.Join(err, l.d.root.Remove(f.name))
	}
	return err
}

// finish syncs and closes the file, if there is one.
func (l *Log) finish() error {
	if l.f == nil {
		return nil
	}
	var err error
	if l.dirty && !l.o.NoSync {
		err = l.f.Sync()
	}
	if err == nil {
		l.reach()
	}
	err = errors.Join(err, l.f.Close())
	l.f.slot.close()
	l.f = nil
	return err
}

// there reports whether the file's name still leads to it.
func (l *Log) there() bool {
	a, errA := l.d.root.Lstat(l.f.name)
	b, errB := l.f.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// syncLater has what was written synced soon.
func (l *Log) syncLater() {
	if l.dirty {
		return
	}
	l.dirty = true
	l.lag = time.AfterFunc(syncLag, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.closed && l.dirty && l.f != nil && (l.o.NoSync || l.f.Sync() == nil) {
			l.reach()
		}
		l.dirty = false // what failed is tried again with the next event
	})
}

// reach says in audit.head that everything written so far is synced. That it
// cannot be said fails nothing: the lines are the record, and the next call says
// it too.
func (l *Log) reach() {
	l.dirty = false
	l.f.head.Seq, l.f.head.Hash = l.seq, l.prev
	_ = l.f.slot.write(l.d, l.f.head)
}
