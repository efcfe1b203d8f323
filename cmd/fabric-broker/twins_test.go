package main

import (
	"strings"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// A second one of the same thing is a second bill. The search may not have the
// first one yet; what any process of the state directory did is told all the same.
func TestATwinThatAnotherProcessMadeIsTold(t *testing.T) {
	t.Parallel()
	network := func(mail string) map[string]any {
		return map[string]any{
			"type": "IPWAN", "name": "wan", "scope": "GLOBAL", "project_id": testProject, "notification_emails": []string{mail},
		}
	}
	for how, tc := range map[string]struct {
		loses, ends bool
		want        string
	}{
		"created by one that lives": {want: "a second one: "},
		"created by one that ended": {ends: true, want: "a second one: "},
		"lost by one that lives":    {loses: true, want: "a second one? "},
		"lost by one that ended":    {loses: true, ends: true, want: "a second one? "},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			sim.Fail(fabricsim.Fault{Do: fabricsim.Action{Kind: fabricsim.FaultSlowIndex, Milliseconds: 3_600_000}})
			if tc.loses {
				no := false
				sim.Fail(fabricsim.Fault{
					Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/networks", DryRun: &no},
					Do:    fabricsim.Action{Kind: fabricsim.FaultCommitThenReset},
				})
			}
			state := t.TempDir() + "/state"
			second := start(t, "2025-11-25", processEnv(url, state), agrees)
			first := start(t, "2025-11-25", processEnv(url, state), agrees)
			<-first.confirm(first.propose("network_create", network("a@example.net")))
			if tc.ends {
				for _, p := range []*process{first, second} {
					_ = p.stdin.Close()
					p.ended()
				}
				second = start(t, "2025-11-25", processEnv(url, state), agrees)
			}
			<-second.confirm(second.propose("network_create", network("b@example.net")))
			prompt, _ := (<-second.prompts)["message"].(string)
			if line, _, _ := strings.Cut(prompt, "\n"); !strings.Contains(line, tc.want) {
				t.Errorf("the prompt begins with %q, want %q in it", line, tc.want)
			}
		})
	}
}
