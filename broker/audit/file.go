package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// sync makes what was created, renamed or removed in a directory durable.
func (d *Dir) sync(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// create makes a file that was not there, with all of b in it, durably with its
// directory dir. After an error there is no file, unless removing it failed too.
// An error that is fs.ErrExist says that the name was taken.
func (d *Dir) create(dir, name string, b []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b) // fails for a short write too
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.sync(dir)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return nil
}

// replace puts a file with all of b in the place of name in the directory dir,
// durably and at once: whoever reads meanwhile finds the one before or this one.
// It is written beside, under suffix, where no other call may write meanwhile.
func (d *Dir) replace(dir, name, suffix string, b []byte) error {
	next := path.Join(ownersDir, d.owner.token+suffix)
	if err := d.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.create(ownersDir, next, b); err != nil {
		return err
	}
	if err := d.root.Rename(next, name); err != nil {
		return errors.Join(err, d.root.Remove(next))
	}
	return d.sync(dir)
}

// read returns a whole file of at most most bytes. Only plain files count: a
// pipe in their place would keep the reader waiting for ever.
func (d *Dir) read(name string, most int64) ([]byte, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", name)
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return b, nil
}
