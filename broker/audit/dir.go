package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// The names in a state directory.
const (
	unresolvedDir = "unresolved"
	ownersDir     = "owners"
	haltFile      = "halt"
	lockFile      = "lock"
)

// Dir is an open state directory. It is safe for concurrent use, and so is the
// directory for any number of processes that each have their own Dir.
type Dir struct {
	path  string
	root  *os.Root
	self  fs.FileInfo // of root: tells whether path still leads to it
	owner owner
	// setting is held while the stop switch is written.
	setting sync.Mutex
	now     func() time.Time
}

// OpenDir opens the state directory at path, which it creates with its parents
// where it is missing. Only its owner may have access to it: it is refused when
// it is a symbolic link, somebody else's, or open to group or others. Errors are
// one line that ends in what to do.
func OpenDir(path string) (*Dir, error) {
	if path == "" {
		return nil, errors.New("no state directory is set: set EQUINIX_MCP_STATE_DIR to a directory of yours")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w: set EQUINIX_MCP_STATE_DIR to an absolute path", err)
	}
	info, err := os.Lstat(path) //nolint:gosec // the operator names the directory
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeAll(path); err != nil {
			return nil, fmt.Errorf("state directory %s cannot be made: %w: set EQUINIX_MCP_STATE_DIR to a directory of yours", strconv.Quote(path), cause(err))
		}
		info, err = os.Lstat(path) //nolint:gosec // the operator names the directory
	}
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w: set EQUINIX_MCP_STATE_DIR to a directory of yours", strconv.Quote(path), cause(err))
	}
	if err := private(path, info); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("state directory %s cannot be opened: %w: allow its owner to (chmod 700)", strconv.Quote(path), cause(err))
	}
	d := &Dir{path: path, root: root, now: time.Now}
	if err := d.prepare(info); err != nil {
		_ = root.Close()
		return nil, err
	}
	return d, nil
}

// prepare checks that the directory that was opened is the one that was looked
// at, makes the directories in it and takes the owner's lock.
func (d *Dir) prepare(seen fs.FileInfo) error {
	var err error
	if d.self, err = d.root.Stat("."); err != nil || !os.SameFile(seen, d.self) {
		return fmt.Errorf("state directory %s was replaced while it was opened: start again", strconv.Quote(d.path))
	}
	for _, name := range []string{unresolvedDir, ownersDir} {
		path := filepath.Join(d.path, name)
		if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("state directory %s cannot be written: %w: allow its owner to (chmod 700), or free the disk", strconv.Quote(d.path), cause(err))
		}
		info, err := d.root.Lstat(name)
		if err != nil {
			return fmt.Errorf("state directory %s: %w: start again", strconv.Quote(path), cause(err))
		}
		if err := private(path, info); err != nil {
			return err
		}
	}
	if err := d.sync("."); err != nil {
		return fmt.Errorf("state directory %s cannot be synced: %w: use a file system that can", strconv.Quote(d.path), cause(err))
	}
	if d.owner, err = d.own(); err != nil {
		return fmt.Errorf("state directory %s: no lock can be held there: %w: use a local file system that has room", strconv.Quote(d.path), cause(err))
	}
	return nil
}

// Path returns the absolute path.
func (d *Dir) Path() string { return d.path }

// Close gives up the owner's lock: what this Dir claimed and did not settle then
// has no living owner. Nothing may be called after it.
func (d *Dir) Close() error {
	return errors.Join(d.disown(), d.root.Close())
}

// Intents returns the creates that nobody has seen the end of.
func (d *Dir) Intents() *Unresolved { return &Unresolved{d} }

// Halt returns the stop switch.
func (d *Dir) Halt() *Halt { return &Halt{d} }

// there fails when the path leads elsewhere by now. Without it a process whose
// directory was moved away and one that made it anew would each think that they
// hold the only list (I12), and a halt set in one would not stop the other.
func (d *Dir) there() error {
	info, err := os.Lstat(d.path) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	if !os.SameFile(info, d.self) {
		return errors.New("the state directory was replaced")
	}
	return nil
}

// makeAll makes path and its missing parents, and syncs each into its parent: an
// intent is not safe in a directory that a crash takes away.
func makeAll(path string) error {
	parent := filepath.Dir(path)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != path { //nolint:gosec // the operator names the directory
		if err := makeAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // the operator names the directory
		return err
	}
	f, err := os.Open(parent) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// private refuses what others could read or change.
func private(path string, info fs.FileInfo) error {
	q := strconv.Quote(path)
	switch mode := info.Mode(); {
	case mode.Type() == fs.ModeSymlink:
		return fmt.Errorf("state directory %s is a symbolic link: set EQUINIX_MCP_STATE_DIR to the directory itself", q)
	case !mode.IsDir():
		return fmt.Errorf("state directory %s is not a directory: remove it, or set EQUINIX_MCP_STATE_DIR to another path", q)
	case !ours(info):
		return fmt.Errorf("state directory %s belongs to another user: set EQUINIX_MCP_STATE_DIR to one of yours, or chown it", q)
	case mode.Perm()&0o077 != 0:
		return fmt.Errorf("state directory %s is open to other users (mode %04o): chmod 700 %s", q, mode.Perm(), q)
	case mode.Perm()&0o700 != 0o700:
		return fmt.Errorf("state directory %s cannot be used by its own user (mode %04o): chmod 700 %s", q, mode.Perm(), q)
	}
	return nil
}

// cause drops the path that an error of os repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
