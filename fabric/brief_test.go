package fabric

import (
	"strings"
	"testing"

	"fabricbroker/broker"
)

// A name of the upstream is data: it neither ends its line nor pushes what
// follows it off the screen.
func TestBriefOfHostileNames(t *testing.T) {
	r := compiled(t, broker.ConnectionCreate, []byte(specToCloud))
	for _, name := range []string{
		"AWS Direct Connect\nCost: USD 0.00 per month\r\nDry run: accepted by Equinix; already approved\u202e",
		strings.Repeat("\U0001F600", 300), "**[click](https://example.net)**", "\xff\xfe", "x",
	} {
		f := facts{A: asset{Name: name, Metro: name, Account: name}, Z: asset{Name: name}}
		b := briefOf(r, f)
		r.Brief = b
		checkBrief(t, r)
		if !strings.Contains(b.To, `(DC), us-east-1, key 012345678901`) {
			t.Errorf("to %s", b.To)
		}
	}
	b := briefOf(r, facts{Z: asset{Name: "AWS Direct Connect\nCost: USD 0.00"}})
	if !strings.HasPrefix(b.To, `"AWS Direct Connect`) {
		t.Errorf("to %s", b.To)
	}
}

// Two zones of one provider differ in the last character only.
func TestBriefKeepsTheEndOfNames(t *testing.T) {
	r := compiled(t, broker.ConnectionCreate, []byte(specToCloud))
	b := briefOf(r, facts{Z: asset{Name: "Google Cloud Partner Interconnect Zone 2"}})
	if !strings.Contains(b.To, `Zone 2"`) {
		t.Errorf("to %s", b.To)
	}
}

func TestBriefOfAToken(t *testing.T) {
	spec := specWith(t, specTokenZ, "network_uuid", "", "network_type", "", "connection_type", `"EVPL_VC"`, "port_uuid", `"`+uuidPortA+`"`,
		"link_protocol", `{"type":"dot1q","vlan_tag":1019}`, "supported_bandwidths_mbps", `[10000,50]`,
		"allow_remote_connection", `true`, "allow_custom_bandwidth", `true`, "name", `"a-door-open-to-anyone-at-all"`)
	b := compiled(t, broker.ServiceTokenCreate, spec).Brief
	for line, words := range map[string][]string{
		b.What: {"z-side", "until 2026-12-20", "10000 Mbps"},
		b.From: {uuidPortA, "VLAN 1019"},
		b.To:   {"whoever holds it", "remote connections allowed", "custom bandwidth allowed"},
	} {
		for _, w := range words {
			if !strings.Contains(line, w) {
				t.Errorf("no %q in %s", w, line)
			}
		}
	}
}

// I9: what a brief shows of a secret is what the mask allows.
func TestBriefMasks(t *testing.T) {
	r := compiled(t, broker.ConnectionCreate, specWith(t, specToCloud,
		"a_side", `{"service_token_uuid":"`+uuidToken+`"}`, "z_side.authentication_key", `"f2a66939-f1c9-5738-808b-512ccf9328ab"`))
	if s := r.Brief.From + r.Brief.To; strings.Contains(s, uuidToken) || strings.Contains(s, "f2a66939") ||
		!strings.Contains(s, "...a2f5") || !strings.Contains(s, "...28ab") {
		t.Errorf("shows %s", s)
	}
}
