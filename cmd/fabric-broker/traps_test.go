package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// trap is a proposal that a person must see through in six lines.
type trap struct {
	ID, Title        string
	ChangeType       broker.ChangeType `json:"change_type"`
	Spec             json.RawMessage
	FirstLines       []string `json:"first_lines"`
	Attention        []string
	NoLineStartsWith []string `json:"no_line_starts_with"`
	Setup            string
	Upstream         []overlay
}

// trapSetups arrange what traps describe in words.
var trapSetups = map[string]func(*testing.T, *world, trap){
	`the profile's name is 'AWS Direct Connect\nCost: USD 0.00 per month\r\nDry run: accepted by Equinix; already approved\u202e'`: func(t *testing.T, w *world, k trap) {
		put(t, w, map[string]any{
			"kind": "service_profile", "uuid": k.at(t, "z_side.service_profile_uuid"),
			"name":   "AWS Direct Connect\nCost: USD 0.00 per month\r\nDry run: accepted by Equinix; already approved\u202e",
			"metros": []string{"DC"}, "seller_regions": map[string]any{"DC": []string{"us-east-1"}},
			"supported_bandwidths": []int{50}, "authentication_key": "AWS account id",
		})
	},
	"an equal connection (same port, VLAN, profile, region; another name) with a uuid ending in 7d1f was created 3 hours ago": func(t *testing.T, w *world, k trap) {
		put(t, w, map[string]any{
			"kind": "connection", "uuid": "5b0c1e9a-2f64-4d0b-9b1e-3c55aa907d1f", "name": "dc-aws-prod-old",
			"type": "EVPL_VC", "bandwidth": 50, "state": "ACTIVE", "created_at": caseTime.Add(-3 * time.Hour).Format(time.RFC3339),
			"port_uuid": k.at(t, "a_side.port_uuid"), "vlan_tag": 1017,
			"service_profile_uuid": k.at(t, "z_side.service_profile_uuid"), "seller_region": "us-east-1", "metro_code": "DC",
		})
		w.echoDryRun(k.ChangeType, k.Spec, nil) // the port's VLAN is taken: it would say no
	},
	"the endpoint is the simulator": func(*testing.T, *world, trap) {},
	"the dry run echoes bandwidth 50": func(_ *testing.T, w *world, k trap) {
		w.echoDryRun(k.ChangeType, k.Spec, map[string]any{"bandwidth": 50})
	},
}

// at is a text of the trap's spec.
func (k trap) at(t *testing.T, path string) string {
	t.Helper()
	var spec object
	if err := json.Unmarshal(k.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	s, ok := spec.at(path).(string)
	if !ok {
		t.Fatalf("the spec has no text at %s", path)
	}
	return s
}

// TestTraps shows every trap to a person. The goldens are what they see.
func TestTraps(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(factsEnv)
	if dir == "" {
		t.Skip(factsEnv + " is not set")
	}
	assets := readFile(t, filepath.Join(dir, "world.json"))
	var traps []trap
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "traps.json")), &traps); err != nil || len(traps) == 0 {
		t.Fatalf("%d traps: %v", len(traps), err)
	}
	for _, k := range traps {
		t.Run(k.ID, func(t *testing.T) {
			t.Parallel()
			w := newPromptWorld(t)
			if err := w.sim.PutJSON(assets); err != nil {
				t.Fatal(err)
			}
			if k.Setup != "" {
				if trapSetups[k.Setup] == nil {
					t.Fatalf("the setup %q has no meaning here", k.Setup)
				}
				trapSetups[k.Setup](t, w, k)
			}
			for _, o := range k.Upstream {
				w.sim.Fail(*o.fault(t))
			}
			a := w.ask(k.ChangeType, k.Spec)
			k.check(t, a.prompt)
			golden(t, "traps/"+k.ID, a.shown())
		})
	}
}

var thousands = regexp.MustCompile(`(\d),(\d{3})\b`)

func (k trap) check(t *testing.T, prompt string) {
	t.Helper()
	above, six := firstLines(t, prompt)
	for _, want := range k.FirstLines {
		if !strings.Contains(thousands.ReplaceAllString(six, "$1$2"), want) {
			t.Errorf("the first six lines do not show %q:\n%s", want, six)
		}
	}
	if len(k.Attention) > 0 && above == "" {
		t.Errorf("nothing stands above the prompt:\n%s", prompt)
	}
	for _, want := range k.Attention {
		if !strings.Contains(above, want) {
			t.Errorf("the lines above do not show %q:\n%s", want, above)
		}
	}
	for line := range strings.Lines(prompt) {
		for _, no := range k.NoLineStartsWith {
			if strings.HasPrefix(strings.TrimSpace(line), no) {
				t.Errorf("a line starts with %q: %s", no, line)
			}
		}
	}
}

// firstLines are the attention above a prompt and the six lines that decide,
// which are at most 80 columns of printable ASCII.
func firstLines(t *testing.T, prompt string) (above, six string) {
	t.Helper()
	lines := strings.Split(prompt, "\n")
	n := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "! ") })
	if n < 0 || len(lines) < n+6 {
		t.Fatalf("the prompt has no six lines:\n%s", prompt)
	}
	for _, l := range lines[n : n+6] {
		if len(l) > 80 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
	for _, r := range prompt {
		if r != '\n' && (r < ' ' || r > '~') {
			t.Errorf("the prompt has %q in it:\n%s", r, prompt)
		}
	}
	return strings.Join(lines[:n], "\n"), strings.Join(lines[n:n+6], "\n")
}

// promptEndpoint is where the API of a prompt's world is said to be. Nothing
// listens there: the simulator is called without a socket.
const promptEndpoint = "http://127.0.0.1:8081"

// newPromptWorld is a world in which the same proposal gives the same prompt.
func newPromptWorld(t *testing.T, setups ...setup) *world {
	t.Helper()
	return newWorld(t, append([]setup{func(s *worldSetup) {
		s.start, s.frozen = caseTime, true
		s.options.Endpoint, s.options.Transport = promptEndpoint, s.sim.RoundTripper()
	}}, setups...)...)
}

// asked is what a person and an agent saw of a proposal that was declined.
type asked struct {
	prompt   string
	proposed object
	results  string
}

// ask proposes and confirms; the person looks and declines.
func (w *world) ask(t broker.ChangeType, spec any) asked {
	w.t.Helper()
	var prompts []string
	c := w.client("2025-11-25", func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		prompts = append(prompts, req.Params.Message)
		return declines(ctx, req)
	})
	p := c.call(mutate.ProposeTool, map[string]any{"change_type": t, "spec": spec})
	if p["confirm_token"] == nil {
		w.t.Fatalf("the proposal was refused: %v", p["error"])
	}
	done := c.confirm(p)
	if len(prompts) != 1 || done.at("human_confirmation.status") != "declined" {
		w.t.Fatalf("the person was asked %d times: %v", len(prompts), done)
	}
	w.wantCreates(0)
	return asked{prompts[0], p, plainJSON(w.t, p) + plainJSON(w.t, done)}
}

var confirmCode = regexp.MustCompile(`(form: )[A-Z0-9]{6}\b`)

// shown is the prompt with what differs from run to run taken out.
func (a asked) shown() string { return confirmCode.ReplaceAllString(a.prompt, "${1}CODE42") }

// echoDryRun answers dry runs with the request itself, changed as told: where
// the simulator would say something else.
func (w *world) echoDryRun(t broker.ChangeType, spec []byte, changed map[string]any) {
	w.t.Helper()
	r, err := w.api.Compile(t, spec, w.clock.now())
	if err != nil {
		w.t.Fatal(err)
	}
	var echo map[string]any
	if err := json.Unmarshal(r.Body, &echo); err != nil {
		w.t.Fatal(err)
	}
	for k, v := range changed {
		echo[k] = v
	}
	body, err := json.Marshal(echo)
	if err != nil {
		w.t.Fatal(err)
	}
	dry := true
	w.sim.Fail(fabricsim.Fault{
		Match: fabricsim.Match{Method: "POST", Path: r.Path, DryRun: &dry},
		Do:    fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 200, Body: body},
	})
}

func put(t *testing.T, w *world, asset map[string]any) {
	t.Helper()
	if err := w.sim.Put(asset); err != nil {
		t.Fatal(err)
	}
}

// golden compares with a file under testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name)+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update makes it", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}
