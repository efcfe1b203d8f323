package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	"fabricbroker/broker"
)

const (
	testLAN    = "44444444-aaaa-4bbb-8ccc-000000000002"
	testTokenA = "55555555-aaaa-4bbb-8ccc-00000000000a"
	testTokenZ = "55555555-aaaa-4bbb-8ccc-00000000000b"
	testDevice = "66666666-aaaa-4bbb-8ccc-000000000001"
)

// moreAssets are what the specs below refer to beside testAssets.
var moreAssets = []map[string]any{
	{"kind": "network", "uuid": testLAN, "name": "lan-emea", "type": "EVPLAN", "scope": "GLOBAL", "state": "ACTIVE", "project_id": testProject},
	{"kind": "service_token", "uuid": testTokenA, "name": "partner-a", "side": "a", "connection_type": "EVPL_VC", "bandwidth_limit": 100, "port_uuid": testPortDC, "state": "INACTIVE"},
	{"kind": "service_token", "uuid": testTokenZ, "name": "partner-z", "side": "z", "connection_type": "EVPL_VC", "supported_bandwidths": []int{50, 200}, "port_uuid": testPortSV, "state": "INACTIVE"},
}

func withMoreAssets(t *testing.T, w *world) *world {
	t.Helper()
	for _, a := range moreAssets {
		put(t, w, a)
	}
	return w
}

// proposable is a spec that passes its dry run.
type proposable struct {
	name string
	kind broker.ChangeType
	spec map[string]any
}

func tagged(port string, vlan int) map[string]any {
	return map[string]any{"port_uuid": port, "link_protocol": map[string]any{"type": "dot1q", "vlan_tag": vlan}}
}

func joined(name, kind string, a, z map[string]any) proposable {
	return proposable{name, broker.ConnectionCreate, map[string]any{
		"type": kind, "name": "golden-01", "bandwidth_mbps": 50, "notification_emails": []any{"noc@example.net"},
		"project_id": testProject, "purchase_order_number": "PO-2026-11", "a_side": a, "z_side": z,
	}}
}

func opened(name string, more map[string]any) proposable {
	spec := map[string]any{
		"name": "golden-token", "connection_type": "EVPL_VC", "expires_at": "2026-12-24T00:00:00Z",
		"notification_emails": []any{"noc@example.net"}, "project_id": testProject, "description": "for a partner",
		"port_uuid": testPortDC, "link_protocol": map[string]any{"type": "dot1q", "vlan_tag": 1399},
	}
	maps.Copy(spec, more)
	return proposable{name, broker.ServiceTokenCreate, spec}
}

// proposables are every change type, and connections of every kind of ends.
func proposables() []proposable {
	aws := func() map[string]any {
		return map[string]any{"service_profile_uuid": testAWS, "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012"}
	}
	uuid := func(key, id string) map[string]any { return map[string]any{key: id} }
	device := opened("token z on a device", map[string]any{
		"side": "z", "connection_type": "EVPL_VC", "supported_bandwidths_mbps": []any{50, 200},
		"virtual_device_uuid": testDevice, "interface": map[string]any{"type": "network"},
	})
	delete(device.spec, "port_uuid")
	delete(device.spec, "link_protocol")
	return []proposable{
		joined("port to port", "EVPL_VC", tagged(testPortDC, 1001), tagged(testPortSV, 1002)),
		joined("port to profile", "EVPL_VC", tagged(testPortDC, 1001), aws()),
		joined("router to profile", "IP_VC", uuid("cloud_router_uuid", testRouter), aws()),
		joined("router to network", "IPWAN_VC", uuid("cloud_router_uuid", testRouter), uuid("network_uuid", testNetwork)),
		joined("port to network", "EVPLAN_VC", tagged(testPortDC, 1001), uuid("network_uuid", testLAN)),
		joined("token to port", "EVPL_VC", uuid("service_token_uuid", testTokenA), tagged(testPortSV, 1002)),
		joined("port to token", "EVPL_VC", tagged(testPortDC, 1001), uuid("service_token_uuid", testTokenZ)),
		{"network", broker.NetworkCreate, map[string]any{
			"type": "EVPLAN", "name": "golden-net", "scope": "REGIONAL", "region": "EMEA",
			"notification_emails": []any{"noc@example.net"}, "project_id": testProject,
		}},
		opened("token a", map[string]any{"side": "a", "bandwidth_limit_mbps": 100}),
		opened("token z", map[string]any{"side": "z", "supported_bandwidths_mbps": []any{50, 200}, "allow_remote_connection": true}),
		device,
		{"router", broker.CloudRouterCreate, map[string]any{
			"name": "golden-router", "metro_code": "SV", "package": "STANDARD", "account_number": 270848, "project_id": testProject,
			"notification_emails": []any{"noc@example.net"}, "term_length_months": 12,
		}},
	}
}

// TestPrompts: a reviewer reads these goldens first.
func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, p := range proposables() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			a := withMoreAssets(t, newPromptWorld(t)).ask(p.kind, p.spec)
			firstLines(t, a.prompt)
			checkForged(t, a.prompt)
			checkSecrets(t, a)
			golden(t, "prompts/"+strings.ReplaceAll(p.name, " ", "-"), a.shown())
		})
	}
}

// I9: of a service token only its end is shown.
func checkSecrets(t *testing.T, a asked) {
	t.Helper()
	for _, id := range []string{testTokenA, testTokenZ} {
		if strings.Contains(a.prompt+a.results, id) {
			t.Errorf("the token %s is shown:\n%s\n%s", id, a.prompt, a.results)
		}
	}
}

// promptLabels begin every line of a prompt; the first group exactly one.
var (
	decidingLabel = regexp.MustCompile(`^(Create|From|To|Where|For|Account|Cost|Dry run|Expires|SHA-256): `)
	otherLabel    = regexp.MustCompile(`^(! |(Create|From|To|Where|For|Account|Cost|Dry run), in full: |Price: |Would change: |Request: |"?/|Warning: |` +
		`To approve, type this code|Accept with confirm = yes|Decline or close: |$)`)
)

// checkForged fails where a value wrote, or hid, a line of the prompt, or would
// be rendered as markup by a client.
func checkForged(t *testing.T, prompt string) {
	t.Helper()
	seen := map[string]int{}
	for _, line := range strings.Split(prompt, "\n") {
		if m := decidingLabel.FindStringSubmatch(line); m != nil {
			seen[m[1]]++
		} else if !otherLabel.MatchString(line) {
			t.Errorf("a line that no part of a prompt begins: %q", line)
		}
	}
	for label, n := range seen {
		if n != 1 {
			t.Errorf("%d lines begin with %q:\n%s", n, label, prompt)
		}
	}
	for _, label := range []string{"Create", "Account", "Cost", "Dry run", "Expires", "SHA-256"} {
		if seen[label] == 0 {
			t.Errorf("no line begins with %q:\n%s", label, prompt)
		}
	}
	if i := strings.IndexAny(prompt, "`*<>|~#"); i >= 0 || strings.Contains(prompt, "](") || strings.Contains(prompt, "://") {
		t.Errorf("markup in the prompt:\n%s", prompt)
	}
}

// deepCopy is a spec that a test may change.
func deepCopy(t *testing.T, spec map[string]any) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(plainJSON(t, spec)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
