package fabricsim

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manage serves both APIs of one simulator.
func manage(t *testing.T) (api, management *rig) {
	t.Helper()
	api = newRig(t)
	srv := httptest.NewServer(api.sim.Manage())
	t.Cleanup(srv.Close)
	return api, &rig{t: t, sim: api.sim, url: srv.URL, clock: api.clock}
}

func TestManage(t *testing.T) {
	r, m := manage(t)
	m.post("/assets", `[
		{"kind":"port","uuid":"11111111-0000-4000-8000-000000000001","name":"mine","metro_code":"NY","encapsulation":"QINQ","bandwidth":1000,"state":"ACTIVE","project_id":"p","account_number":4711},
		{"kind":"network","uuid":"11111111-0000-4000-8000-000000000002","name":"lan","type":"EVPLAN","scope":"GLOBAL","state":"INACTIVE","created_at":"2026-01-02T03:04:05Z"}]`, 200)
	m.post("/assets", `{"kind":"network","uuid":"11111111-0000-4000-8000-000000000002","name":"lan-2","type":"EVPLAN"}`, 200)
	r.post(connections, portToAWS(1017), 201)
	r.post(connections+"?dryRun=true", portToAWS(1018), 200)

	if d := r.get("/fabric/v4/ports/11111111-0000-4000-8000-000000000001", 200).doc; text(d, "location/metroCode") != "NY" || text(d, "encapsulation/type") != "QINQ" {
		t.Errorf("port %v", d)
	}
	if d := r.get("/fabric/v4/networks/11111111-0000-4000-8000-000000000002", 200).doc; d["name"] != "lan-2" || d["state"] != "ACTIVE" {
		t.Errorf("replaced network %v", d)
	}
	var created []string
	for _, a := range m.get("/assets?kind=connection", 200).list {
		if truth(a, "created") {
			created = append(created, text(a, "kind")+" "+text(a, "name")+" "+text(a, "state")+" "+text(a, "project_id")+" "+text(a, "created_at"))
		}
	}
	if diff := cmp.Diff([]string{"connection dc-aws-01 PROVISIONING " + Project + " 2026-11-30T00:00:00.000Z"}, created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}

	m.post("/faults", `{"match":{"method":"GET","path":"/fabric/v4/ports/*"},"do":{"kind":"status","status":503,"body":[{"errorCode":"X"}]},"times":1}`, 200)
	r.get("/fabric/v4/ports/"+portDC, 503)
	r.get("/fabric/v4/ports/"+portDC, 200)
	m.post("/faults", `[{"do":{"kind":"html","status":502}}]`, 200)
	r.get("/fabric/v4/ports/"+portDC, 502)
	if g := m.do("DELETE", "/faults", ""); g.status != 200 {
		t.Errorf("DELETE /faults = %d", g.status)
	}
	r.get("/fabric/v4/ports/"+portDC, 200)

	h := m.get("/history", 200).list
	if len(h) != 8 || text(h[0], "body") != portToAWS(1017) || !truth(h[1], "dry_run") || text(h[1], "query") != "dryRun=true" {
		t.Errorf("history %v", h)
	}
	m.post("/reset", "", 200)
	if h := m.get("/history", 200); string(h.raw) != "[]\n" {
		t.Errorf("history after a reset: %s", h.raw)
	}
	r.get("/fabric/v4/networks/11111111-0000-4000-8000-000000000002", 404)
}

func TestManageRefuses(t *testing.T) {
	_, m := manage(t)
	for _, tt := range []struct{ name, path, body, says string }{
		{"unknown kind of asset", "/assets", `{"kind":"gateway"}`, "gateway"},
		{"no time", "/assets", `{"kind":"port","created_at":"yesterday"}`, "created_at"},
		{"no object", "/assets", `[1]`, "assets[0]"},
		{"unknown kind of fault", "/faults", `{"do":{"kind":"explode"}}`, "explode"},
		{"misspelt match", "/faults", `{"match":{"methode":"GET"},"do":{"kind":"reset"}}`, "methode"},
		{"status without a status", "/faults", `{"do":{"kind":"status"}}`, "needs a status"},
		{"odd status", "/faults", `{"do":{"kind":"html","status":42}}`, "42"},
		{"no JSON", "/faults", `{`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := m.post(tt.path, tt.body, http.StatusBadRequest)
			if !strings.Contains(text(g.doc, "error"), tt.says) {
				t.Errorf("error %s, want %q in it", g.raw, tt.says)
			}
		})
	}
}

func TestSeededConnection(t *testing.T) {
	r := newRig(t)
	for _, a := range []map[string]any{
		{
			"kind": "connection", "uuid": "11111111-0000-4000-8000-000000007d1f", "name": "nested", "created_at": "2026-11-29T21:00:00Z", "bandwidth": 100,
			"a_side": map[string]any{"port_uuid": portDC, "link_protocol": map[string]any{"type": "dot1q", "vlan_tag": 41}},
			"z_side": map[string]any{"service_profile_uuid": aws, "metro_code": "DC", "seller_region": "us-east-1"},
		},
		{"kind": "connection", "name": "flat", "port_uuid": portDC, "vlan_tag": 42, "z_port_uuid": portSV},
		{"kind": "connection", "name": "wire", "aSide": colo(portDC, dot1q(43)), "zSide": network(netEVPLAN), "state": "FAILED"},
	} {
		if err := r.sim.Put(a); err != nil {
			t.Fatal(err)
		}
	}
	d := r.get(connections+"/11111111-0000-4000-8000-000000007d1f", 200).doc
	if text(d, "changeLog/createdDateTime") != "2026-11-29T21:00:00.000Z" || text(d, "zSide/accessPoint/sellerRegion") != "us-east-1" ||
		text(d, "aSide/accessPoint/location/metroCode") != "DC" {
		t.Errorf("connection %v", d)
	}
	r.post(connections, portToAWS(41), 400)
	r.post(connections, portToAWS(42), 400)
	r.post(connections, portToAWS(43), 201) // a failed one holds nothing
}

// TestFacts runs where FABRIC_FACTS names a directory with the facts about the
// API: its world must load, and its assets must be usable.
func TestFacts(t *testing.T) {
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is not set")
	}
	world, err := os.ReadFile(filepath.Join(dir, "world.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, m := manage(t)
	m.post("/assets", string(world), 200)
	v, err := parseJSON(world)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range v.([]any) {
		g := r.get("/fabric/v4/"+collections[text(a, "kind")]+"/"+text(a, "uuid"), 200)
		if text(g.doc, "name") != text(a, "name") || text(g.doc, "state") != orElse(text(a, "state"), "ACTIVE") {
			t.Errorf("%s: %s", text(a, "name"), g.raw)
		}
	}
}

// refusedExamples are request examples that contradict the schema or name what
// this test does not furnish, and why.
var refusedExamples = map[string]string{
	"AsideServiceToken2ColoWithDot1q.request.json":         "one uuid for a token and a port",
	"AsideServiceToken2ColoWithQinq.request.json":          "one uuid for a token and a port",
	"Colo2ServiceToken.request.json":                       "a redundancy group that nobody made",
	"Colo2Sp-Generic-WithGeoScope.request.json":            "notifications are an object",
	"Fcr2Metal-Network.request.json":                       "a redundancy group that nobody made",
	"Fcr2MetalNetwork.request.json":                        "a redundancy group that nobody made",
	"Fcr2Sp-Generic-Redundant-Primary-re-add.request.json": "a redundancy group that nobody made",
	"Fcr2Sp-Generic-Redundant-Secondary.request.json":      "a redundancy group that nobody made",
	"Fcr2Vd-Redundant-Secondary.request.json":              "a redundancy group that nobody made",
	"IX2Sp-PublicPeering_VC.request.json":                  "no bandwidth",
	"BMMRSinglePortLag.request.json":                       "the account number is a string",
	"BMMRSinglePortNoLag.request.json":                     "no bmmrType",
	"COLOLagPortNewGroup.request.json":                     "the account number is a string",
	"COLOSinglePortLag.request.json":                       "a property that the schema lacks",
	"COLOUnlimitedPlusPortLag.request.json":                "a property that the schema lacks",
}

// TestFactsExamples sends the request examples, with assets put in place of what
// they refer to.
func TestFactsExamples(t *testing.T) {
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "examples", "create*", "*.request.json"))
	if err != nil {
		t.Fatal(err)
	}
	collection := map[string]string{
		"createConnection": "connections", "createNetwork": "networks", "createServiceToken": "serviceTokens",
		"createCloudRouter": "routers", "createPort": "ports",
	}
	for _, file := range files {
		op, name := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		t.Run(op+"/"+name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			body, err := parseObject(raw)
			if err != nil {
				t.Skip("no JSON object")
			}
			r := rigFor(t, &Sim{Empty: true, NoDryRun: []string{}})
			furnish(t, r.sim, body)
			g := r.do("POST", "/fabric/v4/"+collection[op]+"?dryRun=true", string(encode(body)))
			if why := refusedExamples[name]; g.status >= 300 && why != "" {
				t.Skipf("refused, since it has %s: %v", why, g.codes())
			}
			if g.status >= 300 {
				t.Fatalf("refused: %s", g.raw)
			}
			r.do("POST", "/fabric/v4/"+collection[op], string(encode(body)))
			if n := countCreated(r.sim); n != 1 {
				t.Errorf("%d creates", n)
			}
		})
	}
}

// furnish puts the assets that a request refers to.
func furnish(t *testing.T, s *Sim, body doc) {
	t.Helper()
	if has(body, "expirationDateTime") {
		body["expirationDateTime"] = "2026-12-20T00:00:00Z"
	}
	put := func(a map[string]any) {
		if err := s.Put(a); err != nil {
			t.Fatal(err)
		}
	}
	for _, side := range []string{"/aSide/accessPoint", "/zSide/accessPoint"} {
		ap := object(body, side)
		metro := orElse(text(ap, "location/metroCode"), "DC")
		lp := orElse(text(ap, "linkProtocol/type"), "UNTAGGED")
		if id := text(ap, "port/uuid"); id != "" {
			put(map[string]any{"kind": "port", "uuid": id, "metro_code": metro, "encapsulation": lp})
		}
		if id := text(ap, "router/uuid"); id != "" {
			put(map[string]any{"kind": "cloud_router", "uuid": id, "metro_code": metro})
		}
		if id := text(ap, "network/uuid"); id != "" {
			put(map[string]any{"kind": "network", "uuid": id, "type": strings.TrimSuffix(text(body, "type"), "_VC")})
		}
		if id := text(ap, "profile/uuid"); id != "" {
			put(map[string]any{"kind": "service_profile", "uuid": id, "type": text(ap, "profile/type"), "metros": []string{metro}})
		}
	}
	for _, side := range []string{"a", "z"} {
		if id := text(body, side+"Side/serviceToken/uuid"); id != "" {
			put(map[string]any{"kind": "service_token", "uuid": id, "side": side, "virtual_device_uuid": portDC})
		}
		for _, selector := range list(body, "connection/"+side+"Side/accessPointSelectors") {
			if id := text(selector, "port/uuid"); id != "" {
				put(map[string]any{"kind": "port", "uuid": id, "metro_code": "DC", "encapsulation": text(selector, "linkProtocol/type")})
			}
			if id := text(selector, "network/uuid"); id != "" {
				put(map[string]any{"kind": "network", "uuid": id, "type": text(selector, "network/type")})
			}
		}
	}
}
