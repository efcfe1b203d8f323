package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The hooks that let a test crash the process at a chosen point must not be in
// what users get.
func TestReleaseHasNoCrashHooks(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "fabric-broker")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("FABRIC_BROKER_CRASH")) {
		t.Error("the release binary obeys FABRIC_BROKER_CRASH")
	}
}
