package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"fabricbroker/broker/seal"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// marks are the secrets of a test, each with what it is.
type marks struct {
	mu sync.Mutex
	of map[string]string
}

func (m *marks) add(what, secret string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]string{}
	}
	m.of[secret] = what
	return secret
}

// search fails the test where text has one of the secrets, in either case.
func (m *marks) search(t *testing.T, where, text string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	lower := strings.ToLower(text)
	for secret, what := range m.of {
		if i := strings.Index(lower, strings.ToLower(secret)); i >= 0 {
			t.Errorf("%s has the %s: ...%s...", where, what, text[max(0, i-160):min(len(text), i+len(secret)+60)])
		}
	}
}

// echo answers with an error that repeats everything secret that the request
// carried, in all the places where APIs and gateways put texts. pad moves what
// is cut off a long text.
type echo struct {
	match  fabricsim.Match
	status int
	pad    int
}

func (e *echo) fits(r *http.Request) bool {
	dry := r.URL.Query().Get("dryRun") == "true"
	return (e.match.Method == "" || e.match.Method == r.Method) && (e.match.Path == "" || e.match.Path == r.URL.Path) &&
		(e.match.DryRun == nil || *e.match.DryRun == dry)
}

func (e *echo) answer(rw http.ResponseWriter, r *http.Request, body []byte) {
	text := strings.Repeat("x", e.pad) + " " + r.Header.Get("Authorization") + " " + r.URL.Path + " " + string(body)
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Echo", "Bearer "+r.Header.Get("Authorization"))
	rw.WriteHeader(e.status)
	_ = json.NewEncoder(rw).Encode([]map[string]any{{
		"errorCode": "EQ-3142999", "errorMessage": text, "details": text, "correlationId": text, "help": text,
		"additionalInfo": []map[string]any{{"property": "/zSide/accessPoint/authenticationKey", "reason": text}, {"property": text, "reason": text}},
	}})
}

// secretWorld is a simulator whose bearer tokens are marked as they are used.
type secretWorld struct {
	sim   *fabricsim.Sim
	url   string
	state string
	marks *marks
	env   []string
	echo  atomic.Pointer[echo]
}

const meadow = "22222222-aaaa-4bbb-8ccc-0000000000ff"

func newSecretWorld(t *testing.T) *secretWorld {
	t.Helper()
	w := &secretWorld{sim: &fabricsim.Sim{SettleAfter: -1}, state: t.TempDir() + "/state", marks: &marks{}}
	(&world{t: t, sim: w.sim}).seed()
	if err := w.sim.Put(map[string]any{
		"kind": "service_profile", "uuid": meadow, "name": "Meadow Hosting", "type": "L2_PROFILE", "metros": []string{"DC"},
		"supported_bandwidths": []int{50}, "custom_bandwidth": true, "authentication_key": "service key",
	}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, bearer, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
			w.marks.add("bearer token", bearer)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if e := w.echo.Load(); e != nil && e.fits(r) {
			e.answer(rw, r, body)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.sim.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { w.sim.Close(); srv.Close() })
	w.url = srv.URL
	w.marks.add("client secret", fabricsim.Secret)
	w.env = processEnv(w.url, w.state,
		"EQUINIX_MCP_CONFIRM_SECRET="+w.marks.add("confirm secret", seal.Generate()), "EQUINIX_MCP_LOG_LEVEL=debug",
		"EQUINIX_MCP_MAX_CREATES_PER_DAY=1000", "EQUINIX_MCP_MAX_PENDING=1000", "EQUINIX_MCP_CREATE_TIMEOUT_MS=1000",
		"EQUINIX_MCP_LOOKUP_TIMEOUT_MS=500", "EQUINIX_MCP_PRICING_TIMEOUT_MS=500")
	return w
}

// secretSpecs make a spec for the n-th flow, and mark what is secret in it.
var secretSpecs = map[string]struct {
	changeType, path string
	spec             func(t *testing.T, w *secretWorld, n int) map[string]any
}{
	"connection with a provider key": {"connection_create", "/fabric/v4/connections", func(_ *testing.T, w *secretWorld, n int) map[string]any {
		spec := connectionSpec(fmt.Sprintf("keyed-%d", n), 100+n)
		spec["z_side"] = map[string]any{
			"service_profile_uuid": meadow, "metro_code": "DC",
			"authentication_key": w.marks.add("provider key", fmt.Sprintf("Kq7x%04dMarkedProviderKey%s", n, uuid.NewString())),
		}
		return spec
	}},
	"connection to a service token": {"connection_create", "/fabric/v4/connections", func(t *testing.T, w *secretWorld, n int) map[string]any {
		id := w.marks.add("service token id", uuid.NewString())
		if err := w.sim.Put(map[string]any{
			"kind": "service_token", "uuid": id, "side": "z", "name": "their-token", "state": "INACTIVE", "connection_type": "EVPL_VC",
			"port_uuid": testPortSV, "project_id": testProject, "expires_at": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339),
		}); err != nil {
			t.Fatal(err)
		}
		spec := connectionSpec(fmt.Sprintf("to-token-%d", n), 100+n)
		spec["z_side"] = map[string]any{"service_token_uuid": id}
		return spec
	}},
	"network": {"network_create", "/fabric/v4/networks", func(_ *testing.T, _ *secretWorld, n int) map[string]any {
		return map[string]any{"type": "EVPLAN", "name": fmt.Sprintf("lan-%d", n), "scope": "GLOBAL", "notification_emails": []string{"noc@example.net"}, "project_id": testProject}
	}},
	"service token": {"service_token_create", "/fabric/v4/serviceTokens", func(_ *testing.T, _ *secretWorld, n int) map[string]any {
		return map[string]any{
			"side": "a", "name": fmt.Sprintf("token-%d", n), "connection_type": "EVPL_VC", "bandwidth_limit_mbps": 50, "port_uuid": testPortDC,
			"link_protocol": map[string]any{"type": "dot1q", "vlan_tag": 100 + n}, "project_id": testProject,
			"expires_at": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339), "notification_emails": []string{"noc@example.net"},
		}
	}},
	"cloud router": {"cloud_router_create", "/fabric/v4/routers", func(_ *testing.T, _ *secretWorld, n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprintf("router-%d", n), "metro_code": "DC", "package": "STANDARD", "account_number": fabricsim.Account,
			"project_id": testProject, "notification_emails": []string{"noc@example.net"},
		}
	}},
}

// secretFaults are what goes wrong upstream, beside answers that echo.
func secretFaults() map[string]fabricsim.Action {
	return map[string]fabricsim.Action{
		"none": {}, "unknown state": {Kind: fabricsim.FaultUnknownState, State: "DREAMING"},
		"delay": {Kind: fabricsim.FaultDelay, Milliseconds: 10}, "reset": {Kind: fabricsim.FaultReset},
		"commit then reset": {Kind: fabricsim.FaultCommitThenReset}, "commit then hang": {Kind: fabricsim.FaultCommitThenHang},
		"empty": {Kind: fabricsim.FaultEmptyBody, Status: 200, Commit: true}, "page": {Kind: fabricsim.FaultHTML, Status: 502},
		"truncated": {Kind: fabricsim.FaultTruncated, Bytes: 40, Commit: true}, "redirect": {Kind: fabricsim.FaultRedirect},
		"slow index": {Kind: fabricsim.FaultSlowIndex, Milliseconds: 1000}, "ignored dry run": {Kind: fabricsim.FaultIgnoreDryRun},
	}
}

// I9: no secret is ever printed. Every change type meets every fault, in the
// dry run, the create and the look-ups; then everything that the program has
// said and kept is searched.
func TestNoSecretIsPrinted(t *testing.T) {
	t.Parallel()
	for name, s := range secretSpecs {
		for _, era := range []string{"2025-11-25", modern} {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				w := newSecretWorld(t)
				answers := make(chan object, 1)
				p := start(t, era, w.env, func(prompt object) object {
					select {
					case a := <-answers:
						return a
					default:
						return agrees(prompt)
					}
				})
				yes, no := true, false
				n, outcomes := 0, map[string]int{}
				flow := func() {
					n++
					spec := s.spec(t, w, n)
					_ = os.Remove(filepath.Join(w.state, "halt"))
					proposed := p.propose(s.changeType, spec)
					if proposed["confirm_token"] == nil {
						outcomes[fmt.Sprint(proposed.at("error.code"))]++
						return
					}
					done := p.wait(p.confirm(proposed))
					outcomes[fmt.Sprint(done["outcome"])]++
					p.confirm(proposed) // a replay
					p.call(mutate.StatusTool, object{})
				}
				matches := []fabricsim.Match{
					{Method: "POST", Path: s.path, DryRun: &yes}, {Method: "POST", Path: s.path, DryRun: &no}, {Method: "GET"},
				}
				for i, status := range []int{400, 401, 403, 404, 429, 500, 200, 302} {
					for j, m := range matches {
						w.echo.Store(&echo{match: m, status: status, pad: 41 * (3*i + j)})
						flow()
					}
				}
				w.echo.Store(nil)
				for what, a := range secretFaults() {
					for _, m := range matches {
						if what == "commit then hang" && m.DryRun != &no {
							continue // it would take the time of a whole dry run
						}
						w.sim.ClearFaults()
						if a.Kind != "" {
							w.sim.Fail(fabricsim.Fault{Match: m, Do: a})
						}
						flow()
					}
				}
				w.sim.ClearFaults()
				answers <- object{"action": "decline"}
				flow()
				answers <- object{"action": "cancel"}
				flow()
				flow()
				mistakes(p, s.changeType, s.spec(t, w, n+1))
				_ = p.stdin.Close()
				if code := p.ended(); code != 0 {
					t.Errorf("exit code %d, want 0", code)
				}
				for _, o := range []string{"created", "unknown", "rejected", "not_sent", "dry_run_created", "dry_run_rejected"} {
					if outcomes[o] == 0 {
						t.Errorf("no flow came to %s: %v", o, outcomes)
					}
				}
				w.searchAll(t, p)
			})
		}
	}
}

// mistakes calls with secrets in the wrong places.
func mistakes(p *process, changeType string, spec map[string]any) {
	proposed := p.propose(changeType, spec)
	token := proposed["confirm_token"]
	p.call(mutate.ConfirmTool, object{"confirm_token": token, "also": token})
	p.call(mutate.ConfirmTool, object{"confirm_token": []any{token}})
	p.call(mutate.StatusTool, object{"proposal_id": token})
	p.call(mutate.WithdrawTool, object{"proposal_id": token})
	p.call("fabric_get", object{"kind": "service_token", "uuid": token})
	p.call(mutate.WithdrawTool, object{"proposal_id": proposed["proposal_id"]})
	for _, side := range []string{"a_side", "z_side"} {
		m, _ := spec[side].(map[string]any)
		for k, v := range m {
			if k == "authentication_key" || k == "service_token_uuid" {
				m[k] = fmt.Sprint(v) + "\n"
				p.propose(changeType, spec)
				m[k] = []any{v}
				p.propose(changeType, spec)
				m[k] = v
				m["secret_"+k] = v
				p.propose(changeType, spec)
				spec["name"] = v
				p.propose(changeType, spec)
				p.call("fabric_get", object{"kind": "service_token", "uuid": v})
			}
		}
	}
	p.call("fabric_search", object{"kind": "service_token"})
	p.call("fabric_search", object{"kind": "connection", "limit": 100})
}

// searchAll searches what the process said, but for the places where a secret
// belongs, and what it kept.
func (w *secretWorld) searchAll(t *testing.T, p *process) {
	t.Helper()
	for _, a := range w.sim.Assets("service_token") {
		if a.Created {
			w.marks.add("id of a created service token", a.UUID)
		}
	}
	var lines []string
	given := map[string]bool{}
	for line := range strings.SplitSeq(p.sent.String(), "\n") {
		lines = append(lines, w.permitted(t, line, given))
	}
	for i, line := range lines {
		w.marks.search(t, fmt.Sprintf("line %d of stdout", i+1), line)
	}
	w.marks.search(t, "stderr", p.log.String())
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		w.marks.search(t, path, path+"\n"+string(b))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// permitted marks the secrets that a line may carry, and takes them out where
// they belong: the confirm token in the propose result, the request state in
// the question, the id of a service token in the one result that reports its
// creation: the confirm's, or the first status after an unknown. Structured
// content stands in the text of a result once more.
func (w *secretWorld) permitted(t *testing.T, line string, given map[string]bool) string {
	t.Helper()
	var m object
	if json.Unmarshal([]byte(line), &m) != nil {
		return line
	}
	result := m.object("result")
	if state, ok := result["requestState"].(string); ok {
		w.marks.add("request state", state)
		line = strings.Replace(line, state, "", 1)
	}
	s := result.object("structuredContent")
	if token, ok := s["confirm_token"].(string); ok {
		w.marks.add("confirm token", token)
		line = strings.Replace(line, token, "", 2)
	}
	reports := []object{s}
	proposals, _ := s["proposals"].([]any)
	for _, p := range proposals {
		one, _ := p.(map[string]any)
		reports = append(reports, one)
	}
	for _, r := range reports {
		if id, ok := r.at("result.uuid").(string); ok && !given[id] {
			line = strings.Replace(line, id, "", 4) // uuid and href
			given[id] = true
		}
	}
	return line
}

// A log-in that is refused, with an answer that repeats the credentials.
func TestNoSecretOfALogInIsPrinted(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"client credentials": {"EQUINIX_API_CLIENTSECRET=MarkedClientSecret-5d1e"},
		"token":              {"EQUINIX_API_CLIENTID=", "EQUINIX_API_CLIENTSECRET=", "EQUINIX_API_TOKEN=MarkedApiToken-77ab"},
	} {
		for _, status := range []int{200, 400, 401, 403, 500} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				t.Parallel()
				w := newSecretWorld(t)
				w.marks = &marks{}
				w.marks.add("client secret", "MarkedClientSecret-5d1e")
				w.marks.add("API token", "MarkedApiToken-77ab")
				w.echo.Store(&echo{status: status})
				p := start(t, modern, append(w.env, env...), agrees)
				for range 3 {
					if got := p.propose("connection_create", connectionSpec("dc-aws-01", 1017)); got["error"] == nil {
						t.Errorf("a propose without a log-in came to %v", got)
					}
					p.call("fabric_list_metros", object{})
				}
				_ = p.stdin.Close()
				p.ended()
				w.searchAll(t, p)
			})
		}
	}
}
