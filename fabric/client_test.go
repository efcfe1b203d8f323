package fabric_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

// Assets of the simulator's built-in world.
const (
	portDC    = "f768064f-9585-47ad-a39e-ed24c2c063fe"
	portSV    = "5966eb44-e0c6-4744-9511-3dc30e9a8df5"
	routerDC  = "e66c0e98-1942-4e8a-b4c6-049fa9998118"
	routerLab = "3c19c840-d9f9-4acd-a62d-2465be71c2d9"
	netIPWAN  = "e7f137f5-a11b-4c7d-b5a6-b47b57a73cab"
	aws       = "10cc8042-2fb7-4eac-b3ba-20d253c80a75"
	azure     = "33393138-3701-403f-b745-3614dba55617"
	google    = "4223d05b-17b9-4c28-8a92-7d725879f224"
	anyTier   = "90bc4c10-4659-4fc8-8f9e-9d91d95996e3"
	tokenA    = "9fdcc21c-1157-4c3f-bdd4-71d22152b5cf"
	tokenZ    = "46004dbf-aad3-44b6-a1b7-5b47fb165944"
	liveConn  = "0ac770b5-48b3-48cc-a018-0b2af99ec5e0"
)

// rig is a client and a simulator behind a real socket.
type rig struct {
	t   *testing.T
	sim *fabricsim.Sim
	url string
	api *fabric.API
	log *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T, change ...func(*fabric.Options)) *rig {
	t.Helper()
	r := &rig{t: t, sim: &fabricsim.Sim{SettleAfter: -1}, log: &lockedBuffer{}}
	srv := httptest.NewServer(r.sim)
	t.Cleanup(srv.Close)
	t.Cleanup(r.sim.Close)
	r.url = srv.URL
	r.api = r.client(change...)
	return r
}

func (r *rig) client(change ...func(*fabric.Options)) *fabric.API {
	r.t.Helper()
	return newAPI(r.t, r.url, append([]func(*fabric.Options){func(o *fabric.Options) {
		o.Log = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}}, change...)...)
}

func newAPI(t *testing.T, endpoint string, change ...func(*fabric.Options)) *fabric.API {
	t.Helper()
	o := fabric.Options{Endpoint: endpoint, ClientID: "client-1", ClientSecret: broker.NewSecret(fabricsim.Secret)}
	for _, c := range change {
		c(&o)
	}
	api, err := fabric.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func (r *rig) fail(method, path string, dryRun *bool, do fabricsim.Action, times int) {
	r.sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Method: method, Path: path, DryRun: dryRun}, Do: do, Times: times})
}

// count counts the requests that arrived; dry runs are asked for by "?dryRun=true".
func (r *rig) count(method, path string) int {
	n := 0
	for _, e := range r.sim.History() {
		p := e.Path
		if e.DryRun {
			p += "?dryRun=true"
		}
		if e.Method == method && (p == path || strings.HasSuffix(path, "*") && strings.HasPrefix(p, strings.TrimSuffix(path, "*"))) {
			n++
		}
	}
	return n
}

var (
	yes, no = true, false
	forReal = &no
	dry     = &yes
)

func compiled(t *testing.T, api *fabric.API, ct broker.ChangeType, spec string) broker.Request {
	t.Helper()
	r, err := api.Compile(ct, []byte(spec), time.Time{})
	if err != nil {
		t.Fatalf("compile: %v %+v", err, err)
	}
	return r
}

func awsSpec(name string, mbps, vlan int) string {
	return fmt.Sprintf(`{"type":"EVPL_VC","name":%q,"bandwidth_mbps":%d,"notification_emails":["noc@example.net"],"project_id":%q,
		"a_side":{"port_uuid":%q,"link_protocol":{"type":"dot1q","vlan_tag":%d}},
		"z_side":{"service_profile_uuid":%q,"metro_code":"DC","seller_region":"us-east-1","authentication_key":"210987654321"}}`,
		name, mbps, fabricsim.Project, portDC, vlan, aws)
}

func netSpec(name string) string {
	return fmt.Sprintf(`{"type":"EVPLAN","name":%q,"scope":"GLOBAL","notification_emails":["noc@example.net"],"project_id":%q}`, name, fabricsim.Project)
}

func routerSpec(name string) string {
	return fmt.Sprintf(`{"name":%q,"metro_code":"DC","package":"STANDARD","account_number":%d,"notification_emails":["noc@example.net"],"project_id":%q}`, name, fabricsim.Account, fabricsim.Project)
}

func tokenSpec(name string) string {
	return fmt.Sprintf(`{"side":"a","name":%q,"connection_type":"EVPL_VC","expires_at":%q,"notification_emails":["noc@example.net"],"project_id":%q,
		"port_uuid":%q,"link_protocol":{"type":"dot1q","vlan_tag":1500},"bandwidth_limit_mbps":100}`,
		name, time.Now().Add(30*24*time.Hour).UTC().Format(time.RFC3339), fabricsim.Project, portDC)
}

func refusal(t *testing.T, err error) *broker.Refusal {
	t.Helper()
	r, ok := err.(*broker.Refusal) //nolint:errorlint // the contract is the type itself
	if !ok {
		t.Fatalf("got %T %v, want a *broker.Refusal", err, err)
	}
	return r
}

// whole is a refusal as a result shows it.
func whole(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func mentions(t *testing.T, v any, words ...string) {
	t.Helper()
	text := strings.ToLower(whole(v))
	for _, w := range words {
		if !strings.Contains(text, strings.ToLower(strings.Trim(whole(w), `"`))) {
			t.Errorf("%q is not mentioned in %s", w, text)
		}
	}
}

func soon() time.Time { return time.Now().Add(time.Minute) }

func TestEndpoints(t *testing.T) {
	for _, s := range []string{"http://api.equinix.com", "ftp://localhost", "https://", "https://u:p@api.equinix.com", "https://api.equinix.com/x", "https://api.equinix.com?x=1", "://", "http://127.0.0.1.evil.example"} {
		if _, err := fabric.New(fabric.Options{Endpoint: s, Token: broker.NewSecret("token-token")}); err == nil {
			t.Errorf("%s is taken as an endpoint", s)
		}
	}
	for s, production := range map[string]bool{"": true, "https://api.equinix.com/": true, "https://API.equinix.com:443": true, "https://api.equinix.com:8443": false, "http://localhost:1": false, "http://[::1]:8": false, "https://sandbox.example": false} {
		a := newAPI(t, s)
		if a.Account().Production != production {
			t.Errorf("%s: production is %v", s, a.Account().Production)
		}
	}
	if _, err := fabric.New(fabric.Options{ClientID: "x"}); err == nil {
		t.Error("a client id without a secret is taken")
	}
	if a, b := newAPI(t, "https://a.example").Account(), newAPI(t, "https://b.example").Account(); a.Identity == b.Identity || len(a.Identity) != 64 {
		t.Error("identities of two endpoints are equal, or not a digest")
	}
}

func TestReadsRetry(t *testing.T) {
	r := newRig(t)
	r.fail("GET", "/fabric/v4/ports/*", nil, fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 503}, 1)
	r.fail("GET", "/fabric/v4/ports/*", nil, fabricsim.Action{Kind: fabricsim.FaultReset}, 1)
	got, err := r.api.Get(t.Context(), "port", portDC)
	if err != nil || got["uuid"] != portDC {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := r.count("GET", "/fabric/v4/ports/*"); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}

	t.Run("refuses/to wait for longer than is reasonable", func(t *testing.T) {
		r := newRig(t)
		r.fail("GET", "/fabric/v4/ports/*", nil, fabricsim.Action{Kind: fabricsim.FaultStatus, Status: 429, RetryAfter: 600}, 0)
		_, err := r.api.Get(t.Context(), "port", portDC)
		if refusal(t, err).Code != broker.ErrUpstreamRateLimited || r.count("GET", "/fabric/v4/ports/*") != 1 {
			t.Errorf("got %v after %d reads", err, r.count("GET", "/fabric/v4/ports/*"))
		}
	})
	t.Run("a cancelled call is told as such", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.api.Get(ctx, "port", portDC)
		mentions(t, refusal(t, err), "cancelled")
	})
}
