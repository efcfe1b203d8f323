//go:build unix

package fabric

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Hold waits for the lock of key. The system drops it with the process, so that
// a crash locks nobody out.
func (d fileLockout) Hold(ctx context.Context, key string) (func(), error) {
	name, err := d.file(key, ".lock")
	if err != nil {
		return nil, fmt.Errorf("fabric: lock log-in: %w", err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("fabric: lock log-in: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
			t.Stop()
			err = ctx.Err()
		}
		break
	}
	_ = f.Close()
	return nil, fmt.Errorf("fabric: lock log-in: %w", err)
}
