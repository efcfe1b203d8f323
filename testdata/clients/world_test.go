package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fabricbroker/testdata/clients/job"
)

const (
	project = "7d1c2a90-3f0b-4c55-9c1e-2b6a1f0e9d11"
	port    = "11111111-aaaa-4bbb-8ccc-000000000001"
	profile = "22222222-aaaa-4bbb-8ccc-000000000001"

	// patience is how long something may take. It only matters where it does
	// not happen.
	patience = 3 * time.Minute
)

// world is the programs and the simulator that all runs share.
type world struct {
	bin, dir    string
	api, manage string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatal("the clients are not installed: make clients does that")
	}
	dir, err := os.MkdirTemp("", "mcp") // short: daemons have their sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a dead client started may still be ending
		for end := time.Now().Add(10 * time.Second); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
		}
	})
	w := &world{bin: t.TempDir(), dir: dir}
	for _, b := range [][]string{{"../..", "./cmd/fabric-broker", "./cmd/fabric-sim"}, {".", "./gosdk", "./mcpgo"}} {
		cmd := exec.Command("go", append([]string{"build", "-o", w.bin}, b[1:]...)...)
		cmd.Dir = b[0]
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	lines := w.start(t, nil, "stdout", "fabric-sim", "--listen=127.0.0.1:0", "--manage=127.0.0.1:0")
	for w.manage == "" && lines.Scan() {
		switch name, addr, _ := strings.Cut(lines.Text(), " "); name {
		case "api":
			w.api = addr
		case "manage":
			w.manage = addr
		}
	}
	w.ask(t, "POST", "/assets", []job.Object{
		{"kind": "port", "uuid": port, "name": "DC-10G", "metro_code": "DC", "encapsulation": "DOT1Q", "bandwidth": 10000, "state": "ACTIVE", "project_id": project, "account_number": 270848},
		{
			"kind": "service_profile", "uuid": profile, "name": "AWS Direct Connect", "type": "L2_PROFILE", "metros": []string{"DC"},
			"seller_regions": job.Object{"DC": []string{"us-east-1"}}, "supported_bandwidths": []int{50}, "authentication_key": "AWS account id",
		},
	}, nil)
	return w
}

// start starts one of our programs for the time of the test, and returns the
// lines that it writes to stdout or stderr.
func (w *world) start(t *testing.T, env []string, from, program string, args ...string) *bufio.Scanner {
	t.Helper()
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(w.bin, program), args...)
	cmd.Env = env
	if from == "stdout" {
		cmd.Stdout = out
	} else {
		cmd.Stderr = out
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = r.Close()
	})
	return bufio.NewScanner(r)
}

// env is the whole environment of a run, whose home is dir.
func (w *world) env(dir string, ask time.Duration) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"EQUINIX_API_ENDPOINT=" + w.api, "EQUINIX_API_CLIENTID=clients", "EQUINIX_API_CLIENTSECRET=sim-secret",
		"EQUINIX_MCP_TOOLSETS=fabric,pricing,mutate", "EQUINIX_MCP_STATE_DIR=" + dir + "/state",
		fmt.Sprintf("EQUINIX_MCP_ELICIT_TIMEOUT_MS=%d", ask.Milliseconds()),
	}
}

// serve starts `fabric-broker http` and returns its URL.
func (w *world) serve(t *testing.T, env []string) string {
	t.Helper()
	env = append(env, "EQUINIX_MCP_LEDGER_DSN=memory:", "EQUINIX_MCP_CONFIRM_SECRET="+strings.Repeat("5a", 32))
	lines := w.start(t, env, "stderr", "fabric-broker", "http", "--listen=127.0.0.1:0", "--insecure-no-auth")
	for lines.Scan() {
		var m struct{ Msg, Endpoint string }
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Msg == "listening" {
			go func() { // its log has to go somewhere
				for lines.Scan() {
					continue
				}
			}()
			return m.Endpoint
		}
		t.Log(lines.Text())
	}
	t.Fatal("fabric-broker http does not listen")
	return ""
}

func (w *world) ask(t *testing.T, method, path string, in, out any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, w.manage+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %v", method, path, b, err)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
}

// creates counts, for each name, the creates that arrived at the simulator.
func (w *world) creates(t *testing.T) map[string]int {
	t.Helper()
	var history []struct {
		Method, Path, Body string
		DryRun             bool `json:"dry_run"`
	}
	w.ask(t, "GET", "/history", nil, &history)
	n := map[string]int{}
	for _, h := range history {
		if h.Method != http.MethodPost || h.Path != "/fabric/v4/connections" || h.DryRun {
			continue
		}
		var body struct{ Name string }
		if err := json.Unmarshal([]byte(h.Body), &body); err != nil {
			t.Errorf("a create of %q: %v", h.Body, err)
		}
		n[body.Name]++
	}
	return n
}

// record is the last line of a state directory's audit log about its proposal.
type record struct {
	State           string
	ProtocolVersion string `json:"protocol_version"`
}

// recorded reads the audit log of a run, which has one proposal.
func recorded(t *testing.T, state string) (last record) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var r record
			if json.Unmarshal(line, &r) == nil && r.State != "" {
				last = r
			}
		}
	}
	return last
}
