//go:build crash

package audit

import (
	"os"
	"strconv"
	"time"
)

// See the hooks of package broker: a test cannot wait a minute for each crash.
func init() {
	if ms, err := strconv.Atoi(os.Getenv("FABRIC_BROKER_CRASH_HURRY")); err == nil {
		adoptAfter = time.Duration(ms) * time.Millisecond
	}
}
