//go:build crash

package broker

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// In this build the process obeys FABRIC_BROKER_CRASH: "kill:POINT" or
// "stop:POINT" sends it SIGKILL or SIGSTOP when a create passes that point.
// FABRIC_BROKER_CRASH_HURRY=MS shortens what a create may take before others
// may take it over, so that a test need not wait for minutes.
func init() {
	if ms, err := strconv.Atoi(os.Getenv("FABRIC_BROKER_CRASH_HURRY")); err == nil {
		recheckTimeout = time.Duration(ms) * time.Millisecond
		tidyEvery = 100 * time.Millisecond
	}
}

func hook(point string) {
	how, at, _ := strings.Cut(os.Getenv("FABRIC_BROKER_CRASH"), ":")
	if at != point {
		return
	}
	signal := syscall.SIGKILL
	if how == "stop" {
		signal = syscall.SIGSTOP
	}
	_ = syscall.Kill(os.Getpid(), signal)
	time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the signal reaches every thread before the next step
}
