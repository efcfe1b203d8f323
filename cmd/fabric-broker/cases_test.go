package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// factsEnv names the directory with the facts about the API: cases of creates
// that went wrong in real life, each with what is right.
const factsEnv = "FABRIC_FACTS"

// caseTime is when the cases happen.
var caseTime = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// fabricCase is one file of cases/.
type fabricCase struct {
	ID         string
	ChangeType broker.ChangeType `json:"change_type"`
	Spec       json.RawMessage
	Upstream   []overlay
	Expect     expectation

	Kind, Title, Evidence string
	Source                any
}

// overlay is what the API answers instead of the simulator's own answer.
type overlay struct {
	On      string
	Status  int
	Headers map[string]string
	Body    json.RawMessage
	Times   int
	Fault   string
}

// faultTexts are the faults that cases name in words.
var faultTexts = map[string]fabricsim.Action{
	"502 with HTML body, resource stored":                    {Kind: fabricsim.FaultHTML, Status: 502, Commit: true},
	"read the whole body, store, close the socket":           {Kind: fabricsim.FaultCommitThenReset},
	"store the resource, then never answer (client timeout)": {Kind: fabricsim.FaultCommitThenHang},
}

// alsoThere is what a case needs and the world of all cases lacks.
var alsoThere = map[string][]map[string]any{
	// It is about a price that is not there for Sydney. The provider must be, or
	// the dry run says no before any price counts.
	"B89": {{
		"kind": "service_profile", "uuid": "1bec77a7-c503-5196-83a5-5d489a6056ff", "name": "AWS Direct Connect", "metros": []string{"DC", "SY"},
		"seller_regions":       map[string]any{"SY": []string{"ap-southeast-2"}},
		"supported_bandwidths": []int{50}, "authentication_key": "AWS account id",
	}},
}

// fault returns what o means to the simulator; nil for an ordinary answer.
func (o overlay) fault(t *testing.T) *fabricsim.Fault {
	t.Helper()
	method, path, ok := strings.Cut(o.On, " ")
	if !ok {
		t.Fatalf("upstream on %q names no method", o.On)
	}
	if string(o.Body) == `"echo"` {
		return nil
	}
	path, query, _ := strings.Cut(path, "?")
	f := &fabricsim.Fault{Match: fabricsim.Match{Method: method, Path: path}, Times: o.Times}
	if method == "POST" && isCreate(path) {
		dry := query == "dryRun=true"
		f.Match.DryRun = &dry
	}
	if o.Fault == "" {
		f.Do = fabricsim.Action{Kind: fabricsim.FaultStatus, Status: o.Status, Headers: o.Headers, Body: o.Body}
		return f
	}
	if f.Do, ok = faultTexts[o.Fault]; !ok {
		t.Fatalf("upstream fault %q has no meaning here", o.Fault)
	}
	return f
}

// later reports whether o speaks of what a search finds after the create: the
// same search is also made before it.
func (o overlay) later() bool {
	return strings.HasSuffix(o.On, "/search") && !strings.Contains(o.On, "/prices/")
}

// TestCases runs the real flow for every case.
func TestCases(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(factsEnv)
	if dir == "" {
		t.Skip(factsEnv + " is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	assets := readFile(t, filepath.Join(dir, "world.json"))
	for _, file := range files {
		k := readCase(t, file)
		t.Run(k.ID, func(t *testing.T) {
			t.Parallel()
			if k.Expect.Stdout != "" {
				k.runBinary(t, assets)
				return
			}
			for _, era := range k.eras() {
				for _, when := range k.occasions() {
					t.Run(strings.TrimSuffix(era+" "+when, " "), func(t *testing.T) {
						newCaseRun(t, k, assets, era).run(when)
					})
				}
			}
		})
	}
}

// eras are both where the person is asked: they are asked differently.
func (k fabricCase) eras() []string {
	if k.Expect.asks() {
		return []string{"2026-07-28", "2025-11-25"}
	}
	return []string{"2026-07-28"}
}

// occasions are the ways in which a case that names some has to be played.
func (k fabricCase) occasions() []string {
	switch when := k.Expect.When.(type) {
	case nil:
		return []string{""}
	case string:
		return []string{when}
	case []any:
		var all []string
		for _, w := range when {
			s, _ := w.(string)
			all = append(all, s)
		}
		return all
	}
	return []string{"unreadable"}
}

// caseRun is a case under way.
type caseRun struct {
	*testing.T
	k       fabricCase
	w       *world
	c       *client
	tamper  *tamperingLedger
	mu      sync.Mutex
	prompts []string
	outputs []string // every result
	// said is what the outcome is told in; proposed the propose result.
	said     []string
	proposed object
}

func newCaseRun(t *testing.T, k fabricCase, assets []byte, era string) *caseRun {
	t.Helper()
	r := &caseRun{T: t, k: k}
	r.w = newWorld(t, func(s *worldSetup) {
		s.start = caseTime
		s.options.LookupTimeout = 2 * time.Second
		s.options.CreateTimeout = 5 * time.Second
		if k.hangs() {
			s.options.CreateTimeout = 300 * time.Millisecond
		}
		// A price of 600 must not be found in the time that is left.
		s.broker.TTL = 9*time.Minute + 30*time.Second
		s.ledger = func(l broker.Ledger) broker.Ledger {
			r.tamper = &tamperingLedger{Ledger: l}
			return r.tamper
		}
	})
	t.Cleanup(r.w.sim.Close)
	if err := r.w.sim.PutJSON(assets); err != nil {
		t.Fatal(err)
	}
	for _, a := range alsoThere[k.ID] {
		if err := r.w.sim.Put(a); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range k.Upstream {
		if f := o.fault(t); f != nil && !o.later() {
			r.w.sim.Fail(*f)
		}
	}
	r.c = r.w.client(era, r.approve)
	return r
}

func (k fabricCase) hangs() bool {
	return slices.ContainsFunc(k.Upstream, func(o overlay) bool {
		return faultTexts[o.Fault].Kind == fabricsim.FaultCommitThenHang
	})
}

// approve is the person: they approve what they are shown.
func (r *caseRun) approve(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	r.mu.Lock()
	r.prompts = append(r.prompts, req.Params.Message)
	r.mu.Unlock()
	return approves(ctx, req)
}

// call calls a tool and keeps the whole text of its result.
func (r *caseRun) call(tool string, args map[string]any) object {
	r.Helper()
	out := r.c.call(tool, args)
	r.outputs = append(r.outputs, plainJSON(r.T, out))
	return out
}

func (r *caseRun) propose() object {
	r.Helper()
	r.proposed = r.call(mutate.ProposeTool, map[string]any{"change_type": r.k.ChangeType, "spec": r.k.Spec})
	if n := r.k.Expect.HTTPCalls; n != nil && len(r.w.sim.History()) != *n {
		r.Errorf("%d calls were made, want %d", len(r.w.sim.History()), *n)
	}
	r.said = r.outputs[len(r.outputs)-1:]
	return r.proposed
}

// prepare proposes; a token must come.
func (r *caseRun) prepare() object {
	r.Helper()
	if p := r.propose(); p.at("confirm_token") == nil {
		r.Fatalf("the proposal was refused: %v", p["error"])
	}
	return r.proposed
}

func (r *caseRun) confirm() object {
	r.Helper()
	done := r.call(mutate.ConfirmTool, map[string]any{"confirm_token": r.proposed["confirm_token"]})
	r.said = r.outputs[len(r.outputs)-1:]
	return done
}

// status asks what became of the proposal; its answer adds to the outcome's.
func (r *caseRun) status() object {
	r.Helper()
	all := r.call(mutate.StatusTool, map[string]any{"proposal_id": r.proposed["proposal_id"]})
	r.said = append(slices.Clip(r.said), r.outputs[len(r.outputs)-1])
	list, _ := all["proposals"].([]any)
	if len(list) != 1 {
		r.Fatalf("status lists %d proposals, want 1", len(list))
	}
	one, _ := list[0].(map[string]any)
	return one
}

// everything is all that was printed anywhere.
func (r *caseRun) everything() string {
	r.mu.Lock()
	all := append(slices.Clone(r.outputs), r.prompts...)
	r.mu.Unlock()
	all = append(all, r.w.logs.String())
	err := filepath.WalkDir(r.w.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, string(b))
		return err
	})
	if err != nil {
		r.Error(err)
	}
	return strings.Join(all, "\n")
}

// tamperingLedger changes the stored spec below the broker, once alter is set.
type tamperingLedger struct {
	broker.Ledger
	mu    sync.Mutex
	alter func([]byte) []byte
}

func (l *tamperingLedger) set(alter func([]byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alter = alter
}

func (l *tamperingLedger) altered(p broker.Proposal) broker.Proposal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alter != nil && p.Payload != nil {
		payload := *p.Payload
		payload.Spec = l.alter(bytes.Clone(payload.Spec))
		p.Payload = &payload
	}
	return p
}

func (l *tamperingLedger) Load(ctx context.Context, id broker.ID) (broker.Proposal, error) {
	p, err := l.Ledger.Load(ctx, id)
	return l.altered(p), err
}

func (l *tamperingLedger) Move(ctx context.Context, s broker.Step) (broker.Moved, error) {
	m, err := l.Ledger.Move(ctx, s)
	m.Proposal = l.altered(m.Proposal)
	return m, err
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readCase refuses words that it does not know: an expectation that nobody
// checks looks like one that is met.
func readCase(t *testing.T, file string) fabricCase {
	t.Helper()
	var k fabricCase
	dec := json.NewDecoder(bytes.NewReader(readFile(t, file)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&k); err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	return k
}

// plainJSON is v as a model reads it: without HTML escapes.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
