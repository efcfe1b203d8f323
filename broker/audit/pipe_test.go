//go:build unix

package audit

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file must keep neither a start nor a verifier waiting.
func TestAPipeIsNoFileOfTheLog(t *testing.T) {
	dir, _ := sample(t, LogOptions{})
	do(t, syscall.Mkfifo(filepath.Join(dir, fileNameAt(time.Unix(0, 0).UTC(), 1)), 0o600))
	for what, read := range map[string]func() error{
		"verify": func() error { _, err := Verify(dir); return err },
		"replay": func() error { _, err := Replay(dir, time.Time{}); return err },
	} {
		got := make(chan error, 1)
		go func() { got <- read() }()
		select {
		case err := <-got:
			if err == nil || !strings.Contains(err.Error(), "no plain file") {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s waits for the pipe", what)
		}
	}
}
