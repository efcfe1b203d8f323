package fabric

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Lockout remembers that credentials were refused. The key is a digest of them,
// so that corrected ones are free at once.
type Lockout interface {
	// Until returns when key may be tried again; a time that is past, or zero,
	// means now.
	Until(ctx context.Context, key string) (time.Time, error)
	// Set forbids key until then.
	Set(ctx context.Context, key string, until time.Time) error
}

// holder is a Lockout that can keep others from trying key at the same time.
type holder interface {
	Hold(ctx context.Context, key string) (release func(), err error)
}

// memoryLockout remembers for one API.
type memoryLockout struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (m *memoryLockout) Until(_ context.Context, key string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.until[key], nil
}

func (m *memoryLockout) Set(_ context.Context, key string, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until == nil {
		m.until = map[string]time.Time{}
	}
	m.until[key] = until
	return nil
}

// FileLockout returns a Lockout that all processes with the same directory
// share. While one of them logs in, the others wait for what comes of it.
func FileLockout(dir string) Lockout { return fileLockout(dir) }

type fileLockout string

var _ holder = fileLockout("")

func (d fileLockout) file(key, ext string) (string, error) {
	if d == "" {
		return "", errors.New("no directory is given")
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return "", err
	}
	return filepath.Join(string(d), "login-"+key[:min(len(key), 32)]+ext), nil
}

func (d fileLockout) Until(_ context.Context, key string) (time.Time, error) {
	name, err := d.file(key, "")
	if err != nil {
		return time.Time{}, fmt.Errorf("fabric: read lockout: %w", err)
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("fabric: read lockout: %w", err)
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	if err != nil {
		return time.Time{}, fmt.Errorf("fabric: read lockout %s: %w", filepath.Base(name), err)
	}
	return t, nil
}

// Set writes a file beside the old one and renames it: a reader sees the one or
// the other.
func (d fileLockout) Set(_ context.Context, key string, until time.Time) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("fabric: write lockout: %w", err)
		}
	}()
	name, err := d.file(key, "")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(string(d), "login-*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(until.UTC().Format(time.RFC3339) + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
