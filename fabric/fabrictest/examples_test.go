package fabrictest

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fabricbroker/broker"
	"fabricbroker/fabric"
)

// example is a response of the specification.
type example struct {
	name   string
	op     string
	status int
	body   []byte
	doc    map[string]any // nil where it is no object
}

func examples(t *testing.T) []example {
	t.Helper()
	var out []example
	for _, file := range files(t, facts(t, "examples/*/*.response.json")) {
		e := example{op: filepath.Base(filepath.Dir(file)), body: read(t, file), status: 400}
		e.name = e.op + "/" + strings.TrimSuffix(filepath.Base(file), ".response.json")
		if code, _, _ := strings.Cut(filepath.Base(file), "-"); len(code) == 3 {
			if n, err := strconv.Atoi(code); err == nil {
				e.status = n
			}
		}
		_ = json.Unmarshal(e.body, &e.doc)
		out = append(out, e)
	}
	return out
}

func (e example) ok() bool { return e.status < 300 }

func (e example) dryRun() bool { return strings.Contains(strings.ToLower(e.name), "dryrun") }

// text is a text of the example, "" where it has none.
func (e example) text(key string) string { s, _ := e.doc[key].(string); return s }

// requestOf is a request of ours for the operation of an example; other
// examples are held against a connection.
func requestOf(all map[string]broker.Request, op string) broker.Request {
	switch op {
	case "createNetwork":
		return all["network"]
	case "createServiceToken":
		return all["token-a"]
	case "createCloudRouter":
		return all["router"]
	}
	return all["port-to-profile"]
}

// TestExamplesAsAnswersToCreates: a uuid proves a create, whatever else an
// answer has; without one the outcome is unknown, never a failure.
func TestExamplesAsAnswersToCreates(t *testing.T) {
	requests := goldens(t)
	unknown := 0
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			r := requestOf(requests, e.op)
			res := create(t.Context(), answering(t, e.status, e.body), r)
			switch {
			case !e.ok():
				e.checkErrors(t, res.Outcome, res.Upstream)
			case e.text("uuid") == "":
				if unknown++; res.Outcome != broker.OutcomeUnknown {
					t.Errorf("no uuid, but the outcome is %s", res.Outcome)
				}
			default:
				if res.Outcome != broker.OutcomeCreated || res.UUID != e.text("uuid") {
					t.Errorf("outcome %s, uuid %s, want %s", res.Outcome, res.UUID, e.text("uuid"))
				}
				if name := e.text("name"); name != "" && res.Name != name {
					t.Errorf("name %q, want %q", res.Name, name)
				}
				if state := e.text("state"); state != "" && res.State != state {
					t.Errorf("state %q, want %q", res.State, state)
				}
			}
		})
	}
	if unknown == 0 {
		t.Error("no example lacks a uuid")
	}
}

// checkErrors: every entry of an error is told with its code and message.
func (e example) checkErrors(t *testing.T, outcome broker.Outcome, told []broker.UpstreamError) {
	t.Helper()
	entries := e.errors()
	taken := false
	for _, want := range entries {
		code, _ := want["errorCode"].(string)
		message, _ := want["errorMessage"].(string)
		taken = taken || code == "EQ-3142102"
		if !slices.ContainsFunc(told, func(u broker.UpstreamError) bool {
			return u.Code == strings.TrimSpace(code) && u.Message == strings.Join(strings.Fields(message), " ")
		}) {
			t.Errorf("%s %q is not told: %+v", code, message, told)
		}
	}
	rejects := slices.Contains([]int{400, 401, 403, 404, 405, 413, 415, 422, 429}, e.status) && len(entries) > 0 && !taken
	if rejects != (outcome == broker.OutcomeRejected) || !rejects && outcome != broker.OutcomeUnknown {
		t.Errorf("status %d: the outcome is %s", e.status, outcome)
	}
}

func (e example) errors() []map[string]any {
	var out []map[string]any
	if json.Unmarshal(e.body, &out) != nil && e.doc != nil {
		out = []map[string]any{e.doc}
	}
	return slices.DeleteFunc(out, func(m map[string]any) bool { return m["errorCode"] == nil && m["errorMessage"] == nil })
}

// TestExamplesAsDryRuns: every published answer to a dry run counts as one that
// passed.
func TestExamplesAsDryRuns(t *testing.T) {
	requests := goldens(t)
	ran := 0
	for _, e := range examples(t) {
		if !e.ok() || !e.dryRun() || !strings.HasPrefix(e.op, "create") || e.op == "createPort" {
			continue
		}
		ran++
		t.Run(e.name, func(t *testing.T) {
			r := requestOf(requests, e.op)
			body, err := json.Marshal(map[string]any{"name": e.doc["name"], "type": e.doc["type"]})
			if err != nil {
				t.Fatal(err)
			}
			r.Name, r.Body = e.text("name"), body
			v, err := answering(t, e.status, e.body).Validate(t.Context(), r)
			if err != nil || !json.Valid(v.Entity) {
				t.Errorf("%v, entity %s", err, v.Entity)
			}
		})
	}
	if ran < 13 {
		t.Errorf("only %d dry runs", ran)
	}
}

// kinds are the assets of the operations that read them.
var kinds = map[string]string{
	"getConnectionByUuid": "connection", "getNetworkByUuid": "network", "getServiceTokenByUuid": "service_token",
	"getCloudRouterByUuid": "cloud_router", "getPortByUuid": "port", "getServiceProfileByUuid": "service_profile",
	"searchConnections": "connection", "searchNetworks": "network", "searchServiceTokens": "service_token",
	"searchCloudRouters": "cloud_router", "searchPorts": "port", "searchServiceProfiles": "service_profile",
}

const anyUUID = "0f6bdb36-e130-4924-b038-ee1785fad166"

// TestExamplesAsReads: every published answer can be read, and says its errors.
func TestExamplesAsReads(t *testing.T) {
	for _, e := range examples(t) {
		kind := kinds[e.op]
		if kind == "" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			api := answering(t, e.status, e.body)
			if strings.HasPrefix(e.op, "search") {
				page, err := api.Search(t.Context(), fabric.SearchQuery{Kind: kind, ProjectID: "p"})
				if rows, _ := e.doc["data"].([]any); e.ok() && (err != nil || len(page.Items) != len(rows) && e.doc != nil) {
					t.Errorf("%d items of %d: %v", len(page.Items), len(rows), err)
				}
				e.checkRefusal(t, err)
				return
			}
			got, err := api.Get(t.Context(), kind, anyUUID)
			e.checkRefusal(t, err)
			if !e.ok() {
				return
			}
			for _, key := range []string{"name", "state"} {
				if want := e.text(key); got[key] != want && want != "" {
					t.Errorf("%s is %v, want %s", key, got[key], want)
				}
			}
			id, _ := got["uuid"].(string)
			if want := e.text("uuid"); id != want && (kind != "service_token" || !strings.HasSuffix(want, strings.TrimLeft(id, "."))) {
				t.Errorf("uuid is %s, want %s", id, want)
			}
		})
	}
}

func (e example) checkRefusal(t *testing.T, err error) {
	t.Helper()
	var refusal *broker.Refusal
	switch {
	case e.ok() && err != nil:
		t.Error(err)
	case !e.ok() && !errors.As(err, &refusal):
		t.Errorf("%v is no refusal", err)
	case !e.ok() && e.status < 500 && len(refusal.Upstream) < len(e.errors()): // 5xx is retried until the time is over
		t.Errorf("%+v tells less than %s", refusal.Upstream, e.body)
	}
}

// TestExamplesAsPrices: an answer to a price search gives a price or a reason.
func TestExamplesAsPrices(t *testing.T) {
	requests := goldens(t)
	for _, e := range examples(t) {
		if e.op != "searchPrices" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"port-to-profile", "router", "network"} {
				if q := answering(t, e.status, e.body).Quote(t.Context(), requests[name]); !q.Priced && !q.Unbilled && q.Note == "" {
					t.Errorf("%s: unpriced without a reason: %+v", name, q)
				}
			}
		})
	}
}
