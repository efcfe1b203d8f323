package main

import (
	"testing"

	"fabricbroker/broker"
)

// Five bad log-ins lock the account for everyone: with a wrong secret three
// servers, the doctor and a restart together try it at most twice.
func TestAWrongSecretIsHardlyTried(t *testing.T) {
	sim, url := simulator(t)
	env := processEnv(url, t.TempDir()+"/state", "EQUINIX_API_CLIENTSECRET=not-the-secret")
	for range 3 {
		p := start(t, modern, env, agrees)
		for range 2 {
			r := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			if code := r.object("error")["code"]; code != string(broker.ErrUpstreamUnauthorized) {
				t.Errorf("propose: %v", r)
			}
		}
		if code, _, stderr := execute(t, env, "", "doctor", "--login"); code != exitFailed {
			t.Errorf("doctor ended with %d: %s", code, stderr)
		}
		_ = p.cmd.Process.Kill()
		p.ended()
	}
	tried := 0
	for _, e := range sim.History() {
		if e.Path == "/oauth2/v1/token" {
			tried++
		}
	}
	if tried < 1 || tried > 2 {
		t.Errorf("%d log-ins were tried", tried)
	}
}
