package fabricsim

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDryRunAndCreate(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		dry, real        int
		state            string
		settled          string
	}{
		{"connection", connections, portToAWS(1017), 200, 201, "PROVISIONING", "PROVISIONED"},
		{"network", "/fabric/v4/networks", plainNetwork, 201, 201, "INACTIVE", "ACTIVE"},
		{"service token", "/fabric/v4/serviceTokens", zToken, 200, 201, "INACTIVE", "INACTIVE"},
		{"cloud router", "/fabric/v4/routers", router, 200, 200, "PROVISIONING", "PROVISIONED"},
		{"port", "/fabric/v4/ports", newPort, 200, 202, "PENDING", "PENDING"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			before := len(r.sim.Assets(""))
			d := r.post(tt.path+"?dryRun=true", tt.body, tt.dry).doc
			for _, key := range []string{"uuid", "state", "changeLog", "operation", "change"} {
				if _, ok := d[key]; ok {
					t.Errorf("dry run has %s", key)
				}
			}
			sent, _ := parseObject([]byte(tt.body))
			if d["type"] != sent["type"] || d["name"] != sent["name"] {
				t.Errorf("dry run says %v %v", d["type"], d["name"])
			}
			if n := len(r.sim.Assets("")); n != before {
				t.Fatalf("dry run left %d assets, had %d", n, before)
			}

			d = r.post(tt.path, tt.body, tt.real).doc
			if d["state"] != tt.state || text(d, "uuid") == "" || text(d, "changeLog/createdDateTime") != "2026-11-30T00:00:00.000Z" {
				t.Errorf("create says %v", d)
			}
			if n := len(r.sim.Assets("")); n != before+1 {
				t.Fatalf("create left %d assets, had %d", n, before)
			}
			r.clock.move(5 * time.Second)
			if s := r.get(tt.path+"/"+text(d, "uuid"), 200).doc["state"]; s != tt.settled {
				t.Errorf("comes to rest as %v, want %s", s, tt.settled)
			}
		})
	}
}

func TestDryRunEcho(t *testing.T) {
	r := newRig(t)
	body := with(with(portToAWS(1017), "/order/termLength", 12), "/unheardOf", 1)
	d := r.post(connections+"?dryRun=true", body, 200).doc
	want := doc{
		"type": "EVPL_VC", "name": "dc-aws-01", "bandwidth": d["bandwidth"], "project": doc{"projectId": Project},
		"notifications": []any{doc{"type": "ALL", "emails": []any{"noc@example.net"}}},
		"aSide": doc{"accessPoint": doc{
			"type": "COLO", "port": doc{"uuid": portDC, "href": base + "/fabric/v4/ports/" + portDC},
			"linkProtocol": doc{"type": "DOT1Q", "vlanTag": at(d, "aSide/accessPoint/linkProtocol/vlanTag")},
		}},
		"zSide": doc{"accessPoint": doc{
			"type": "SP", "profile": doc{"uuid": aws, "type": "L2_PROFILE", "href": base + "/fabric/v4/serviceProfiles/" + aws},
			"location":     doc{"metroCode": "DC", "metroHref": metroHref("DC")},
			"sellerRegion": "us-east-1", "authenticationKey": "012345678901",
		}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("echo (-want +got):\n%s", diff)
	}
}

func TestNetworkDryRunStatus(t *testing.T) {
	r := rigFor(t, &Sim{NetworkDryRunStatus: http.StatusOK})
	r.post("/fabric/v4/networks?dryRun=true", plainNetwork, 200)
	r.post("/fabric/v4/networks", plainNetwork, 201)
}

func TestCreateNetworkLinks(t *testing.T) {
	r := newRig(t)
	d := r.post("/fabric/v4/networks", plainNetwork, 201).doc
	if _, ok := d["links"].(doc); !ok {
		t.Errorf("links after a create = %T, want an object", d["links"])
	}
	d = r.get("/fabric/v4/networks/"+text(d, "uuid"), 200).doc
	if _, ok := d["links"].([]any); !ok {
		t.Errorf("links later = %T, want an array", d["links"])
	}
	if s := text(d, "operation/equinixStatus"); s != "PROVISIONING" {
		t.Errorf("equinixStatus = %s", s)
	}
}

func TestConnectionRests(t *testing.T) {
	for _, tt := range []struct {
		name, body                      string
		state, equinix, provider        string
		laterState, laterEq, laterProvi string
	}{
		{
			"provider", portToAWS(1017), "PROVISIONING", "PROVISIONING", "PROVISIONING", "PROVISIONED", "PROVISIONED", "AVAILABLE",
		},
		{
			"generic provider waits for approval", connection("EVPL_VC", colo(portDC, dot1q(20)), profile(generic)),
			"PENDING", "PENDING_APPROVAL", "PENDING_APPROVAL", "PENDING", "PENDING_APPROVAL", "PENDING_APPROVAL",
		},
		{
			"router to port waits for an interface", connection("IP_VC", fcr(routerDC), colo(portSV, dot1q(20))),
			"PROVISIONING", "PENDING_INTERFACE_CONFIGURATION", "NOT_AVAILABLE", "PROVISIONED", "PENDING_INTERFACE_CONFIGURATION", "NOT_AVAILABLE",
		},
		{
			"port to port", connection("EVPL_VC", colo(portDC, dot1q(20)), colo(portSV, dot1q(20))),
			"PROVISIONING", "PROVISIONING", "NOT_AVAILABLE", "PROVISIONED", "PROVISIONED", "NOT_AVAILABLE",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			d := r.post(connections, tt.body, 201).doc
			state := func(d doc) []string {
				return []string{text(d, "state"), text(d, "operation/equinixStatus"), text(d, "operation/providerStatus")}
			}
			if diff := cmp.Diff([]string{tt.state, tt.equinix, tt.provider}, state(d)); diff != "" {
				t.Errorf("at first (-want +got):\n%s", diff)
			}
			if text(d, "redundancy/group") == "" || text(d, "redundancy/group") == text(d, "uuid") || text(d, "order/billingTier") != "Up to 50 MB" {
				t.Errorf("redundancy %v, order %v", d["redundancy"], d["order"])
			}
			r.clock.move(time.Minute)
			d = r.get(connections+"/"+text(d, "uuid"), 200).doc
			if diff := cmp.Diff([]string{tt.laterState, tt.laterEq, tt.laterProvi}, state(d)); diff != "" {
				t.Errorf("at rest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryConnectionType(t *testing.T) {
	vd := doc{"accessPoint": doc{"type": "VD", "virtualDevice": doc{"type": "EDGE", "uuid": "3b1c1e52-8f5c-4a3e-9d0f-5d2f7f0c7a11"}}}
	r := newRig(t)
	if err := r.sim.Put(map[string]any{"kind": "service_profile", "uuid": "0a2f7c52-1111-4a3e-9d0f-5d2f7f0c7a11", "type": "IA_PROFILE", "metros": []string{"DC"}}); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"EVPL qinq":     connection("EVPL_VC", colo(portQinQ, doc{"type": "QINQ", "vlanSTag": 10, "vlanCTag": 11}), colo(portSV, dot1q(30))),
		"EVPL device":   connection("EVPL_VC", vd, colo(portSV, dot1q(31))),
		"EVPL untagged": connection("EVPL_VC", colo(portDC, dot1q(32)), colo(portEPL, doc{"type": "UNTAGGED"})),
		"EPL":           connection("EPL_VC", colo(portEPL, nil), colo(portEPLFR, nil)),
		"ACCESS_EPL":    connection("ACCESS_EPL_VC", colo(portQinQ, doc{"type": "QINQ", "vlanSTag": 12}), colo(portEPL, nil)),
		"EVPLAN":        connection("EVPLAN_VC", colo(portDC, dot1q(33)), network(netEVPLAN)),
		"EPLAN":         connection("EPLAN_VC", colo(portEPL, nil), network(netEPLAN)),
		"EPLAN tagged":  connection("EPLAN_VC", colo(portEPL, dot1q(34)), network(netEPLAN)),
		"EVPTREE":       with(connection("EVPTREE_VC", colo(portDC, dot1q(35)), network(netEVPTREE)), "/zSide/accessPoint/role", "LEAF"),
		"EPTREE":        connection("EPTREE_VC", colo(portEPL, nil), network(netEPTREE)),
		"IPWAN":         connection("IPWAN_VC", fcr(routerDC), network(netIPWAN)),
		"IP to SP":      with(connection("IP_VC", fcr(routerDC), profile(aws)), "/zSide/accessPoint/authenticationKey", "1"),
		"IA":            connection("IA_VC", vd, profile("0a2f7c52-1111-4a3e-9d0f-5d2f7f0c7a11")),
		"Azure C-tag": with(with(connection("EVPL_VC", colo(portDC, dot1q(36)), profile(azure)), "/zSide/accessPoint/authenticationKey", "k"),
			"/zSide/accessPoint/linkProtocol", doc{"type": "QINQ", "vlanCTag": 100}),
	} {
		t.Run(name, func(t *testing.T) {
			r := &rig{t: t, sim: r.sim, url: r.url, clock: r.clock}
			r.post(connections+"?dryRun=true", body, 200)
		})
	}
	t.Run("created without a dry run", func(t *testing.T) {
		r := &rig{t: t, sim: r.sim, url: r.url, clock: r.clock}
		body := connection("MC_VC", colo(portEPL, nil), colo(portEPLFR, nil))
		g := r.post(connections+"?dryRun=true", body, 400)
		if diff := cmp.Diff([]string{"EQ-3142411"}, g.codes()); diff != "" {
			t.Error(diff)
		}
		r.post(connections, body, 201)
	})
}
