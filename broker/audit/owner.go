package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// owner is a process that holds intents. Its lock is held for as long as it
// lives, and the system gives it up when it dies: nothing has to be written then.
type owner struct {
	token string
	lock  *os.File
}

// What a token is followed by in the name of a file in owners. All but the lock
// are files that are being written.
const (
	lockSuffix   = ".lock"
	haltSuffix   = ".halt"
	intentSuffix = ".intent"
)

// own takes a lock that nobody else has, and clears away those of the dead.
func (d *Dir) own() (owner, error) {
	d.clearOwners()
	for range 10 {
		token := strings.ToLower(rand.Text())
		name := path.Join(ownersDir, token+lockSuffix)
		f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return owner{}, err
		}
		got, err := tryLock(f)
		if err != nil {
			return owner{}, errors.Join(err, f.Close(), d.root.Remove(name))
		}
		// Another process may have taken the file for a dead one's between the
		// two calls, and removed it.
		if got && d.holds(name, f) {
			return owner{token, f}, nil
		}
		_ = f.Close()
	}
	return owner{}, errors.New("other processes keep taking it")
}

// disown gives up the lock. The file goes first: a lock file that is not there
// is one that nobody holds.
func (d *Dir) disown() error {
	err := d.root.Remove(path.Join(ownersDir, d.owner.token+lockSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.owner.lock.Close())
}

// clearOwners removes the files of owners whose lock nobody holds. It is housekeeping: what
// fails is left for the next one.
func (d *Dir) clearOwners() {
	entries, err := fs.ReadDir(d.root.FS(), ownersDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		token, _, _ := strings.Cut(e.Name(), ".")
		if alive, err := d.alive(token); err == nil && !alive {
			_ = d.root.Remove(path.Join(ownersDir, e.Name()))
		}
	}
}

// alive reports whether the owner of token still runs.
func (d *Dir) alive(token string) (bool, error) {
	f, err := d.root.OpenFile(path.Join(ownersDir, token+lockSuffix), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	got, err := tryLock(f)
	return !got, errors.Join(err, f.Close())
}

func (d *Dir) holds(name string, f *os.File) bool {
	a, errA := d.root.Lstat(name)
	b, errB := f.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// lockWait is how long exclusive waits. Whoever holds the lock writes or removes
// one file.
const lockWait = 10 * time.Second

// exclusive runs f while no other process of the directory runs one.
func (d *Dir) exclusive(ctx context.Context, f func() error) (err error) {
	l, err := d.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }() // unlocks
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		got, err := tryLock(l)
		if err != nil {
			return err
		}
		if got {
			return f()
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return fmt.Errorf("another process holds the lock: %w", ctx.Err())
		}
	}
}
