package fabric_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

func TestCreate(t *testing.T) {
	for ct, spec := range map[broker.ChangeType]string{
		broker.ConnectionCreate:   awsSpec("c-1", 50, 1017),
		broker.NetworkCreate:      netSpec("n-1"),
		broker.CloudRouterCreate:  routerSpec("r-1"),
		broker.ServiceTokenCreate: tokenSpec("t-1"),
	} {
		t.Run(string(ct), func(t *testing.T) {
			r := newRig(t)
			req := compiled(t, r.api, ct, spec)
			if _, err := r.api.Validate(t.Context(), req); err != nil {
				t.Fatalf("validate: %s", whole(err))
			}
			got := r.api.Create(t.Context(), req, "prop-1", soon())
			if got.Outcome != broker.OutcomeCreated || len(got.UUID) != 36 || got.Name != req.Name || got.State == "" {
				t.Fatalf("got %+v", got)
			}
			last := r.sim.History()[len(r.sim.History())-1]
			if string(last.Body) != string(req.Body) || last.Header.Get("X-Correlation-Id") != "prop-1" || last.Query != "" {
				t.Errorf("sent %s %s %s", last.Query, last.Header, last.Body)
			}
			for k := range last.Header {
				if strings.Contains(strings.ToLower(k), "idempotency") {
					t.Errorf("header %s makes net/http replay the create", k)
				}
			}
		})
	}
}

// A create is sent once, whatever comes back (I2), and what comes back decides
// what is known (I8).
func TestCreateOutcomes(t *testing.T) {
	const uuid = "b7011bd7-a73b-5118-a556-5bda09c0d8bf"
	eq := json.RawMessage(`[{"errorCode":"EQ-3142501","errorMessage":"Invalid input","additionalInfo":[{"property":"/bandwidth","reason":"no"}]}]`)
	type row struct {
		do      fabricsim.Action
		want    broker.Outcome
		code    broker.Code
		uuid    string
		mention []string
	}
	rows := map[string]row{
		"created/state nobody knows":      {do: fabricsim.Action{Kind: fabricsim.FaultUnknownState, State: "WARPING"}, want: broker.OutcomeCreated},
		"created/odd types":               {do: status(201, `{"uuid":"`+uuid+`","name":7,"state":3,"bandwidth":"50","aSide":[]}`), want: broker.OutcomeCreated, uuid: uuid},
		"created/accepted":                {do: status(202, `{"uuid":"`+uuid+`"}`), want: broker.OutcomeCreated, uuid: uuid},
		"created/location alone":          {do: fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 202, Headers: map[string]string{"Location": "https://elsewhere.example/fabric/v4/connections/" + uuid}}, want: broker.OutcomeCreated, uuid: uuid},
		"unknown/location of another":     {do: fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 202, Headers: map[string]string{"Location": "/fabric/v4/ports/" + uuid}}, want: broker.OutcomeUnknown},
		"unknown/empty 2xx":               {do: fabricsim.Action{Kind: fabricsim.FaultEmptyBody, Status: 202, Commit: true}, want: broker.OutcomeUnknown, mention: []string{"202", "empty"}},
		"unknown/2xx without uuid":        {do: status(201, `{"name":"x"}`), want: broker.OutcomeUnknown},
		"unknown/2xx list":                {do: status(201, `[{"uuid":"`+uuid+`"}]`), want: broker.OutcomeUnknown},
		"unknown/2xx with a path as uuid": {do: status(201, `{"uuid":"../../ports/1234"}`), want: broker.OutcomeUnknown},
		"unknown/html 2xx":                {do: fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 200}, want: broker.OutcomeUnknown, mention: []string{"text/html"}},
		"unknown/truncated":               {do: fabricsim.Action{Kind: fabricsim.FaultTruncated, Bytes: 20, Commit: true}, want: broker.OutcomeUnknown},
		"unknown/reset":                   {do: fabricsim.Action{Kind: fabricsim.FaultReset}, want: broker.OutcomeUnknown},
		"unknown/commit then reset":       {do: fabricsim.Action{Kind: fabricsim.FaultCommitThenReset}, want: broker.OutcomeUnknown},
		"unknown/commit then hang":        {do: fabricsim.Action{Kind: fabricsim.FaultCommitThenHang}, want: broker.OutcomeUnknown, mention: []string{"too long"}},
		"unknown/commit then 502":         {do: fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 502, Commit: true}, want: broker.OutcomeUnknown, mention: []string{"502"}},
		"unknown/500 readable":            {do: status(500, string(eq)), want: broker.OutcomeUnknown, mention: []string{"EQ-3142501"}},
		"unknown/503":                     {do: status(503, ""), want: broker.OutcomeUnknown},
		"unknown/408":                     {do: status(408, string(eq)), want: broker.OutcomeUnknown},
		"unknown/409":                     {do: status(409, string(eq)), want: broker.OutcomeUnknown},
		"unknown/307":                     {do: fabricsim.Action{Kind: fabricsim.FaultRedirect, Status: 307}, want: broker.OutcomeUnknown},
		"unknown/400 html":                {do: fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 400}, want: broker.OutcomeUnknown},
		"unknown/403 html":                {do: fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 403}, want: broker.OutcomeUnknown},
		"unknown/401 empty":               {do: status(401, ""), want: broker.OutcomeUnknown},
		"unknown/400 with a uuid":         {do: status(400, `{"errorCode":"EQ-1","uuid":"`+uuid+`"}`), want: broker.OutcomeUnknown},
		"unknown/vlan in use":             {do: status(400, `[{"errorCode":"EQ-3142102","errorMessage":"duplicate VLAN"}]`), want: broker.OutcomeUnknown, mention: []string{"EQ-3142102", "VLAN"}},
		"rejected/400":                    {do: status(400, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected, mention: []string{"bandwidth_mbps"}},
		"rejected/401":                    {do: status(401, `[{"errorCode":"EQ-3000039","errorMessage":"User not found"}]`), want: broker.OutcomeRejected, code: broker.ErrUpstreamUnauthorized},
		"rejected/403":                    {do: status(403, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/404":                    {do: status(404, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/405":                    {do: status(405, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/413 gateway":            {do: status(413, `{"fault":{"faultstring":"Body too large","detail":{"errorcode":"protocol.http.TooBigBody"}}}`), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/415":                    {do: status(415, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/422":                    {do: status(422, string(eq)), want: broker.OutcomeRejected, code: broker.ErrUpstreamRejected},
		"rejected/429":                    {do: status(429, `{"code":"429","message":"slow down"}`), want: broker.OutcomeRejected, code: broker.ErrUpstreamRateLimited},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *fabric.Options) { o.CreateTimeout = time.Second })
			req := compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017))
			r.fail("POST", "/fabric/v4/connections", forReal, row.do, 1)
			got := r.api.Create(t.Context(), req, "prop-1", soon())
			if got.Outcome != row.want || got.Code != row.code || row.uuid != "" && got.UUID != row.uuid {
				t.Errorf("got %+v, want %s %s", got, row.want, row.code)
			}
			if got.Outcome == broker.OutcomeUnknown && got.Detail == "" {
				t.Error("an unknown outcome without a word about it")
			}
			mentions(t, got, row.mention...)
			if n := r.count("POST", "/fabric/v4/connections"); n != 1 {
				t.Errorf("%d creates were sent, want 1", n)
			}
		})
	}
}

func status(n int, body string) fabricsim.Action {
	a := fabricsim.Action{Kind: fabricsim.FaultStatus, Status: n}
	if body != "" {
		a.Body = json.RawMessage(body)
	}
	return a
}

func TestCreateNotSent(t *testing.T) {
	t.Run("refuses/after its time", func(t *testing.T) {
		r := newRig(t)
		req := compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))
		got := r.api.Create(t.Context(), req, "p", time.Now().Add(-time.Millisecond))
		if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrTokenExpired || len(r.sim.History()) != 0 {
			t.Errorf("got %+v and %d requests", got, len(r.sim.History()))
		}
	})
	// I6: the log-in took so long that the time to send had passed meanwhile.
	t.Run("refuses/when the log-in came too late", func(t *testing.T) {
		r := newRig(t)
		req := compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))
		r.fail("POST", "/oauth2/v1/token", nil, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 150}, 1)
		got := r.api.Create(t.Context(), req, "p", time.Now().Add(50*time.Millisecond))
		if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrTokenExpired || r.count("POST", "/fabric/v4/networks") != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("failed log-in", func(t *testing.T) {
		r := newRig(t, func(o *fabric.Options) { o.ClientSecret = broker.NewSecret("wrong-secret") })
		got := r.api.Create(t.Context(), compiled(t, r.api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
		if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrUpstreamUnauthorized {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		api := newAPI(t, "http://127.0.0.1:1", func(o *fabric.Options) { o.ClientID, o.Token = "", broker.NewSecret("token-token") })
		got := api.Create(t.Context(), compiled(t, api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
		if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrUpstreamUnavailable {
			t.Errorf("got %+v", got)
		}
	})
}

// A token with less than five minutes to live is renewed before a create.
func TestCreateRenewsToken(t *testing.T) {
	r := newRig(t)
	r.sim.TokenLife = 4 * time.Minute
	for range 2 {
		if _, err := r.api.Get(t.Context(), "port", portDC); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.count(http.MethodPost, "/oauth2/v1/token"); n != 1 {
		t.Fatalf("%d log-ins for two reads, want 1", n)
	}
	r.api.Create(t.Context(), compiled(t, r.api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
	if n := r.count(http.MethodPost, "/oauth2/v1/token"); n != 2 {
		t.Errorf("%d log-ins, want 2", n)
	}
}

// The answer to a token's create is the token's id. None of it may be quoted.
func TestCreateServiceTokenKeepsItsID(t *testing.T) {
	const uuid = "407f8239-254c-4fe2-a378-458f197e17c4"
	r := newRig(t)
	req := compiled(t, r.api, broker.ServiceTokenCreate, tokenSpec("t-1"))
	for _, body := range []string{`"{\"uuid\":\"` + uuid + `\",\"na"`, `"{\"name\":\"x\",\"uuid\":\"407f8239-254c-4fe2-a3"`} {
		r.sim.ClearFaults()
		r.fail("POST", "/fabric/v4/serviceTokens", forReal, status(201, body), 1)
		got := r.api.Create(t.Context(), req, "p", soon())
		if got.Outcome != broker.OutcomeUnknown || strings.Contains(whole(got), "407f8239") {
			t.Errorf("got %+v", got)
		}
	}
	r.sim.ClearFaults()
	r.fail("POST", "/fabric/v4/serviceTokens", forReal, status(201, `{"uuid":"`+uuid+`","href":"https://api.equinix.com/fabric/v4/serviceTokens/`+uuid+`"}`), 1)
	got := r.api.Create(t.Context(), req, "p", soon())
	if got.UUID != uuid || strings.Contains(got.Href, uuid) {
		t.Errorf("got %+v", got)
	}
}
