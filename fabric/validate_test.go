package fabric_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

func TestValidate(t *testing.T) {
	r := newRig(t)
	req := compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017))
	got, err := r.api.Validate(t.Context(), req)
	if err != nil {
		t.Fatal(whole(err))
	}
	if len(got.Warnings) != 0 || len(got.Differences) != 0 {
		t.Errorf("warnings %+v, differences %+v", got.Warnings, got.Differences)
	}
	mentions(t, got.Brief, "SIM-DC-10G-DOT1Q-1", "AWS Direct Connect")
	if !json.Valid(got.Entity) || !strings.Contains(string(got.Entity), `"c-1"`) {
		t.Errorf("entity %s", got.Entity)
	}
	var sent string
	for _, e := range r.sim.History() {
		if e.DryRun {
			sent = e.Query + " " + string(e.Body)
		}
	}
	if sent != "dryRun=true "+string(req.Body) {
		t.Errorf("sent %s", sent)
	}
	if n := len(r.sim.Assets(fabricsim.KindConnection)); n != 1 {
		t.Errorf("%d connections, want the world's one", n)
	}
}

// I1: a dry run passes on positive evidence only.
func TestDryRunVerdicts(t *testing.T) {
	const uuid = "000ef887-ea93-5179-9f99-3966ce2f0fba"
	echo := func(extra string) string { return `{"type":"EVPLAN","name":"n-1"` + extra + `}` }
	rows := map[string]struct {
		do      fabricsim.Action
		code    broker.Code // "" = passed
		sent    int         // dry runs
		mention []string
	}{
		"passed/200":                   {status(200, echo("")), "", 1, nil},
		"passed/201":                   {status(201, echo(`,"href":"x"`)), "", 1, nil},
		"passed/202":                   {status(202, echo(`,"uuid":null,"state":null`)), "", 1, nil},
		"created/uuid":                 {status(200, echo(`,"uuid":"`+uuid+`","state":"PROVISIONING"`)), broker.ErrDryRunCreated, 1, []string{uuid}},
		"created/uuid of another type": {status(201, `{"uuid":"`+uuid+`"}`), broker.ErrDryRunCreated, 1, []string{uuid}},
		"created/location":             {fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 202, Headers: map[string]string{"Location": "/fabric/v4/networks/" + uuid}}, broker.ErrDryRunCreated, 1, []string{uuid}},
		"created/for real":             {fabricsim.Action{Kind: fabricsim.FaultIgnoreDryRun}, broker.ErrDryRunCreated, 1, nil},
		"created/with a 500":           {status(500, echo(`,"uuid":"`+uuid+`"`)), broker.ErrDryRunCreated, 1, nil},
		"unclear/state":                {status(200, echo(`,"state":"ACTIVE"`)), broker.ErrDryRunUnclear, 1, []string{"state"}},
		"unclear/changeLog":            {status(200, echo(`,"changeLog":{}`)), broker.ErrDryRunUnclear, 1, []string{"changeLog"}},
		"unclear/uuid that is none":    {status(200, echo(`,"uuid":"a/b"`)), broker.ErrDryRunUnclear, 1, []string{"uuid"}},
		"unclear/another name":         {status(200, `{"type":"EVPLAN","name":"n-2"}`), broker.ErrDryRunUnclear, 1, []string{"name"}},
		"unclear/another type":         {status(200, `{"type":"IPWAN","name":"n-1"}`), broker.ErrDryRunUnclear, 1, []string{"type"}},
		"unclear/no type":              {status(200, `{"name":"n-1"}`), broker.ErrDryRunUnclear, 1, nil},
		"unclear/empty":                {fabricsim.Action{Kind: fabricsim.FaultEmptyBody, Status: 200}, broker.ErrDryRunUnclear, 1, nil},
		"unclear/empty object":         {status(200, `{}`), broker.ErrDryRunUnclear, 1, nil},
		"unclear/list":                 {status(200, `[{"type":"EVPLAN","name":"n-1"}]`), broker.ErrDryRunUnclear, 1, nil},
		"unclear/page":                 {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 200}, broker.ErrDryRunUnclear, 1, nil},
		"unclear/truncated":            {fabricsim.Action{Kind: fabricsim.FaultTruncated, Bytes: 30}, broker.ErrDryRunUnclear, 1, nil},
		"unclear/two documents":        {status(200, `"{\"type\":\"EVPLAN\",\"name\":\"n-1\"} {}"`), broker.ErrDryRunUnclear, 1, nil},
		"rejected/400":                 {status(400, `[{"errorCode":"EQ-1","errorMessage":"no","additionalInfo":[{"property":"/scope"}]}]`), broker.ErrDryRunRejected, 1, []string{"EQ-1", "at scope"}},
		"rejected/403":                 {status(403, `[{"errorCode":"EQ-3045003","errorMessage":"Operation not allowed"}]`), broker.ErrDryRunRejected, 1, nil},
		"unsupported":                  {status(400, `[{"errorCode":"EQ-3142411","errorMessage":"Dry run is not supported"}]`), broker.ErrDryRunUnsupported, 1, nil},
		"unavailable/500":              {status(500, `[{"errorCode":"EQ-3041011","errorMessage":"Internal"}]`), broker.ErrUpstreamUnavailable, 1, []string{"EQ-3041011"}},
		"unavailable/502":              {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 502}, broker.ErrUpstreamUnavailable, 1, []string{"502", "text/html"}},
		"unavailable/403 page":         {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 403}, broker.ErrUpstreamUnavailable, 1, []string{"403"}},
		"unavailable/503":              {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 503}, broker.ErrUpstreamUnavailable, 2, []string{"503", "text/html"}},
		"unavailable/reset":            {fabricsim.Action{Kind: fabricsim.FaultReset}, broker.ErrUpstreamUnavailable, 1, nil},
		"unavailable/commit and reset": {fabricsim.Action{Kind: fabricsim.FaultCommitThenReset}, broker.ErrUpstreamUnavailable, 1, nil},
		"rate limited":                 {status(429, ``), broker.ErrUpstreamRateLimited, 2, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			req := compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))
			r.fail("POST", "/fabric/v4/networks", dry, row.do, 0)
			_, err := r.api.Validate(t.Context(), req)
			if n := r.count("POST", "/fabric/v4/networks?dryRun=true"); n != row.sent {
				t.Errorf("%d dry runs, want %d", n, row.sent)
			}
			if row.code == "" {
				if err != nil {
					t.Errorf("refused: %s", whole(err))
				}
				return
			}
			got := refusal(t, err)
			if got.Code != row.code || got.NextStep == "" {
				t.Errorf("got %s, want %s", whole(got), row.code)
			}
			mentions(t, got, row.mention...)
			for _, decoder := range []string{"invalid character", "unexpected end", "json:"} {
				if strings.Contains(whole(got), decoder) {
					t.Errorf("%q of the decoder is in %s", decoder, whole(got))
				}
			}
			if row.code == broker.ErrDryRunCreated && (got.Result == nil || got.Result.UUID == "" || got.Result.Outcome != broker.OutcomeCreated) {
				t.Errorf("result %+v", got.Result)
			}
		})
	}
	t.Run("recovers/after one 503", func(t *testing.T) {
		r := newRig(t)
		r.fail("POST", "/fabric/v4/networks", dry, status(503, ""), 1)
		if _, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))); err != nil {
			t.Error(err)
		}
	})
	t.Run("refuses/in time", func(t *testing.T) {
		r := newRig(t, func(o *fabric.Options) { o.DryRunTimeout = 50 * time.Millisecond })
		r.fail("POST", "/fabric/v4/networks", dry, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 5000}, 0)
		_, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.NetworkCreate, netSpec("n-1")))
		mentions(t, refusal(t, err), "too long")
	})
	t.Run("refuses/when nobody listens", func(t *testing.T) {
		api := newAPI(t, "http://127.0.0.1:1", withToken)
		_, err := api.Validate(t.Context(), compiled(t, api, broker.NetworkCreate, netSpec("n-1")))
		if refusal(t, err).Code != broker.ErrUpstreamUnavailable {
			t.Errorf("got %v", err)
		}
	})
}

// A router's connection may come back as EVPL_VC: Fabric's own examples do.
func TestDryRunEchoOfRouterConnection(t *testing.T) {
	r := newRig(t)
	spec := fmt.Sprintf(`{"type":"IP_VC","name":"c-1","bandwidth_mbps":50,"notification_emails":["noc@example.net"],"project_id":%q,
		"a_side":{"cloud_router_uuid":%q},"z_side":{"port_uuid":%q,"link_protocol":{"type":"dot1q","vlan_tag":1200}}}`, fabricsim.Project, routerDC, portSV)
	r.fail("POST", "/fabric/v4/connections", dry, status(200, `{"type":"EVPL_VC","name":"c-1","bandwidth":"50","redundancy":{"group":"x"},"notifications":{"type":"ALL","emails":["noc@example.net"]}}`), 0)
	got, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.ConnectionCreate, spec))
	if err != nil || len(got.Differences) != 1 || got.Differences[0] != (broker.Difference{Path: "type", Sent: `"IP_VC"`, Returned: `"EVPL_VC"`}) {
		t.Errorf("got %+v, %v", got.Differences, err)
	}
}

func TestDifferences(t *testing.T) {
	r := newRig(t)
	req := compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017))
	r.fail("POST", "/fabric/v4/connections", dry, status(200, `{"type":"evpl_vc","name":"c-1","bandwidth":100,
		"aSide":{"accessPoint":{"type":"colo","port":{"uuid":"`+strings.ToUpper(portDC)+`","name":"x"},"linkProtocol":{"type":"DOT1Q","vlanTag":"1017"}}},
		"zSide":{"accessPoint":{"authenticationKey":"999999999999","sellerRegion":"us-west-1"}},
		"notifications":[{"type":"ALL","emails":["noc@example.net","more@example.net"]}]}`), 0)
	got, err := r.api.Validate(t.Context(), req)
	if err != nil {
		t.Fatal(whole(err))
	}
	paths := []string{}
	for _, d := range got.Differences {
		paths = append(paths, d.Path)
	}
	if want := "bandwidth_mbps notification_emails z_side.authentication_key z_side.seller_region"; strings.Join(paths, " ") != want {
		t.Errorf("got %+v, want %s", got.Differences, want)
	}
}

// The order of precedence: an asset that exists, then the look-ups, then the dry
// run, whose errors the look-ups' refusal carries too.
func TestPrecedence(t *testing.T) {
	r := newRig(t)
	req := compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 75, 1017))
	_, err := r.api.Validate(t.Context(), req)
	got := refusal(t, err)
	if got.Code != broker.ErrPreflightFailed || len(got.Issues) != 1 || got.Issues[0].Path != "bandwidth_mbps" || len(got.Upstream) == 0 {
		t.Errorf("got %s", whole(got))
	}
	r.fail("POST", "/fabric/v4/connections", dry, status(200, `{"uuid":"000ef887-ea93-5179-9f99-3966ce2f0fba"}`), 0)
	_, err = r.api.Validate(t.Context(), req)
	if got := refusal(t, err); got.Code != broker.ErrDryRunCreated {
		t.Errorf("got %s", whole(got))
	}
}

func TestHints(t *testing.T) {
	r := newRig(t)
	google2 := func(o string) string {
		return strings.NewReplacer(aws, google, "us-east-1", "us-east4", "210987654321", "05513e4d-4a8b-54cb-ac88-177e2c27776e/us-east4/1").Replace(o)
	}
	rows := map[string]struct{ spec, body string }{
		"1017": {awsSpec("c-1", 50, 1017), `[{"errorCode":"EQ-3142102","errorMessage":"duplicate VLAN","additionalInfo":[{"property":"/aSide/accessPoint/linkProtocol"}]}]`},
		"service key": {
			strings.Replace(strings.Replace(awsSpec("c-1", 50, 1017), aws, azure, 1), `"210987654321"`, `"9e7aea28-b0ff-5934-96cd-e00067e30a25","peering_type":"private"`, 1),
			`[{"errorCode":"EQ-3142501","errorMessage":"Invalid input","additionalInfo":[{"property":"/zSide/accessPoint/authenticationKey"}]}]`,
		},
		"one per zone": {google2(awsSpec("c-1", 50, 1017)), `[{"errorCode":"EQ-3142303","errorMessage":"Only Primary connection allowed for this CSP","additionalInfo":[{"property":"/redundancy/priority"}]}]`},
		"STANDARD":     {awsSpec("c-1", 50, 1017), `[{"errorCode":"EQ-3040028","errorMessage":"Package not found"}]`},
	}
	for word, row := range rows {
		t.Run(word, func(t *testing.T) {
			r.sim.ClearFaults()
			r.fail("POST", "/fabric/v4/connections", dry, status(400, row.body), 0)
			_, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.ConnectionCreate, row.spec))
			got := refusal(t, err)
			if got.Code != broker.ErrDryRunRejected {
				t.Errorf("got %s", whole(got))
			}
			mentions(t, got, word)
		})
	}
	t.Run("every error with its path", func(t *testing.T) {
		r.sim.ClearFaults()
		r.fail("POST", "/fabric/v4/connections", dry, status(400, `[{"errorCode":"EQ-3142306","errorMessage":"Requested bandwidth is not supported","correlationId":"t-2","additionalInfo":[{"property":"/bandwidth"}]},
			{"errorCode":"EQ-3142308","errorMessage":"Authentication key is required","additionalInfo":[{"property":"/zSide/accessPoint/authenticationKey"}]}]`), 0)
		_, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017)))
		mentions(t, refusal(t, err).Message, "EQ-3142306", "at bandwidth_mbps", "EQ-3142308", "at z_side.authentication_key")
	})
}

func TestValidateIsCancelled(t *testing.T) {
	r := newRig(t)
	r.fail("POST", "/fabric/v4/networks", dry, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 5000}, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := r.api.Validate(ctx, compiled(t, r.api, broker.NetworkCreate, netSpec("n-1")))
	if refusal(t, err).Code != broker.ErrUpstreamUnavailable || r.count(http.MethodPost, "/fabric/v4/networks?dryRun=true") > 1 {
		t.Errorf("got %v", err)
	}
}
