package fabric

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"

	"fabricbroker/broker"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenSpecs are one spec for each change type and kind of side.
var goldenSpecs = []struct {
	name, base string
	set        []string
}{
	{"port-to-profile", specToCloud, setting("project_id", `"0b08bc9d-375f-5bda-99b7-9e7d3bd3c085"`)},
	{"port-to-port-with-everything", specToPort, setting("project_id", `"p"`, "purchase_order_number", `"po-1"`, "customer_reference", `"ref"`,
		"term_length_months", `36`, "geo_scope", `"EU"`, "redundancy", `{"priority":"SECONDARY","group_uuid":"`+uuidLAN+`"}`, "additional_info", `[{"key":"ASN","value":"64512"}]`,
		"a_side.metro_code", `"dc"`, "z_side.link_protocol", `{"type":"qinq","vlan_s_tag":12,"vlan_c_tag":13}`)},
	{"port-to-token", specToPort, setting("z_side", `{"service_token_uuid":"`+uuidToken+`"}`)},
	{"token-to-profile", specToCloud, setting("a_side", `{"service_token_uuid":"`+uuidToken+`"}`)},
	{"device-to-port", specToPort, setting("a_side", `{"virtual_device_uuid":"`+uuidDevice+`","interface":{"type":"network","id":3}}`, "z_side.link_protocol", `{"type":"untagged"}`)},
	{"device-to-internet-access", specToCloud, setting("type", `"IA_VC"`, "a_side", `{"virtual_device_uuid":"`+uuidDevice+`","interface":{"type":"cloud","id":4}}`, "z_side", `{"service_profile_uuid":"`+uuidCloud+`","metro_code":"SV"}`)},
	{"router-to-profile", specToCloud, setting("type", `"IP_VC"`, "a_side", `{"cloud_router_uuid":"`+uuidRouter+`"}`)},
	{"router-to-device", specToPort, setting("type", `"IP_VC"`, "a_side", `{"cloud_router_uuid":"`+uuidRouter+`"}`, "z_side", `{"virtual_device_uuid":"`+uuidDevice+`"}`)},
	{"router-to-network", specToLAN, setting("type", `"IPWAN_VC"`, "a_side", `{"cloud_router_uuid":"`+uuidRouter+`"}`)},
	{"port-to-tree", specToLAN, setting("type", `"EVPTREE_VC"`, "z_side.role", `"leaf"`)},
	{"port-to-azure", specToCloud, setting("z_side", `{"service_profile_uuid":"`+uuidCloud+`","metro_code":"SV","authentication_key":"f2a66939-f1c9-5738-808b-512ccf9328ab","peering_type":"private","link_protocol":{"type":"qinq","vlan_c_tag":1001}}`)},
	{"port-to-google", specToCloud, setting("z_side.seller_region", `"northamerica-northeast1"`, "z_side.authentication_key", `"d373e256-e98d-5d6b-8b2f-966d245bf710/northamerica-northeast1/1"`)},
	{"whole-ports", specToPort, setting("type", `"EPL_VC"`, "a_side.link_protocol", "", "z_side.link_protocol", "")},
	{"port-to-exchange", specToCloud, setting("type", `"IX_VC"`, "a_side.link_protocol", "", "z_side", `{"service_profile_uuid":"`+uuidCloud+`"}`)},
	{"metro-connect", specToPort, setting("type", `"MC_VC"`, "a_side.link_protocol", "", "z_side.link_protocol", "")},
	{"network", specLAN, setting("project_id", `"p"`)},
	{"network-of-a-region", specLAN, setting("scope", `"regional"`, "region", `"apac"`)},
	{"token-a", specToken, setting("description", `"for a customer"`, "allow_custom_bandwidth", `true`)},
	{"token-z-network", specTokenZ, setting("allow_remote_connection", `true`)},
	{"token-z-device", specTokenZ, setting("network_uuid", "", "network_type", "", "connection_type", `"EVPL_VC"`, "virtual_device_uuid", `"`+uuidDevice+`"`, "interface", `{"type":"network"}`)},
	{"router", specRouter, setting("purchase_order_number", `"po-1"`, "term_length_months", `12`)},
}

// TestGolden shows what each kind of spec becomes: the body, and the words of
// the brief without and with look-ups.
func TestGolden(t *testing.T) {
	found := facts{
		A: asset{Name: "DC-10G-DOT1Q-01", Metro: "DC", Account: "270848", AccessPoint: "COLO"},
		Z: asset{Name: "Google Cloud Partner Interconnect Zone 1", Scope: "GLOBAL"},
	}
	for _, tt := range goldenSpecs {
		t.Run(tt.name, func(t *testing.T) {
			r := compiled(t, typeOf(tt.base), specWith(t, tt.base, tt.set...))
			var b bytes.Buffer
			if err := json.Indent(&b, r.Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\n\n%s %s\nsecrets: %s\n", r.Method, r.Path, strings.Join(r.Secrets, " "))
			writeBrief(t, &b, r, facts{})
			writeBrief(t, &b, r, found)
			golden(t, tt.name+".txt", b.Bytes())
		})
	}
}

func writeBrief(t *testing.T, b *bytes.Buffer, r broker.Request, f facts) {
	t.Helper()
	x := briefOf(r, f)
	for _, line := range []string{x.What, x.From, x.To, x.Account, x.Pays} {
		if len(line) > briefColumns {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	fmt.Fprintf(b, "\nwhat: %s\nfrom: %s\nto: %s\naccount: %s\npays: %s\nbillable: %v\nitem: %s\n",
		x.What, x.From, x.To, x.Account, x.Pays, x.Billable, itemOf(r, f))
}

// compiled compiles a spec twice and checks what holds for every request.
func compiled(t *testing.T, ct broker.ChangeType, spec []byte) broker.Request {
	t.Helper()
	r, err := compile(ct, spec, casesNow)
	if err != nil {
		t.Fatalf("refused: %+v", refused(t, err).Issues)
	}
	again, err := compile(ct, spec, time.Time{})
	if err != nil || !bytes.Equal(again.Body, r.Body) || again.Hash != r.Hash {
		t.Fatalf("recompiled to %s, %v", again.Body, err)
	}
	canon, err := jcs.Transform(r.Body)
	if err != nil || !bytes.Equal(canon, r.Body) {
		t.Fatalf("not canonical: %s, %v", r.Body, err)
	}
	if r.Hash != broker.HashRequest(ct, r.Body) {
		t.Errorf("hash %s is not of the body", r.Hash)
	}
	var doc any
	if err := json.Unmarshal(r.Body, &doc); err != nil {
		t.Fatal(err)
	}
	noEmpties(t, doc, "")
	for _, p := range r.Secrets {
		if s, ok := pointed(doc, p).(string); !ok || s == "" {
			t.Errorf("no secret at %s", p)
		}
	}
	return r
}

// noEmpties checks that nothing unset is in a body.
func noEmpties(t *testing.T, v any, at string) {
	t.Helper()
	empty := false
	switch v := v.(type) {
	case nil:
		empty = true
	case string:
		empty = v == ""
	case float64:
		empty = v == 0
	case []any:
		empty = len(v) == 0
		for i, x := range v {
			noEmpties(t, x, fmt.Sprintf("%s/%d", at, i))
		}
	case map[string]any:
		empty = len(v) == 0
		for k, x := range v {
			noEmpties(t, x, at+"/"+k)
		}
	}
	if empty {
		t.Errorf("empty at %q", at)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "compile", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}
