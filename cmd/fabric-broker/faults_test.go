package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

const (
	readableError = `[{"errorCode":"EQ-3142501","errorMessage":"Invalid input"}]`
	brokenError   = `[{"errorCode":"EQ-3041011","errorMessage":"Internal Server Error"}]`
)

// faultKinds are every kind of fault, with what makes a difference to it.
//
// A commit that is answered 400 with a readable error is left out: such an
// answer is what a refusal is.
var faultKinds = map[string]fabricsim.Action{
	"status 200 with nothing in it": {Kind: fabricsim.FaultStatus, Status: 200, Body: []byte(`{}`)},
	"status 400":                    {Kind: fabricsim.FaultStatus, Status: 400, Body: []byte(readableError)},
	"status 400 unreadable":         {Kind: fabricsim.FaultStatus, Status: 400, Body: []byte(`"no"`)},
	"status 401":                    {Kind: fabricsim.FaultStatus, Status: 401, Body: []byte(readableError)},
	"status 403":                    {Kind: fabricsim.FaultStatus, Status: 403, Body: []byte(readableError)},
	"status 404":                    {Kind: fabricsim.FaultStatus, Status: 404, Body: []byte(readableError)},
	"status 408":                    {Kind: fabricsim.FaultStatus, Status: 408, Body: []byte(readableError)},
	"status 409":                    {Kind: fabricsim.FaultStatus, Status: 409, Body: []byte(readableError)},
	"status 429":                    {Kind: fabricsim.FaultStatus, Status: 429, RetryAfter: 1, Body: []byte(readableError)},
	"status 500":                    {Kind: fabricsim.FaultStatus, Status: 500, Body: []byte(brokenError)},
	"status 503":                    {Kind: fabricsim.FaultStatus, Status: 503},
	"delay":                         {Kind: fabricsim.FaultDelay, Milliseconds: 1500},
	"delay beyond every deadline":   {Kind: fabricsim.FaultDelay, Milliseconds: 300_000},
	"reset":                         {Kind: fabricsim.FaultReset},
	"commit then reset":             {Kind: fabricsim.FaultCommitThenReset},
	"commit then hang":              {Kind: fabricsim.FaultCommitThenHang},
	"commit then 504":               {Kind: fabricsim.FaultCommitThenStatus},
	"commit then 500":               {Kind: fabricsim.FaultCommitThenStatus, Status: 500, Body: []byte(brokenError)},
	"commit then 409":               {Kind: fabricsim.FaultCommitThenStatus, Status: 409, Body: []byte(readableError)},
	"commit then 408":               {Kind: fabricsim.FaultCommitThenStatus, Status: 408, Body: []byte(readableError)},
	"commit then 400 unreadable":    {Kind: fabricsim.FaultCommitThenStatus, Status: 400, Body: []byte(`"no"`)},
	"empty body":                    {Kind: fabricsim.FaultEmptyBody, Status: 201},
	"commit with an empty body":     {Kind: fabricsim.FaultEmptyBody, Status: 201, Commit: true},
	"page":                          {Kind: fabricsim.FaultHTML},
	"commit with a page":            {Kind: fabricsim.FaultHTML, Commit: true},
	"commit with a page and 200":    {Kind: fabricsim.FaultHTML, Status: 200, Commit: true},
	"truncated":                     {Kind: fabricsim.FaultTruncated, Bytes: 20},
	"commit, truncated at once":     {Kind: fabricsim.FaultTruncated, Commit: true},
	"commit, truncated":             {Kind: fabricsim.FaultTruncated, Bytes: 20, Commit: true},
	"commit, truncated at the end":  {Kind: fabricsim.FaultTruncated, Bytes: 1 << 20, Commit: true},
	"unknown state":                 {Kind: fabricsim.FaultUnknownState, State: "SIDEWAYS"},
	"ignored dry run":               {Kind: fabricsim.FaultIgnoreDryRun},
	"redirect":                      {Kind: fabricsim.FaultRedirect},
	"redirect 302":                  {Kind: fabricsim.FaultRedirect, Status: 302},
	"slow index":                    {Kind: fabricsim.FaultSlowIndex, Milliseconds: 90_000},
}

// ofCreates are variants that only an answer to a create is judged by; the
// other steps get one of each kind.
var ofCreates = []string{
	"status 403", "status 404", "status 408", "status 409", "commit then 500", "commit then 409", "commit then 408",
	"commit then 400 unreadable", "commit with a page", "commit with a page and 200", "commit with an empty body",
	"commit, truncated at once", "commit, truncated", "commit, truncated at the end", "redirect 302",
}

// faultStep is where a fault happens. What is armed at first is there when the
// change is proposed, what is armed later only after that.
type faultStep struct {
	match func(path string) fabricsim.Match
	later bool
	// harmless: nothing of it may cost the proposal (I11).
	harmless bool
	// lost has the create's answer lost as well.
	lost bool
	// setup of the world; nil = none.
	setup setup
}

func matching(method, path string, dryRun *bool) func(string) fabricsim.Match {
	return func(collection string) fabricsim.Match {
		return fabricsim.Match{Method: method, Path: strings.ReplaceAll(path, "COLLECTION", collection), DryRun: dryRun}
	}
}

var (
	isDry, isLive = true, false
	faultSteps    = map[string]faultStep{
		"log-in":  {match: matching("POST", "/oauth2/v1/token", nil)},
		"look-up": {match: matching("GET", "/fabric/v4/*/*", nil), harmless: true},
		"dry run": {match: matching("POST", "COLLECTION", &isDry)},
		"price":   {match: matching("POST", "/fabric/v4/prices/search", nil), harmless: true},
		"search":  {match: matching("POST", "COLLECTION/search", nil), harmless: true},
		"recheck": {match: matching("POST", "COLLECTION", &isDry), later: true},
		// Tokens live for less than a create asks for: each one logs in.
		"log-in before the create":   {match: matching("POST", "/oauth2/v1/token", nil), later: true, setup: func(s *worldSetup) { s.sim.TokenLife = 4 * time.Minute }},
		"create":                     {match: matching("POST", "COLLECTION", &isLive), later: true},
		"search after a lost create": {match: matching("POST", "COLLECTION/search", nil), later: true, lost: true},
	}
)

// faultTypes are one spec of every change type.
func faultTypes() []proposable {
	var out []proposable
	seen := map[broker.ChangeType]bool{}
	for _, p := range proposables() {
		if !seen[p.kind] {
			seen[p.kind] = true
			out = append(out, p)
		}
	}
	return out
}

// TestFaults: whatever goes wrong wherever, what is reported is what the
// provider holds, and nothing is sent twice (I2, I8, I11).
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, p := range faultTypes() {
		for where, step := range faultSteps {
			for what, do := range faultKinds {
				if where != "create" && slices.Contains(ofCreates, what) {
					continue
				}
				t.Run(string(p.kind)+"/"+where+"/"+what, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						playFault(t, p, step, do, func(s *worldSetup) {
							s.options.Endpoint, s.options.Transport = promptEndpoint, s.sim.RoundTripper()
						})
					})
				})
			}
		}
	}
}

// TestFaultsOfSockets: on a real connection it can be told whether a byte has
// left.
func TestFaultsOfSockets(t *testing.T) {
	t.Parallel()
	for what, do := range faultKinds {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if do.Milliseconds > 0 {
				do.Milliseconds = min(do.Milliseconds, 1000)
			}
			playFault(t, faultTypes()[0], faultSteps["create"], do, func(s *worldSetup) { s.options.CreateTimeout = 700 * time.Millisecond })
		})
	}
}

func playFault(t *testing.T, p proposable, step faultStep, do fabricsim.Action, setups ...setup) {
	if step.setup != nil {
		setups = append(setups, step.setup)
	}
	w := withMoreAssets(t, newWorld(t, append(setups, func(s *worldSetup) { s.start = caseTime })...))
	t.Cleanup(w.sim.Close) // what hangs must not outlive the test
	r, err := w.api.Compile(p.kind, []byte(plainJSON(t, p.spec)), caseTime)
	if err != nil {
		t.Fatal(err)
	}
	fault := fabricsim.Fault{Match: step.match(r.Path), Do: do}
	if !step.later {
		w.sim.Fail(fault)
	}
	c := w.client("2025-11-25", approves)
	proposed := c.call(mutate.ProposeTool, map[string]any{"change_type": p.kind, "spec": p.spec})
	if proposed["confirm_token"] == nil {
		w.checkRefused(proposed, step, do)
		return
	}
	if step.later {
		w.sim.Fail(fault)
	}
	if step.lost {
		w.sim.Fail(fabricsim.Fault{Match: faultSteps["create"].match(r.Path), Do: fabricsim.Action{Kind: fabricsim.FaultCommitThenReset}})
	}
	done := c.confirm(proposed)
	w.checkConfirmed(done, step, do)
	w.checkSettled(c, proposed, done)

	// The token is spent, whatever came of it; nothing leaves a second time.
	sent, _ := w.creates()
	if again := c.confirm(proposed); again["executed"] != false || again.at("error.code") != "token_replayed" && again.at("error.code") != "halted" {
		t.Errorf("a second confirm: %v", again)
	}
	if now, _ := w.creates(); now != sent || sent > 1 {
		t.Errorf("%d creates were sent, and %d after a second confirm", sent, now)
	}
}

// made are the assets that exist because of a request, in a dry run or not.
func (w *world) made() []fabricsim.Asset {
	var out []fabricsim.Asset
	for _, a := range w.sim.Assets("") {
		if a.Created {
			out = append(out, a)
		}
	}
	return out
}

// checkRefused: a proposal that was refused has made nothing, or says what.
func (w *world) checkRefused(got object, step faultStep, do fabricsim.Action) {
	w.t.Helper()
	made := w.made()
	switch {
	case step.harmless && do.Kind != fabricsim.FaultUnknownState: // a state may say that it is not ready
		w.t.Errorf("it cost the proposal: %v", got["error"])
	case len(made) == 0 && got.at("error.code") != string(broker.ErrDryRunCreated):
	case len(made) == 1 && got.at("error.code") == string(broker.ErrDryRunCreated) && sameUUID(got.at("result.uuid"), made[0]):
	default:
		w.t.Errorf("%d assets were made, reported was %v %v", len(made), got["error"], got["result"])
	}
}

// sameUUID allows the end alone of a token's uuid.
func sameUUID(told any, a fabricsim.Asset) bool {
	s, _ := told.(string)
	if a.Kind == fabricsim.KindServiceToken && strings.HasPrefix(s, "...") {
		return strings.HasSuffix(a.UUID, strings.TrimPrefix(s, "..."))
	}
	return s == a.UUID
}

// checkConfirmed compares what a confirm reports with what there is.
func (w *world) checkConfirmed(done object, step faultStep, do fabricsim.Action) {
	w.t.Helper()
	made := w.made()
	wrong := len(made) > 1
	switch done["outcome"] {
	case "created":
		wrong = wrong || len(made) != 1 || done["executed"] != true || !sameUUID(done.at("result.uuid"), made[0])
	case "unknown":
		wrong = wrong || done["executed"] != false || done["error"] != nil
	case "rejected", "not_sent":
		wrong = wrong || len(made) != 0 || done["executed"] != false
	default:
		wrong = true
	}
	if wrong {
		w.t.Errorf("%d assets were made, reported was %v", len(made), done)
	}
	if step.harmless && do.Kind != fabricsim.FaultUnknownState && done["outcome"] != "created" {
		w.t.Errorf("it cost the create: %v", done)
	}
}

// checkSettled asks for the status while the fault lasts, when it is over, and
// after the last look.
func (w *world) checkSettled(c *client, proposed, done object) {
	w.t.Helper()
	made := w.made()
	check := func(when string, want ...any) {
		w.t.Helper()
		list, _ := c.call(mutate.StatusTool, map[string]any{"proposal_id": proposed["proposal_id"]})["proposals"].([]any)
		if len(list) != 1 {
			w.t.Fatalf("status lists %d proposals", len(list))
		}
		now, _ := list[0].(map[string]any)
		for _, o := range want {
			if now["outcome"] == o && (o != "created" || len(made) == 1 && sameUUID(object(now).at("result.uuid"), made[0])) {
				return
			}
		}
		w.t.Errorf("%s: status says %v %v, want %v; %d assets were made", when, now["outcome"], now["result"], want, len(made))
	}
	if done["outcome"] != "unknown" {
		check("at once", done["outcome"])
		return
	}
	found, gone := any("unknown"), any("absent")
	if len(made) == 1 {
		found, gone = "created", "created"
	}
	check("while the fault lasts", "unknown", found)
	w.sim.ClearFaults()
	w.clock.skip(2 * time.Minute) // for a slow index
	check("when it is over", found)
	w.clock.skip(15 * time.Minute)
	check("after the last look", gone)
}
