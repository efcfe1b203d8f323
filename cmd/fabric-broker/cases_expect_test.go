package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// expectation is what a case expects, in the words of the cases.
type expectation struct {
	Outcome          string
	OutcomeOneOf     []string       `json:"outcome_one_of"`
	ErrorPath        string         `json:"error_path"`
	ErrorMentions    []string       `json:"error_mentions"`
	Mentions         []string       `json:"mentions"`
	Not              []string       `json:"not"`
	HTTPCalls        *int           `json:"http_calls"`
	FabricCalls      *int           `json:"fabric_calls"`
	Wire             any            `json:"wire"`
	WireHas          map[string]any `json:"wire_has"`
	IfCreatedWireHas map[string]any `json:"if_created_wire_has"`
	WireLacks        []string       `json:"wire_lacks"`
	WarningPath      string         `json:"warning_path"`
	CreatePosts      any            `json:"create_posts"`
	CreatePostsMax   *int           `json:"create_posts_max"`
	Creates          *int           `json:"creates"`
	StoredMax        *int           `json:"stored_resources_max"`
	Price            any            `json:"price"`
	ResourceUUID     string         `json:"resource_uuid"`
	NeverPrinted     []string       `json:"never_printed"`
	Assert           []string       `json:"assert"`
	When             any            `json:"when"`
	Needs            string         `json:"needs"`
	Stdout           string         `json:"stdout"`
}

// outcomes play a case until its outcome and check that.
var outcomes = map[string]func(*caseRun){
	"compile_error":              func(r *caseRun) { r.refused(broker.ErrInvalidSpec) },
	"refused":                    func(r *caseRun) { r.refused(broker.ErrInvalidSpec) },
	"prepare_refusal":            func(r *caseRun) { r.refused(broker.ErrPreflightFailed) },
	"auth_error":                 func(r *caseRun) { r.refused(broker.ErrUpstreamUnauthorized) },
	"alarm":                      func(r *caseRun) { r.refused(broker.ErrDryRunCreated) },
	"refused_at_dry_run":         func(r *caseRun) { r.refused(r.k.dryRunCode()) },
	"compile_ok":                 (*caseRun).compiles,
	"compile_ok_with_warning":    (*caseRun).compiles,
	"compile_ok_or_error":        (*caseRun).compilesOrNot,
	"prepare_refusal_or_warning": func(r *caseRun) { r.refusedOrWarned(broker.ErrPreflightFailed) },
	"refused_or_flagged": func(r *caseRun) {
		r.refusedOrWarned(broker.ErrPreflightFailed, broker.ErrUpstreamUnavailable, broker.ErrDryRunRejected)
	},
	"prepared":                           func(r *caseRun) { r.prepare() },
	"created":                            (*caseRun).created,
	"created_waiting":                    (*caseRun).created,
	"unknown_then_reconcile":             (*caseRun).unknown,
	"accepted_id_unknown_then_reconcile": (*caseRun).unknown,
	"unknown_ambiguous":                  (*caseRun).ambiguous,
}

// asks reports whether the person is asked before the outcome is known.
func (e expectation) asks() bool {
	return slices.Contains([]string{
		"created", "created_waiting", "unknown_then_reconcile", "accepted_id_unknown_then_reconcile",
		"unknown_ambiguous", "execute_refused", "", // "" is one of several
	}, e.Outcome)
}

// run plays the case and checks all that it expects.
func (r *caseRun) run(when string) {
	switch e := r.k.Expect; {
	case when != "":
		r.executeRefused(when)
	case len(e.OutcomeOneOf) > 0:
		r.oneOf(e.OutcomeOneOf)
	case outcomes[e.Outcome] == nil:
		r.Fatalf("the outcome %q has no meaning here", e.Outcome)
	default:
		outcomes[e.Outcome](r)
	}
	r.checkText()
	r.checkWire()
	r.checkPrice()
	r.checkCounts(when)
	r.checkAsserts()
	r.checkPrinted()
}

// refused proposes; the code must be one of these.
func (r *caseRun) refused(codes ...broker.Code) {
	r.Helper()
	p := r.propose()
	code, _ := p.at("error.code").(string)
	if !slices.Contains(codes, broker.Code(code)) {
		r.Errorf("error.code is %q, want one of %v: %v", code, codes, p["error"])
	}
	if p.at("confirm_token") != nil {
		r.Error("a refused proposal has a confirm token")
	}
	if want := r.k.Expect.ErrorPath; want != "" && !slices.ContainsFunc(paths(p.at("error.issues")), func(got string) bool {
		return got == want || strings.HasPrefix(got, want+".") || strings.HasPrefix(got, want+"[")
	}) {
		r.Errorf("no issue at or below %s: %v", want, p.at("error.issues"))
	}
}

func paths(list any) []string {
	var out []string
	l, _ := list.([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		p, _ := m["path"].(string)
		out = append(out, p)
	}
	return out
}

// dryRunCode is the code of a dry run that was answered as the overlay says.
func (k fabricCase) dryRunCode() broker.Code {
	for _, o := range k.Upstream {
		if strings.HasSuffix(o.On, "?dryRun=true") && !json.Valid(bytes.Trim(o.Body, `"`)) {
			return broker.ErrUpstreamUnavailable // nothing that reads as an error
		}
	}
	return broker.ErrDryRunRejected
}

// compiles is met by whatever follows a spec that compiles.
func (r *caseRun) compiles() {
	if p := r.propose(); p.at("error.code") == string(broker.ErrInvalidSpec) {
		r.Fatalf("the spec does not compile: %v", p["error"])
	}
	want := r.k.Expect.WarningPath
	if want == "" {
		return
	}
	q, err := r.w.api.Compile(r.k.ChangeType, r.k.Spec, caseTime)
	if err != nil || !slices.ContainsFunc(q.Warnings, func(i broker.Issue) bool { return strings.HasPrefix(i.Path, want) }) {
		r.Errorf("no warning at %s: %v %v", want, q.Warnings, err)
	}
	if r.proposed["confirm_token"] != nil && !slices.ContainsFunc(paths(r.proposed["warnings"]), func(p string) bool { return strings.HasPrefix(p, want) }) {
		r.Errorf("no warning at %s in the result: %v", want, r.proposed["warnings"])
	}
}

func (r *caseRun) compilesOrNot() {
	if p := r.propose(); p.at("error.code") != string(broker.ErrInvalidSpec) && len(r.bodies()) == 0 {
		r.Errorf("neither refused nor sent: %v", p["error"])
	}
}

func (r *caseRun) refusedOrWarned(codes ...broker.Code) {
	if p := r.propose(); p["error"] != nil {
		if code, _ := p.at("error.code").(string); !slices.Contains(codes, broker.Code(code)) {
			r.Errorf("error.code is %q, want one of %v", code, codes)
		}
		return
	}
	if len(paths(r.proposed["warnings"])) == 0 {
		r.Error("neither refused nor warned")
	}
	if r.k.Expect.IfCreatedWireHas != nil {
		said := r.said
		r.confirm()
		r.said = said
	}
}

func (r *caseRun) created() {
	r.prepare()
	done := r.confirm()
	if done.at("outcome") != "created" || done.at("executed") != true || done["error"] != nil {
		r.Errorf("confirm: %v", done)
	}
	if want := r.k.Expect.ResourceUUID; want != "" && done.at("result.uuid") != want {
		r.Errorf("result.uuid is %v, want %s", done.at("result.uuid"), want)
	}
}

func (r *caseRun) oneOf(all []string) {
	r.prepare()
	done := r.confirm()
	got := fmt.Sprint(done["outcome"])
	if done.at("error.code") == string(broker.ErrUpstreamUnauthorized) && done["executed"] == false {
		got = "not_executed_auth"
	}
	if !slices.Contains(all, got) {
		r.Errorf("the outcome is %s, want one of %v: %v", got, all, done)
	}
}

// unknown: the answer was lost. Status then tells what the simulator holds, at
// once where it is there, and after the last look that nothing was found.
func (r *caseRun) unknown() {
	r.prepare()
	r.lost()
	_, made := r.w.creates()
	now := r.status()
	if made == 1 {
		if now["outcome"] != "created" || now.at("result.uuid") != r.made().UUID {
			r.Errorf("status is %v, the simulator holds %s", now, r.made().UUID)
		}
		return
	}
	if now["outcome"] != "unknown" {
		r.Errorf("nothing is there yet, but status says %v", now["outcome"])
	}
	r.w.clock.skip(16 * time.Minute)
	if now := r.status(); now["outcome"] != "absent" {
		r.Errorf("nothing is there at the last look, but status says %v", now["outcome"])
	}
}

func (r *caseRun) lost() object {
	r.Helper()
	done := r.confirm()
	if done["outcome"] != "unknown" || done["executed"] != false || done["error"] != nil {
		r.Errorf("confirm: %v, want the outcome unknown", done)
	}
	return done
}

func (r *caseRun) ambiguous() {
	r.prepare()
	r.lost()
	for _, o := range r.k.Upstream {
		if f := o.fault(r.T); f != nil && o.later() {
			r.w.sim.Fail(*f)
		}
	}
	now := r.status()
	if l, _ := now["candidates"].([]any); now["outcome"] != "unknown" || len(l) < 2 {
		r.Errorf("status is %v with candidates %v, want unknown and several", now["outcome"], now["candidates"])
	}
}

// executeRefused: the confirm is refused on that occasion.
func (r *caseRun) executeRefused(when string) {
	r.prepare()
	var code broker.Code
	switch when {
	case "price at confirm is above the price shown":
		r.w.sim.Fail(priceFault(9999))
		code = broker.ErrPriceChanged
	case "the stored spec is altered below the broker":
		r.tamper.set(func(spec []byte) []byte {
			return bytes.Replace(spec, []byte(`"vlan_tag":1017`), []byte(`"vlan_tag":1018`), 1)
		})
		code = broker.ErrRequestChanged
	case "second confirm":
		r.confirm()
		code = broker.ErrTokenReplayed
	case "expired":
		r.w.clock.skip(11 * time.Minute)
		code = broker.ErrTokenExpired
	default:
		r.Fatalf("the occasion %q has no meaning here", when)
	}
	if done := r.confirm(); done.at("error.code") != string(code) || done["executed"] != false {
		r.Errorf("confirm: %v, want %s", done, code)
	}
}

// priceFault answers price searches with one row for a connection of 50 Mbps
// from a port to a provider, both in DC.
func priceFault(monthly float64) fabricsim.Fault {
	side := func(kind string) map[string]any {
		return map[string]any{"accessPoint": map[string]any{"type": kind, "location": map[string]any{"metroCode": "DC"}}}
	}
	body, _ := json.Marshal(map[string]any{
		"pagination": map[string]any{"offset": 0, "limit": 20, "total": 1},
		"data": []any{map[string]any{
			"type": "VIRTUAL_CONNECTION_PRODUCT", "code": "ECX00015.PROD", "currency": "USD",
			"charges":    []any{map[string]any{"type": "MONTHLY_RECURRING", "price": monthly}},
			"connection": map[string]any{"type": "EVPL_VC", "bandwidth": 50, "aSide": side("COLO"), "zSide": side("SP")},
		}},
	})
	return fabricsim.Fault{
		Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/prices/search"},
		Do:    fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 200, Body: body},
	}
}

// made is the one asset that a create made.
func (r *caseRun) made() fabricsim.Asset {
	for _, a := range r.w.sim.Assets("") {
		if a.Created {
			return a
		}
	}
	return fabricsim.Asset{}
}

// runBinary drives the real program in a process of its own, since the case is
// about its standard output.
func (k fabricCase) runBinary(t *testing.T, assets []byte) {
	sim := &fabricsim.Sim{}
	if err := sim.PutJSON(assets); err != nil {
		t.Fatal(err)
	}
	for _, o := range k.Upstream {
		if f := o.fault(t); f != nil {
			sim.Fail(*f)
		}
	}
	srv := httptest.NewServer(sim)
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "stdio")
	cmd.Env = []string{
		asBinary + "=1", "HOME=" + t.TempDir(), "EQUINIX_MCP_TOOLSETS=mutate", "EQUINIX_API_ENDPOINT=" + srv.URL,
		"EQUINIX_API_CLIENTID=case", "EQUINIX_API_CLIENTSECRET=" + fabricsim.Secret,
	}
	var stdout, stderr lockedBuffer
	cmd.Stderr = &stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "case", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(io.TeeReader(out, &stdout)), Writer: in}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: mutate.ProposeTool, Arguments: map[string]any{"change_type": k.ChangeType, "spec": k.Spec},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := structured(t, res); k.Expect.Outcome != "auth_error" || got.at("error.code") != string(broker.ErrUpstreamUnauthorized) {
		t.Errorf("propose: %v, want %s", got, k.Expect.Outcome)
	}
	if err := errors.Join(session.Close(), cmd.Wait()); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("standard output has a line that is no message: %q", line)
		}
	}
	if strings.Contains(stdout.String()+stderr.String(), fabricsim.Secret) {
		t.Error("the client secret was printed")
	}
}
