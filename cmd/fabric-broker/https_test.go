package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"fabricbroker/fabric/fabricsim"
)

// The provider is reached by https, and offers HTTP/2.
func TestCreateOverHTTPS(t *testing.T) {
	t.Parallel()
	w := &world{t: t, sim: &fabricsim.Sim{SettleAfter: -1}}
	w.seed()
	srv := httptest.NewUnstartedServer(w.sim)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(func() { w.sim.Close(); srv.Close() })
	roots := filepath.Join(t.TempDir(), "roots.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(roots, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir() + "/state"
	p := start(t, modern, processEnv(srv.URL, state, "SSL_CERT_FILE="+roots), agrees)
	if got := p.wait(p.confirm(p.propose("connection_create", connectionSpec("dc-aws-01", 1017)))); got["outcome"] != "created" {
		t.Errorf("the confirm came to %v", got)
	}
	wantMade(t, w.sim, 1)

	// Who cannot be told from somebody else gets nothing, the log-in included.
	other := start(t, modern, processEnv(srv.URL, t.TempDir()+"/state"), agrees)
	if got := other.propose("connection_create", connectionSpec("dc-aws-02", 1018)); got["confirm_token"] != nil {
		t.Errorf("a server of unknown identity was believed: %v", got)
	}
	wantMade(t, w.sim, 1)
}
