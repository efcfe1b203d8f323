package fabric

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
)

const (
	uuidPortA  = "51876317-978c-57fb-b531-5db9e2942a9e"
	uuidPortZ  = "d59b015c-a9bf-50f2-a872-c95e0fbed1d7"
	uuidRouter = "28a5bfcc-29a5-571b-9ef6-3308b0a2e82b"
	uuidDevice = "6f3b61bd-d0f1-585c-95c9-e06c602bf432"
	uuidLAN    = "54ba7135-888a-54b6-a226-2c725b44e057"
	uuidToken  = "71cfd148-ee96-5796-af6b-9d76ef48a2f5"
	uuidCloud  = "1bec77a7-c503-5196-83a5-5d489a6056ff"
)

// specWith returns the JSON of base with pairs of path and JSON value set, a value
// of "" removed. base is one of the specs below.
func specWith(t *testing.T, base string, pairs ...string) []byte {
	t.Helper()
	doc := decodeAny(t, base)
	for i := 0; i < len(pairs); i += 2 {
		setAt(t, doc, pairs[i], pairs[i+1])
	}
	return encodeAny(t, doc)
}

const (
	specToCloud = `{"type":"EVPL_VC","name":"dc-aws-01","bandwidth_mbps":50,"notification_emails":["noc@example.net"],
		"a_side":{"port_uuid":"` + uuidPortA + `","link_protocol":{"type":"DOT1Q","vlan_tag":1017}},
		"z_side":{"service_profile_uuid":"` + uuidCloud + `","metro_code":"DC","seller_region":"us-east-1","authentication_key":"012345678901"}}`
	specToPort = `{"type":"EVPL_VC","name":"dc-sv-01","bandwidth_mbps":50,"notification_emails":["noc@example.net"],
		"a_side":{"port_uuid":"` + uuidPortA + `","link_protocol":{"type":"DOT1Q","vlan_tag":1017}},
		"z_side":{"port_uuid":"` + uuidPortZ + `","link_protocol":{"type":"DOT1Q","vlan_tag":1002}}}`
	specToLAN = `{"type":"EVPLAN_VC","name":"dc-lan-01","bandwidth_mbps":50,"notification_emails":["noc@example.net"],
		"a_side":{"port_uuid":"` + uuidPortA + `","link_protocol":{"type":"DOT1Q","vlan_tag":1017}},
		"z_side":{"network_uuid":"` + uuidLAN + `"}}`
	specLAN    = `{"type":"EVPLAN","name":"lan-1","scope":"GLOBAL","notification_emails":["noc@example.net"]}`
	specRouter = `{"name":"fcr-dc-02","metro_code":"DC","package":"STANDARD","account_number":270848,"project_id":"p1","notification_emails":["noc@example.net"]}`
	specToken  = `{"side":"a","name":"tok-1","connection_type":"EVPL_VC","expires_at":"2026-12-20T00:00:00Z","notification_emails":["noc@example.net"],
		"port_uuid":"` + uuidPortA + `","link_protocol":{"type":"DOT1Q","vlan_tag":1399},"bandwidth_limit_mbps":100}`
	specTokenZ = `{"side":"z","name":"tok-2","connection_type":"EVPLAN_VC","expires_at":"2026-12-20T00:00:00Z","notification_emails":["noc@example.net"],
		"network_uuid":"` + uuidLAN + `","network_type":"EVPLAN","supported_bandwidths_mbps":[50,10]}`
)

// typeOf is the change type that a base spec is for.
func typeOf(base string) broker.ChangeType {
	switch base {
	case specLAN:
		return broker.NetworkCreate
	case specRouter:
		return broker.CloudRouterCreate
	case specToken, specTokenZ:
		return broker.ServiceTokenCreate
	}
	return broker.ConnectionCreate
}

func TestRefuses(t *testing.T) {
	for _, tt := range refusalRules {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := compile(typeOf(tt.base), specWith(t, tt.base, tt.set...), casesNow)
			no := refused(t, err)
			var paths []string
			for _, i := range no.Issues {
				paths = append(paths, i.Path)
				if i.Path == tt.path && strings.Contains(i.Message, tt.says) {
					return
				}
			}
			t.Errorf("no issue at %s that says %q in %+v (%v)", tt.path, tt.says, no.Issues, paths)
		})
	}
}

func refused(t *testing.T, err error) *broker.Refusal {
	t.Helper()
	var no *broker.Refusal
	if !errors.As(err, &no) || !errors.Is(err, broker.ErrInvalidSpec) || len(no.Issues) == 0 || no.NextStep == "" {
		t.Fatalf("error %v, want a refusal with issues", err)
	}
	return no
}

func TestAccepts(t *testing.T) {
	for _, tt := range acceptRules {
		t.Run(tt.rule, func(t *testing.T) {
			r, err := compile(typeOf(tt.base), specWith(t, tt.base, tt.set...), casesNow)
			if err != nil {
				t.Fatalf("refused: %+v", refused(t, err).Issues)
			}
			if !strings.Contains(string(r.Body), tt.wire) {
				t.Errorf("no %s in %s", tt.wire, r.Body)
			}
			warned := ""
			for _, w := range r.Warnings {
				warned += w.Path + " "
			}
			if strings.TrimSpace(warned) != tt.warns {
				t.Errorf("warnings at %q, want %q", warned, tt.warns)
			}
		})
	}
}

func TestReportsEverythingInOrder(t *testing.T) {
	spec := `{"zeta":1,"notification_emails":["x"],"z_side":{"port_uuid":"no"},"bandwidth_mbps":"50","name":"a/b","type":"EVPL_VC",
		"a_side":{"link_protocol":{"vlan_tag":1},"port_uuid":"` + uuidPortA + `"},"term_length_months":6}`
	_, err := compile(broker.ConnectionCreate, []byte(spec), casesNow)
	want := []string{
		"name", "bandwidth_mbps", "a_side.link_protocol.type", "a_side.link_protocol.vlan_tag", "z_side.port_uuid",
		"z_side.link_protocol", "term_length_months", "notification_emails[0]", "zeta",
	}
	no := refused(t, err)
	var got []string
	for _, i := range no.Issues {
		got = append(got, i.Path)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("issues at\n%v, want\n%v", got, want)
	}
	if no.Message != "the spec has 9 problems" {
		t.Errorf("message %q", no.Message)
	}
}

func TestBoundsTheAnswer(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"x0":1`)
	for i := range 2000 {
		b.WriteString(`,"x` + strings.Repeat("y", i%50) + `":1`)
	}
	b.WriteString("}")
	_, err := compile(broker.NetworkCreate, []byte(b.String()), casesNow)
	if n := len(refused(t, err).Issues); n != maxIssues+1 {
		t.Errorf("%d issues, want %d", n, maxIssues+1)
	}
}

// The rules that look at the clock are for a proposal, not for recompiling it
// while a person thinks.
func TestClockOnlyWithANow(t *testing.T) {
	spec := []byte(specToken)
	first, err := compile(broker.ServiceTokenCreate, spec, casesNow)
	if err != nil {
		t.Fatal(err)
	}
	again, err := compile(broker.ServiceTokenCreate, spec, time.Time{})
	if err != nil || again.Hash != first.Hash {
		t.Fatalf("recompiled to %s, %v, want %s", again.Hash, err, first.Hash)
	}
	_, err = compile(broker.ServiceTokenCreate, spec, casesNow.AddDate(0, 1, 0))
	if no := refused(t, err); !strings.Contains(no.Issues[0].Message, "past") {
		t.Errorf("a month later: %+v", no.Issues)
	}
	_, err = compile(broker.ServiceTokenCreate, specWith(t, specToken, "expires_at", `"tomorrow"`), time.Time{})
	refused(t, err)
}

// I9: what is secret is in no message.
func TestRepeatsNoSecret(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		spec   []byte
		secret string
	}{
		{"a malformed token id", specWith(t, specToPort, "a_side", `{"service_token_uuid":"71cfd148-ee96-5796-af6b"}`), "71cfd148"},
		{"a key with a control character", specWith(t, specToCloud, "z_side.authentication_key", `"topsecret\u0001key"`), "topsecret"},
		{"an access key for a key", specWith(t, specToCloud, "z_side.authentication_key", `"AKIAEXAMPLEEXAMPLE00"`), "AKIA"},
		{"a pairing key", specWith(t, specToCloud, "z_side.authentication_key", `"d373e256-e98d-5d6b-8b2f-966d245bf710/us-west1/1"`), "d373e256"},
		{"an unknown field", specWith(t, specToCloud, "aws_secret_access_key", `"topsecret"`), "topsecret"},
		{"extra information", specWith(t, specToCloud, "additional_info", `[{"key":"aws_secret_access_key","value":"topsecret"}]`), "topsecret"},
		{"a credential under a harmless key", specWith(t, specToCloud, "additional_info", `[{"key":"note","value":"AKIAEXAMPLEEXAMPLE00"}]`), "AKIAEXAMPLE"},
		{"a credential as a word", specWith(t, specToCloud, "geo_scope", `"AKIAEXAMPLEEXAMPLE00"`), "AKIAEXAMPLE"},
		{"a credential as a field", specWith(t, specToCloud, "AKIAEXAMPLEEXAMPLE00", `1`), "AKIAEXAMPLE"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := compile(broker.ConnectionCreate, tt.spec, casesNow)
			if said := printed(t, refused(t, err)); strings.Contains(said, tt.secret) {
				t.Errorf("repeats %q: %s", tt.secret, said)
			}
		})
	}
}
