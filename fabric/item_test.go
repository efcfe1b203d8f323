package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

func TestItem(t *testing.T) {
	r := compiled(t, broker.ConnectionCreate, specWith(t, specToCloud, "term_length_months", "24"))
	want := pricing.Item{
		Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50, AType: "COLO", ZType: "SP",
		ZMetro: "DC", ProfileUUID: uuidCloud, TermMonths: 24,
	}
	if d := cmp.Diff(want, r.Item); d != "" {
		t.Errorf("from the spec (-want +got):\n%s", d)
	}
	want.AMetro, want.AccountNumber = "SV", 270848
	if d := cmp.Diff(want, itemOf(r, facts{A: asset{Metro: "SV", Account: "270848"}, Z: asset{Metro: "LD"}})); d != "" {
		t.Errorf("with look-ups (-want +got):\n%s", d)
	}
}

func TestItemOfTokens(t *testing.T) {
	for _, tt := range []struct {
		rule, side string
		billed     string
	}{
		{"an A-side token bills its creator", "a_side", "the creator of the A-side token"},
		{"a Z-side token bills its redeemer", "z_side", "the redeemer of the Z-side token"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			r := compiled(t, broker.ConnectionCreate, specWith(t, specToPort, tt.side, `{"service_token_uuid":"`+uuidToken+`"}`))
			if r.Item.BilledTo != tt.billed || r.Brief.Pays == "" || !r.Brief.Billable {
				t.Errorf("billed to %q, %q", r.Item.BilledTo, r.Brief.Pays)
			}
		})
	}
}

func TestNothingBillable(t *testing.T) {
	for _, spec := range []string{specLAN, specToken, specTokenZ} {
		r := compiled(t, typeOf(spec), []byte(spec))
		if r.Item.Billable() || r.Brief.Billable || r.Brief.Pays == "" {
			t.Errorf("%s: %+v, %+v", r.ChangeType, r.Item, r.Brief)
		}
	}
}

func TestCompileForPrice(t *testing.T) {
	for _, tt := range []struct {
		rule string
		t    broker.ChangeType
		spec string
		want pricing.Item
	}{
		{
			"a connection without names, VLANs and keys", broker.ConnectionCreate,
			`{"type":"evpl_vc","bandwidth_mbps":50,"a_side":{"port_uuid":"` + uuidPortA + `","metro_code":"DC"},"z_side":{"service_profile_uuid":"` + uuidCloud + `"}}`,
			pricing.Item{Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50, AType: "COLO", AMetro: "DC", ZType: "SP", ProfileUUID: uuidCloud},
		},
		{
			"metros alone", broker.ConnectionCreate,
			`{"type":"EVPL_VC","bandwidth_mbps":50,"a_side":{"metro_code":"dc"},"z_side":{"metro_code":"sv"}}`,
			pricing.Item{Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50, AMetro: "DC", ZMetro: "SV"},
		},
		{
			"whatever decides no price, sound or not", broker.ConnectionCreate,
			`{"type":"EVPL_VC","bandwidth_mbps":50,"name":7,"colour":"red","notification_emails":"x","a_side":{"link_protocol":"x"},"redundancy":[]}`,
			pricing.Item{Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50},
		},
		{
			"a router", broker.CloudRouterCreate, `{"metro_code":"dc","package":"premium","term_length_months":36}`,
			pricing.Item{Product: pricing.ProductRouter, Metro: "DC", Package: "PREMIUM", TermMonths: 36},
		},
		{"a network", broker.NetworkCreate, `{}`, pricing.Item{}},
		{"a token", broker.ServiceTokenCreate, `{"expires_at":"never"}`, pricing.Item{}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			r, err := compileForPrice(tt.t, []byte(tt.spec))
			if err != nil {
				t.Fatalf("refused: %+v", refused(t, err).Issues)
			}
			if d := cmp.Diff(tt.want, r.Item); d != "" {
				t.Errorf("item (-want +got):\n%s", d)
			}
		})
	}
	_, err := compileForPrice(broker.ConnectionCreate, []byte(`{"type":"EVPL_VC","bandwidth_mbps":"50"}`))
	refused(t, err)
	_, err = compileForPrice(broker.CloudRouterCreate, []byte(`{"metro_code":"DC"}`))
	refused(t, err)
}
