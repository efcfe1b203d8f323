package fabric_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

func connSpec(kind string, mbps int, a, z string) string {
	return fmt.Sprintf(`{"type":%q,"name":"c-1","bandwidth_mbps":%d,"notification_emails":["noc@example.net"],"project_id":%q,"a_side":%s,"z_side":%s}`, kind, mbps, fabricsim.Project, a, z)
}

func portSide(uuid string, vlan int) string {
	return fmt.Sprintf(`{"port_uuid":%q,"link_protocol":{"type":"dot1q","vlan_tag":%d}}`, uuid, vlan)
}

func profileSide(uuid, metro, region, key string) string {
	s := fmt.Sprintf(`{"service_profile_uuid":%q,"metro_code":%q`, uuid, metro)
	if region != "" {
		s += fmt.Sprintf(`,"seller_region":%q`, region)
	}
	if key != "" {
		s += fmt.Sprintf(`,"authentication_key":%q`, key)
	}
	return s + "}"
}

func TestLookUpRefuses(t *testing.T) {
	rows := map[string]struct {
		spec    string
		path    string // of what is read; "" = the simulator's own answer
		body    string
		issue   string
		mention []string
		never   string
	}{
		"bandwidth the profile does not offer": {
			awsSpec("c-1", 75, 1017), "/fabric/v4/serviceProfiles/*",
			`{"name":"AWS","accessPointTypeConfigs":[{"type":"COLO","allowCustomBandwidth":false,"supportedBandwidths":[50,"100",200]},{"type":"VD","supportedBandwidths":[75]}]}`,
			"bandwidth_mbps",
			[]string{"75", "50, 100, 200"},
			"",
		},
		"network not ready": {
			connSpec("IPWAN_VC", 50, `{"cloud_router_uuid":"`+routerDC+`"}`, `{"network_uuid":"`+netIPWAN+`"}`), "/fabric/v4/networks/*",
			`{"uuid":"` + netIPWAN + `","state":"INACTIVE"}`, "z_side.network_uuid",
			[]string{netIPWAN, "INACTIVE"},
			"",
		},
		"router not ready": {
			connSpec("IP_VC", 50, `{"cloud_router_uuid":"`+routerDC+`"}`, portSide(portSV, 1200)), "/fabric/v4/routers/*",
			`{"state":"PROVISIONING","package":{"code":"STANDARD"}}`, "a_side.cloud_router_uuid",
			[]string{routerDC, "PROVISIONING"},
			"",
		},
		"more than the router's package carries": {
			connSpec("IP_VC", 200, `{"cloud_router_uuid":"`+routerLab+`"}`, portSide(portSV, 1200)), "", "",
			"bandwidth_mbps",
			[]string{"LAB", "50", "200"},
			"",
		},
		"a Google key without its tail": {
			connSpec("EVPL_VC", 50, portSide(portDC, 1017), profileSide(google, "DC", "us-east4", "d373e256-e98d-5d6b-8b2f-966d245bf710")), "", "",
			"z_side.authentication_key",
			[]string{"uuid/region/zone"},
			"d373e256",
		},
		"a Google key of another region": {
			connSpec("EVPL_VC", 50, portSide(portDC, 1017), profileSide(google, "DC", "us-west1", "d373e256-e98d-5d6b-8b2f-966d245bf710/us-west1/1")), "", "",
			"z_side.authentication_key",
			[]string{"us-west1", "us-east4"},
			"d373e256",
		},
		"a Google key of the other zone": {
			connSpec("EVPL_VC", 50, portSide(portDC, 1017), profileSide(google, "DC", "us-east4", "d373e256-e98d-5d6b-8b2f-966d245bf710/us-east4/2")), "", "",
			"z_side.authentication_key",
			[]string{"zone 2", "zone 1"},
			"d373e256",
		},
		"more than the token allows": {
			connSpec("EVPL_VC", 200, `{"service_token_uuid":"`+tokenA+`"}`, portSide(portSV, 1200)), "/fabric/v4/serviceTokens/*",
			`{"state":"INACTIVE","connection":{"bandwidthLimit":50,"allowRemoteConnection":false,"aSide":{"accessPointSelectors":[{"type":"COLO"}]}}}`,
			"bandwidth_mbps",
			[]string{"200", "50"},
			tokenA,
		},
		"a bandwidth that the token does not list": {
			connSpec("EVPL_VC", 500, portSide(portDC, 1017), `{"service_token_uuid":"`+tokenZ+`"}`), "", "",
			"bandwidth_mbps",
			[]string{"500", "50, 100, 200"},
			tokenZ,
		},
		"a token of the other side": {
			connSpec("EVPL_VC", 50, `{"service_token_uuid":"`+tokenZ+`"}`, portSide(portSV, 1200)), "", "",
			"a_side.service_token_uuid",
			[]string{"z-side token"},
			tokenZ,
		},
		"a spent token": {
			connSpec("EVPL_VC", 50, `{"service_token_uuid":"`+tokenA+`"}`, portSide(portSV, 1200)), "/fabric/v4/serviceTokens/*",
			`{"state":"ACTIVE","connection":{"aSide":{}}}`, "a_side.service_token_uuid",
			[]string{"redeemed"},
			tokenA,
		},
		"an expired token": {
			connSpec("EVPL_VC", 50, `{"service_token_uuid":"`+tokenA+`"}`, portSide(portSV, 1200)), "/fabric/v4/serviceTokens/*",
			`{"state":"INACTIVE","expirationDateTime":"2020-05-31T10:30:00.000+0000","connection":{"aSide":{"accessPointSelectors":{}}}}`,
			"a_side.service_token_uuid",
			[]string{"2020-05-31"},
			tokenA,
		},
		"a local token from afar": {
			connSpec("EVPL_VC", 50, `{"service_token_uuid":"`+tokenA+`"}`, portSide(portSV, 1200)), "/fabric/v4/serviceTokens/*",
			`{"connection":{"allowRemoteConnection":false,"aSide":{"accessPointSelectors":[{"location":{"metroCode":"DC"}}]}}}`,
			"a_side.service_token_uuid",
			[]string{"DC", "SV"},
			tokenA,
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if row.path != "" {
				r.fail("GET", row.path, nil, status(200, row.body), 0)
			}
			_, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.ConnectionCreate, row.spec))
			got := refusal(t, err)
			if got.Code != broker.ErrPreflightFailed || len(got.Issues) == 0 || got.Issues[0].Path != row.issue {
				t.Errorf("got %s", whole(got))
			}
			got.Upstream = nil
			mentions(t, got, row.mention...)
			if row.never != "" && (strings.Contains(whole(got), row.never) || strings.Contains(r.log.String(), row.never)) {
				t.Errorf("a secret is in %s or the log", whole(got))
			}
		})
	}
}

// I11: what cannot be checked is a warning, and never a refusal.
func TestLookUpWarns(t *testing.T) {
	echo := func(r *rig, req broker.Request) {
		r.fail("POST", "/fabric/v4/connections", dry, status(200, string(req.Body)), 0)
	}
	ports, profiles := "/fabric/v4/ports/*", "/fabric/v4/serviceProfiles/*"
	rows := map[string]struct {
		spec, path string
		do         fabricsim.Action
		where      string
		mention    string
	}{
		"unread 404":            {awsSpec("c-1", 50, 1017), ports, status(404, `[{"errorCode":"EQ-3045811","errorMessage":"uuid not found"}]`), "a_side.port_uuid", "cannot see this port"},
		"unread 400":            {awsSpec("c-1", 50, 1017), ports, status(400, `[{"errorCode":"EQ-3035202","errorMessage":"Unable to fetch port details"}]`), "a_side.port_uuid", "cannot see this port"},
		"unread 503":            {awsSpec("c-1", 50, 1017), profiles, status(503, ``), "z_side.service_profile_uuid", "not checked"},
		"unread 403":            {awsSpec("c-1", 50, 1017), profiles, status(403, `[{"errorCode":"EQ-3045003","errorMessage":"Operation not allowed"}]`), "z_side.service_profile_uuid", "EQ-3045003"},
		"unread in time":        {awsSpec("c-1", 50, 1017), ports, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 3000}, "a_side.port_uuid", "too long"},
		"not an object":         {awsSpec("c-1", 50, 1017), ports, status(200, `[]`), "a_side.port_uuid", "not checked"},
		"no tiers":              {awsSpec("c-1", 50, 1017), profiles, status(200, `{"accessPointTypeConfigs":[{"type":"COLO","supportedBandwidths":[]}]}`), "bandwidth_mbps", "not checked"},
		"port not active":       {awsSpec("c-1", 50, 1017), ports, status(200, `{"state":"PROVISIONING"}`), "a_side.port_uuid", "PROVISIONING"},
		"port encapsulation":    {awsSpec("c-1", 50, 1017), ports, status(200, `{"encapsulation":{"type":"QINQ"}}`), "a_side.port_uuid", "QINQ"},
		"metro not listed":      {awsSpec("c-1", 50, 1017), profiles, status(200, `{"accessPointTypeConfigs":[{"allowCustomBandwidth":true}],"metros":[{"code":"SV"}]}`), "z_side.metro_code", "DC"},
		"region not listed":     {awsSpec("c-1", 50, 1017), profiles, status(200, `{"accessPointTypeConfigs":[{"allowCustomBandwidth":true}],"metros":[{"code":"DC","sellerRegions":{"us-gov-1":"x"}}]}`), "z_side.seller_region", "us-gov-1"},
		"router package unread": {connSpec("IP_VC", 50, `{"cloud_router_uuid":"`+routerDC+`"}`, portSide(portSV, 1200)), "/fabric/v4/routerPackages/*", status(404, ``), "a_side.cloud_router_uuid", "STANDARD"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *fabric.Options) { o.LookupTimeout = 500 * time.Millisecond })
			req := compiled(t, r.api, broker.ConnectionCreate, row.spec)
			echo(r, req)
			r.fail("GET", row.path, nil, row.do, 0)
			got, err := r.api.Validate(t.Context(), req)
			if err != nil {
				t.Fatal(whole(err))
			}
			if len(got.Warnings) != 1 || got.Warnings[0].Path != row.where {
				t.Errorf("got %+v, want one at %s", got.Warnings, row.where)
			}
			mentions(t, got.Warnings, row.mention)
		})
	}
	t.Run("dates and parts nobody expects", func(t *testing.T) {
		r := newRig(t)
		r.fail("GET", ports, nil, status(200, `{"uuid":7,"changeLog":{"updatedDateTime":"2024-10-21T10:11:12.000+0000"},"location":null,"account":[],"encapsulation":"x"}`), 0)
		r.fail("GET", profiles, nil, status(200, `{"accessPointTypeConfigs":{"supportedBandwidths":"50"},"metros":"DC","name":{}}`), 0)
		if _, err := r.api.Validate(t.Context(), compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017))); err != nil {
			t.Error(whole(err))
		}
	})
}

// A proposal validates and quotes at the same time; each asset is read once. A
// read that failed is made again.
func TestEachAssetIsReadOnce(t *testing.T) {
	r := newRig(t)
	req := compiled(t, r.api, broker.ConnectionCreate, connSpec("IP_VC", 50, `{"cloud_router_uuid":"`+routerDC+`"}`, profileSide(aws, "DC", "us-east-1", "210987654321")))
	both := func() {
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.api.Validate(t.Context(), req); err != nil {
				t.Error(whole(err))
			}
		})
		wg.Go(func() { r.api.Quote(t.Context(), req) })
		wg.Wait()
	}
	both()
	for _, p := range []string{"/fabric/v4/routers/*", "/fabric/v4/routerPackages/*", "/fabric/v4/serviceProfiles/*"} {
		if n := r.count("GET", p); n != 1 {
			t.Errorf("%s was read %d times, want once", p, n)
		}
	}
	old := r.client(func(o *fabric.Options) {
		step := time.Now()
		var mu sync.Mutex
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); step = step.Add(3 * time.Second); return step }
	})
	r.sim.Reset()
	for range 2 {
		_, _ = old.Validate(t.Context(), req)
	}
	if n := r.count("GET", "/fabric/v4/routers/*"); n != 2 {
		t.Errorf("read %d times after two proposals far apart, want 2", n)
	}
	r.sim.Reset()
	fresh := r.client()
	r.fail("GET", "/fabric/v4/routers/*", nil, status(404, ``), 1)
	for range 2 {
		_, _ = fresh.Validate(t.Context(), req)
	}
	if n := r.count("GET", "/fabric/v4/routers/*"); n != 2 {
		t.Errorf("read %d times after a failure, want 2", n)
	}
}
