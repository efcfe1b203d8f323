package fabricsim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVLANsAreUniquePerPort(t *testing.T) {
	r := newRig(t)
	taken := []string{"EQ-3142102 /aSide/accessPoint/linkProtocol"}
	r.post(connections, portToAWS(1017), 201)
	for _, path := range []string{connections + "?dryRun=true", connections} {
		if diff := cmp.Diff(taken, r.post(path, portToAWS(1017), 400).codes()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	// Names are not unique, and another port has its own VLANs.
	r.post(connections, with(portToAWS(1017), "/aSide/accessPoint/port/uuid", portSV), 201)
	r.post(connections, connection("EVPL_VC", colo(portDC, dot1q(1017)), colo(portSV, dot1q(4000))), 400)
	g := r.post(connections, connection("EVPL_VC", colo(portDC, dot1q(2000)), colo(portSV, dot1q(1017))), 400)
	if diff := cmp.Diff([]string{"EQ-3142102 /zSide/accessPoint/linkProtocol"}, g.codes()); diff != "" {
		t.Error(diff)
	}
	// A token reserves its VLAN as well.
	if diff := cmp.Diff(taken, r.post(connections, portToAWS(3001), 400).codes()); diff != "" {
		t.Error(diff)
	}
	q := func(s, c int) string {
		return with(connection("EVPL_VC", colo(portQinQ, doc{"type": "QINQ", "vlanSTag": s, "vlanCTag": c}), profile(generic)), "/name", "q")
	}
	r.post(connections, q(10, 20), 201)
	r.post(connections, q(10, 21), 201)
	r.post(connections, q(10, 20), 400)
}

func TestDeletedConnectionHoldsItsVLAN(t *testing.T) {
	r := newRig(t)
	put := func(state string) {
		t.Helper()
		err := r.sim.Put(map[string]any{
			"kind": "connection", "uuid": "77777777-0000-4000-8000-000000000001", "name": "old", "state": state,
			"port_uuid": portDC, "vlan_tag": 1017, "service_profile_uuid": aws, "seller_region": "us-east-1",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("DEPROVISIONING")
	r.clock.move(time.Hour)
	r.post(connections, portToAWS(1017), 400)
	put("DEPROVISIONED")
	r.post(connections, portToAWS(1017), 400)
	r.clock.move(10 * time.Minute)
	r.post(connections, portToAWS(1017), 201)
}

func TestLinkProtocols(t *testing.T) {
	r := newRig(t)
	d := r.get("/fabric/v4/ports/"+portDC+"/linkProtocols", 200).doc
	got := map[string]string{}
	for _, row := range list(d, "data") {
		row, _ := row.(doc)
		got[tags(row)] = text(row, "asset/uuid") + text(row, "serviceToken/uuid") + " " + text(row, "state")
	}
	want := map[string]string{"3100": liveConn + " RESERVED", "3001": tokenA + " RESERVED"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("link protocols (-want +got):\n%s", diff)
	}
	g := r.get("/fabric/v4/ports/"+aws+"/linkProtocols", 400)
	if text(g.list[0], "additionalInfo/property") != "portUuid" {
		t.Errorf("%s", g.raw)
	}
}

func TestTokenRedemption(t *testing.T) {
	r := newRig(t)
	body := connection("EVPL_VC", token(tokenA), colo(portSV, dot1q(900)))
	d := r.post(connections+"?dryRun=true", body, 200).doc
	if has(d, "aSide/accessPoint") {
		t.Errorf("dry run resolved the token: %v", d)
	}
	if s := r.get("/fabric/v4/serviceTokens/"+tokenA, 200).doc["state"]; s != "INACTIVE" {
		t.Errorf("after a dry run the token is %v", s)
	}
	d = r.post(connections, body, 201).doc
	if text(d, "aSide/accessPoint/port/uuid") != portDC || text(d, "aSide/serviceToken/uuid") != tokenA {
		t.Errorf("A side %v", d["aSide"])
	}
	if s := r.get("/fabric/v4/serviceTokens/"+tokenA, 200).doc["state"]; s != "ACTIVE" {
		t.Errorf("redeemed token is %v", s)
	}
	again := connection("EVPL_VC", token(tokenA), colo(portSV, dot1q(901)))
	if diff := cmp.Diff([]string{"EQ-3142501 /aSide/serviceToken/uuid"}, r.post(connections, again, 400).codes()); diff != "" {
		t.Error(diff)
	}
}

func TestTokenExpires(t *testing.T) {
	r := newRig(t)
	id := text(r.post("/fabric/v4/serviceTokens", zToken, 201).doc, "uuid")
	r.clock.move(21 * 24 * time.Hour)
	if s := r.get("/fabric/v4/serviceTokens/"+id, 200).doc["state"]; s != "EXPIRED" {
		t.Errorf("state %v", s)
	}
	r.post(connections, connection("EVPL_VC", colo(portSV, dot1q(902)), token(id)), 400)
}
