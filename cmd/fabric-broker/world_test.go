package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/seal"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

var update = flag.Bool("update", false, "rewrite golden files")

// asBinary makes the test binary act as fabric-broker, so that tests drive the
// real program in a process of its own.
const asBinary = "FABRIC_BROKER_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" {
		_ = os.Unsetenv(asBinary)
		os.Exit(run(os.Args[1:]))
	}
	// Most parallel tests wait for processes, so that more of them fit than there
	// are cores. What the command line says still counts.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// eras are the protocol versions that every flow is tested in.
var eras = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// world is the whole product in one process: the simulator on a real socket,
// the assembled server, and as many clients as a test wants.
type world struct {
	t       *testing.T
	sim     *fabricsim.Sim
	clock   *testClock
	options fabric.Options // of api
	api     *fabric.API
	broker  *broker.Broker
	ledger  *ledger.Memory
	dir     *audit.Dir
	path    string
	keyring *seal.Keyring
	server  *mcp.Server
	parts   parts    // of server, and of every replica
	remote  *replica // where its peers connect; nil is server, over a pipe
	logs    *lockedBuffer
	stop    context.CancelFunc
}

// setup changes what a world is made of before it is.
type setup func(*worldSetup)

type worldSetup struct {
	options fabric.Options
	broker  broker.Options
	path    string
	sim     *fabricsim.Sim
	keyring *seal.Keyring
	start   time.Time
	frozen  bool                              // the clock stands at start
	ledger  func(broker.Ledger) broker.Ledger // nil = as it is
}

// testClock is a wall clock that a test moves. With at it stands there.
type testClock struct {
	offset atomic.Int64
	at     time.Time
}

func (c *testClock) now() time.Time {
	at := c.at
	if at.IsZero() {
		at = time.Now().Round(0)
	}
	return at.Add(time.Duration(c.offset.Load()))
}

func (c *testClock) skip(d time.Duration) { c.offset.Add(int64(d)) }

func newWorld(t *testing.T, setups ...setup) *world {
	t.Helper()
	w := &world{t: t, clock: &testClock{}, logs: &lockedBuffer{}}
	s := worldSetup{path: t.TempDir() + "/state", sim: &fabricsim.Sim{SettleAfter: -1}, keyring: seal.Ephemeral()}
	s.broker.Recheck = true
	for _, f := range setups {
		f(&s)
	}
	if s.frozen {
		w.clock.at = s.start
	} else if !s.start.IsZero() {
		w.clock.offset.Store(int64(time.Until(s.start)))
	}
	w.sim, w.keyring, w.path = s.sim, s.keyring, s.path
	if w.sim.Now == nil {
		w.sim.Now = w.clock.now
	}
	w.seed()
	if s.options.Transport == nil {
		srv := httptest.NewServer(w.sim)
		t.Cleanup(srv.Close)
		if s.options.Endpoint == "" {
			s.options.Endpoint = srv.URL
		}
	}

	log := slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if s.options.ClientID == "" {
		s.options.ClientID, s.options.ClientSecret = "test-client", broker.NewSecret(fabricsim.Secret)
	}
	s.options.Now, s.options.Log = w.clock.now, log
	w.options = s.options
	var err error
	if w.api, err = fabric.New(s.options); err != nil {
		t.Fatal(err)
	}
	if w.dir, err = audit.OpenDir(w.path); err != nil {
		t.Fatal(err)
	}
	w.ledger = ledger.NewMemory(ledger.Options{Now: w.clock.now})
	if s.broker.Ledger == nil {
		s.broker.Ledger = w.ledger
	}
	if s.ledger != nil {
		s.broker.Ledger = s.ledger(s.broker.Ledger)
	}
	if s.broker.Intents == nil {
		s.broker.Intents = w.dir.Intents()
	}
	if s.broker.Halt == nil {
		s.broker.Halt = w.dir.Halt()
	}
	if s.broker.Uptime == nil { // what a test skips has passed on every clock
		began := w.clock.now()
		s.broker.Uptime = func() time.Duration { return w.clock.now().Sub(began) }
	}
	ending, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.parts = parts{
		names: []string{"fabric", "pricing", "mutate"}, api: w.api, keyring: w.keyring,
		options: s.broker, now: w.clock.now, log: log, ending: ending,
	}
	a := assemble(w.parts)
	w.broker, w.server = a.broker, a.server
	t.Cleanup(func() {
		stop()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := w.broker.Drain(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// seed puts the assets that the specs of these tests name into the simulator.
func (w *world) seed() {
	w.t.Helper()
	for _, a := range testAssets {
		if err := w.sim.Put(a); err != nil {
			w.t.Fatal(err)
		}
	}
}

const (
	testProject = "7d1c2a90-3f0b-4c55-9c1e-2b6a1f0e9d11"
	testPortDC  = "11111111-aaaa-4bbb-8ccc-000000000001"
	testPortSV  = "11111111-aaaa-4bbb-8ccc-000000000002"
	testAWS     = "22222222-aaaa-4bbb-8ccc-000000000001"
	testRouter  = "33333333-aaaa-4bbb-8ccc-000000000001"
	testNetwork = "44444444-aaaa-4bbb-8ccc-000000000001"
)

var testAssets = []map[string]any{
	{"kind": "port", "uuid": testPortDC, "name": "DC-10G-A", "metro_code": "DC", "encapsulation": "DOT1Q", "bandwidth": 10000, "state": "ACTIVE", "project_id": testProject, "account_number": 270848},
	{"kind": "port", "uuid": testPortSV, "name": "SV-10G-A", "metro_code": "SV", "encapsulation": "DOT1Q", "bandwidth": 10000, "state": "ACTIVE", "project_id": testProject, "account_number": 270848},
	{
		"kind": "service_profile", "uuid": testAWS, "name": "AWS Direct Connect", "type": "L2_PROFILE", "metros": []string{"DC", "SV"},
		"seller_regions":       map[string]any{"DC": []string{"us-east-1"}, "SV": []string{"us-west-1"}},
		"supported_bandwidths": []int{50, 100, 200, 500, 1000}, "custom_bandwidth": false, "authentication_key": "AWS account id",
	},
	{"kind": "cloud_router", "uuid": testRouter, "name": "fcr-dc", "metro_code": "DC", "package": "STANDARD", "state": "PROVISIONED", "project_id": testProject},
	{"kind": "network", "uuid": testNetwork, "name": "ipwan", "type": "IPWAN", "scope": "GLOBAL", "state": "ACTIVE", "project_id": testProject},
}

// connectionSpec is a valid EVPL_VC from a port to AWS.
func connectionSpec(name string, vlan int) map[string]any {
	return map[string]any{
		"type": "EVPL_VC", "name": name, "bandwidth_mbps": 50,
		"notification_emails": []string{"noc@example.net"}, "project_id": testProject,
		"a_side": map[string]any{"port_uuid": testPortDC, "link_protocol": map[string]any{"type": "dot1q", "vlan_tag": vlan}},
		"z_side": map[string]any{
			"service_profile_uuid": testAWS, "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012",
		},
	}
}

// answerer is what a client does with a form. A nil answerer means that the
// client declares no elicitation.
type answerer func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

// approves accepts whatever it is asked, reading a code from the prompt where
// one is asked, as a person does.
func approves(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	content := map[string]any{"confirm": true}
	if wantsCode(req.Params.RequestedSchema) {
		content["confirm_code"] = codeLine.FindStringSubmatch(req.Params.Message)[1]
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

func declines(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "decline"}, nil
}

// client is a connected MCP client.
type client struct {
	t *testing.T
	*mcp.ClientSession
}

// client connects a client of the given protocol version.
func (w *world) client(version string, answer answerer) *client {
	w.t.Helper()
	near, far := mcp.NewInMemoryTransports()
	ctx := w.t.Context()
	if _, err := w.server.Connect(ctx, far, nil); err != nil {
		w.t.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: answer, Capabilities: &mcp.ClientCapabilities{},
	})
	session, err := c.Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = session.Close() })
	return &client{w.t, session}
}

// call calls a tool and returns its structured result. A protocol error ends
// the test.
func (c *client) call(tool string, args map[string]any) object {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return structured(c.t, res)
}

func structured(t *testing.T, res *mcp.CallToolResult) object {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("structured content is no object: %s", raw)
	}
	if _, has := out["error"]; has != res.IsError {
		t.Errorf("isError is %v although error is present: %v", res.IsError, has)
	}
	return out
}

// propose proposes a connection and returns the whole result; it must succeed.
func (c *client) propose(spec map[string]any) object {
	c.t.Helper()
	p := c.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": spec})
	if p["confirm_token"] == nil {
		c.t.Fatalf("the proposal was refused: %v", p["error"])
	}
	return p
}

func (c *client) confirm(proposed object) object {
	c.t.Helper()
	return c.call(mutate.ConfirmTool, map[string]any{"confirm_token": proposed["confirm_token"]})
}

// object is decoded JSON with a short way in.
type object map[string]any

// at returns the value at a path of keys, nil where there is none.
func (o object) at(path string) any {
	var v any = map[string]any(o)
	for k := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// creates counts the creates that reached the simulator, whatever became of
// them, and made the assets that exist because of them.
func (w *world) creates() (sent, made int) {
	for _, e := range w.sim.History() {
		if e.Method == "POST" && !e.DryRun && isCreate(e.Path) {
			sent++
		}
	}
	for _, a := range w.sim.Assets("") {
		if a.Created {
			made++
		}
	}
	return sent, made
}

func isCreate(path string) bool {
	switch path {
	case "/fabric/v4/connections", "/fabric/v4/networks", "/fabric/v4/serviceTokens", "/fabric/v4/routers":
		return true
	}
	return false
}

// wantCreates fails unless exactly n creates were sent and n assets made.
func (w *world) wantCreates(n int) {
	w.t.Helper()
	if sent, made := w.creates(); sent != n || made != n {
		w.t.Errorf("%d creates sent and %d assets made, want %d of both", sent, made, n)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
