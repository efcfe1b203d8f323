package main

import (
	"encoding/json"
	"strings"
	"testing"

	"fabricbroker/toolsets/mutate"
)

// What cannot be decoded must not end the session: an agent chooses the spec.
func TestAnOddLineDoesNotEndTheSession(t *testing.T) {
	_, url := simulator(t)
	p := start(t, "2025-11-25", processEnv(url, t.TempDir()+"/state"), agrees)
	for name, line := range map[string]string{
		"not JSON": "garbage", "an empty batch": "[]", "a number": "7", "an empty line": "", "a cut message": `{"jsonrpc":"2.0"`,
	} {
		if _, err := p.stdin.Write([]byte(line + "\n")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	deep := strings.Repeat(`{"a":`, 1200) + "1" + strings.Repeat("}", 1200)
	m := <-p.begin("tools/call", object{"name": mutate.ProposeTool, "arguments": object{"change_type": "connection_create", "spec": json.RawMessage(deep)}})
	if m.at("error.code") != float64(-32600) {
		t.Errorf("the deep one: %v", m)
	}
	p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
}

func TestDepthIgnoresStrings(t *testing.T) {
	for line, want := range map[string]int{`{}`: 1, `{"a":[1,{"b":2}]}`: 3, `{"[[[":"{{\"{"}`: 1, ``: 0} {
		if got := depth([]byte(line)); got != want {
			t.Errorf("depth of %s: %d, want %d", line, got, want)
		}
	}
}
