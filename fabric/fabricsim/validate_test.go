package fabricsim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConnectionRefused(t *testing.T) {
	ok := portToAWS(1017)
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"nothing", `{}`, []string{
			"EQ-3142501 /type", "EQ-3142501 /name", "EQ-3142501 /notifications", "EQ-3142501 /bandwidth", "EQ-3142501 /aSide", "EQ-3142501 /zSide",
		}},
		{"several at once", with(with(ok, "/bandwidth", 75), "/zSide/accessPoint/authenticationKey", nil), []string{
			"EQ-3142308 /zSide/accessPoint/authenticationKey", "EQ-3142306 /bandwidth",
		}},
		{"bandwidth as text", with(ok, "/bandwidth", "50"), []string{"EQ-3142501 /bandwidth", "EQ-3142306 /bandwidth"}},
		{"term", with(ok, "/order/termLength", 6), []string{"EQ-3142501 /order/termLength"}},
		{"notifications as an object", with(ok, "/notifications", doc{"type": "ALL"}), []string{"EQ-3142501 /notifications"}},
		{"address", with(ok, "/notifications", []any{doc{"type": "ALL", "emails": []any{"nobody"}}}), []string{"EQ-3142501 /notifications/emails"}},
		{"port", with(ok, "/aSide/accessPoint/port/uuid", aws), []string{"EQ-3142501 aSide/accessPoint/port/uuid"}},
		{"profile", with(ok, "/zSide/accessPoint/profile/uuid", portDC), []string{"EQ-3142301 /zSide/accessPoint/profile/uuid"}},
		{"metro", with(ok, "/zSide/accessPoint/location/metroCode", "HK"), []string{"EQ-3142302 /zSide/accessPoint/location/metroCode"}},
		{"seller region", with(ok, "/zSide/accessPoint/sellerRegion", "us-west-1"), []string{"EQ-3142501 /zSide/accessPoint/sellerRegion"}},
		{"VLAN range", with(ok, "/aSide/accessPoint/linkProtocol/vlanTag", 4093), []string{"EQ-3142501 /aSide/accessPoint/linkProtocol/vlanTag"}},
		{"S-tag on DOT1Q", with(ok, "/aSide/accessPoint/linkProtocol/vlanSTag", 5), []string{"EQ-3142501 /aSide/accessPoint/linkProtocol/vlanSTag"}},
		{"encapsulation", with(ok, "/aSide/accessPoint/linkProtocol", doc{"type": "QINQ", "vlanSTag": 5}), []string{"EQ-3142501 /aSide/accessPoint/linkProtocol"}},
		{"no link protocol", with(ok, "/aSide/accessPoint/linkProtocol", nil), []string{"EQ-3142501 /aSide/accessPoint/linkProtocol"}},
		{"both on a side", with(ok, "/aSide/serviceToken/uuid", tokenA), []string{"EQ-3142501 /aSide"}},
		{"router as EVPL", connection("EVPL_VC", fcr(routerDC), colo(portSV, dot1q(9))), []string{"EQ-3142501 /aSide/accessPoint/type"}},
		{"port as IPWAN", connection("IPWAN_VC", colo(portDC, dot1q(9)), network(netIPWAN)), []string{"EQ-3142501 /aSide/accessPoint/type"}},
		{"network of another type", connection("EVPLAN_VC", colo(portDC, dot1q(9)), network(netEPLAN)), []string{"EQ-3142501 /zSide/accessPoint/network/uuid"}},
		{"tag on EPL", connection("EPL_VC", colo(portEPL, dot1q(9)), colo(portEPLFR, nil)), []string{"EQ-3142501 /aSide/accessPoint/linkProtocol"}},
		{"LAB bandwidth", with(with(connection("IP_VC", fcr(routerLab), profile(aws)), "/bandwidth", 200), "/zSide/accessPoint/authenticationKey", "1"), []string{"EQ-3142501 /bandwidth"}},
		{"router metro", with(connection("IP_VC", fcr(routerDC), colo(portSV, dot1q(9))), "/aSide/accessPoint/location/metroCode", "SV"), []string{"EQ-3142013 /aSide/accessPoint/router/uuid"}},
		{"role", with(connection("EVPTREE_VC", colo(portDC, dot1q(9)), network(netEVPTREE)), "/zSide/accessPoint/role", "TREE"), []string{"EQ-3142501 /zSide/accessPoint/role"}},
		{"group required", with(ok, "/redundancy/priority", "SECONDARY"), []string{"EQ-3142514 /redundancy/group"}},
		{"priority required", with(ok, "/redundancy/group", "g"), []string{"EQ-3142515 /redundancy/priority"}},
		{"unknown group", with(ok, "/redundancy", doc{"priority": "SECONDARY", "group": "g"}), []string{"EQ-3142516 /redundancy/group"}},
		{"empty group", with(ok, "/redundancy", doc{"priority": "PRIMARY", "group": ""}), []string{"EQ-3142516 /redundancy/group"}},
		{"unknown priority", with(ok, "/redundancy/priority", "THIRD"), []string{"EQ-3142517 /redundancy/priority"}},
		{
			"primary only", with(with(with(with(ok, "/zSide/accessPoint/profile/uuid", google), "/zSide/accessPoint/sellerRegion", "us-east4"),
				"/redundancy", doc{"priority": "SECONDARY", "group": "g"}), "/zSide/accessPoint/authenticationKey", "k"),
			[]string{"EQ-3142303 /redundancy/priority", "EQ-3142516 /redundancy/group"},
		},
		{"token bandwidth", with(connection("EVPL_VC", token(tokenA), colo(portSV, dot1q(9))), "/bandwidth", 1000), []string{"EQ-3142535 /aSide/serviceToken/uuid"}},
		{"token of the other side", connection("EVPL_VC", token(tokenZ), colo(portSV, dot1q(9))), []string{"EQ-3142501 /aSide/serviceToken/uuid"}},
		{"token from afar", connection("EVPL_VC", colo(portDC, dot1q(9)), token(tokenZ)), []string{"EQ-3142536 /zSide/accessPoint/port/uuid"}},
		{"token of another type", connection("IP_VC", fcr(routerDC), token(tokenZ)), []string{"EQ-3142501 /zSide/serviceToken/uuid", "EQ-3142536 /zSide/accessPoint/port/uuid"}},
		{"no such token", connection("EVPL_VC", token(aws), colo(portSV, dot1q(9))), []string{"EQ-3142501 /aSide/serviceToken/uuid"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			for _, path := range []string{connections + "?dryRun=true", connections} {
				if diff := cmp.Diff(tt.want, r.post(path, tt.body, 400).codes()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
			if n := len(r.sim.Assets(KindConnection)); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestOthersRefused(t *testing.T) {
	const networks, routers, tokens, ports = "/fabric/v4/networks", "/fabric/v4/routers", "/fabric/v4/serviceTokens", "/fabric/v4/ports"
	for _, tt := range []struct {
		name, path, body string
		want             []string
	}{
		{"network: nothing", networks, `{}`, []string{"EQ-3142501 /type", "EQ-3142501 /name", "EQ-3142501 /notifications", "EQ-3142501 /scope"}},
		{"network: region", networks, with(plainNetwork, "/scope", "REGIONAL"), []string{"EQ-3142501 /location/region"}},
		{"network: project", networks, with(plainNetwork, "/project", doc{}), []string{"EQ-3142501 /project/projectId"}},
		{"router: name", routers, with(router, "/name", "ab"), []string{"EQ-3040022 /name"}},
		{"router: package", routers, with(router, "/package/code", "PRO"), []string{"EQ-3040028"}},
		{"router: account", routers, with(router, "/account/accountNumber", 999999999), []string{"EQ-3040032 /account/accountNumber"}},
		{"router: account as text", routers, with(router, "/account/accountNumber", "270848"), []string{"EQ-3040032 /account/accountNumber"}},
		{"router: no account", routers, with(router, "/account", nil), []string{"EQ-3040032 /account/accountNumber"}},
		{"router: empty order", routers, with(router, "/order", doc{}), []string{"EQ-3142501 /order/purchaseOrderNumber"}},
		{"router: metro", routers, with(router, "/location/metroCode", "DC5"), []string{"EQ-3142501 /location/metroCode"}},
		{"token: past", tokens, with(zToken, "/expirationDateTime", "2026-11-29T00:00:00Z"), []string{"EQ-3142501 /expirationDateTime"}},
		{"token: too far", tokens, with(zToken, "/expirationDateTime", "2027-03-01T00:00:00Z"), []string{"EQ-3142501 /expirationDateTime"}},
		{"token: no side", tokens, with(zToken, "/connection/zSide", nil), []string{"EQ-3142501 /connection"}},
		{
			"token: port", tokens, with(zToken, "/connection/zSide/accessPointSelectors", []any{doc{"type": "COLO", "port": doc{"uuid": aws}}}),
			[]string{"EQ-3142501 /connection/zSide/accessPointSelectors/port/uuid"},
		},
		{"token: VLAN in use", tokens, with(zToken, "/connection/zSide/accessPointSelectors", []any{
			doc{"type": "COLO", "port": doc{"uuid": portDC}, "linkProtocol": dot1q(3100)},
		}), []string{"EQ-3142102 /connection/zSide/accessPointSelectors/linkProtocol"}},
		{"port: unknown key", ports, with(newPort, "/location/floor", 2), []string{"EQ-3143004 location.floor"}},
		{"port: unknown word", ports, with(newPort, "/encapsulation/type", "DOT1"), []string{"EQ-3143004 encapsulation.type"}},
		{"port: nothing", ports, `{"type":"XF_PORT"}`, []string{
			"EQ-3143125", "EQ-3143125", "EQ-3143125", "EQ-3143125", "EQ-3143125", "EQ-3143125", "EQ-3143125", "EQ-3143103",
		}},
		{"port: untagged lag", ports, with(with(newPort, "/encapsulation", doc{"type": "UNTAGGED"}), "/lagEnabled", true), []string{"EQ-3143129"}},
		{"port: colo without ports", ports, with(newPort, "/connectivitySourceType", "COLO"), []string{"EQ-3143108"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			for _, path := range []string{tt.path + "?dryRun=true", tt.path} {
				if diff := cmp.Diff(tt.want, r.post(path, tt.body, 400).codes()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}

func TestThreeLabRouters(t *testing.T) {
	r := newRig(t)
	lab := with(router, "/package/code", "LAB")
	r.post("/fabric/v4/routers", lab, 200)
	r.post("/fabric/v4/routers", lab, 200) // with the built-in one these are three
	for _, path := range []string{"/fabric/v4/routers?dryRun=true", "/fabric/v4/routers"} {
		if diff := cmp.Diff([]string{"EQ-3040060"}, r.post(path, lab, 400).codes()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRouterNotReady(t *testing.T) {
	r := newRig(t)
	id := text(r.post("/fabric/v4/routers", router, 200).doc, "uuid")
	body := connection("IP_VC", fcr(id), colo(portSV, dot1q(9)))
	if diff := cmp.Diff([]string{"EQ-3142012 /aSide/accessPoint/router/uuid"}, r.post(connections, body, 400).codes()); diff != "" {
		t.Error(diff)
	}
	r.clock.move(5 * time.Second)
	r.post(connections, body, 201)
	if n, _ := whole(r.get("/fabric/v4/routers/"+id, 200).doc, "connectionsCount"); n != 1 {
		t.Errorf("connectionsCount %d", n)
	}
}

func TestKnobs(t *testing.T) {
	r := rigFor(t, &Sim{NameLimit: 8, KnownAccountsOnly: true, NoDryRun: []string{}, SettleAfter: -1, ForeignProjects: []string{}})
	if diff := cmp.Diff([]string{"EQ-3142501 /name"}, r.post("/fabric/v4/networks", with(plainNetwork, "/name", "ninechars"), 400).codes()); diff != "" {
		t.Error(diff)
	}
	r.post("/fabric/v4/routers", with(router, "/account/accountNumber", 4711), 400)
	r.post(connections+"?dryRun=true", with(connection("MC_VC", colo(portEPL, nil), colo(portEPLFR, nil)), "/name", "mc"), 200)
	id := text(r.post("/fabric/v4/routers", with(router, "/project/projectId", ForeignProject), 200).doc, "uuid")
	if s := r.get("/fabric/v4/routers/"+id, 200).doc["state"]; s != "PROVISIONED" {
		t.Errorf("state %v, want it to settle at once", s)
	}
	empty := rigFor(t, &Sim{Empty: true})
	if n := len(empty.sim.Assets("")); n != 0 {
		t.Errorf("%d assets in an empty world", n)
	}
}

func TestRedundantPair(t *testing.T) {
	r := newRig(t)
	first := r.post(connections, portToAWS(1017), 201).doc
	group := text(first, "redundancy/group")
	second := with(portToAWS(1018), "/redundancy", doc{"priority": "SECONDARY", "group": group})
	r.post(connections+"?dryRun=true", second, 200)
	other := with(with(with(second, "/zSide/accessPoint/profile/uuid", azure), "/zSide/accessPoint/sellerRegion", nil), "/redundancy/priority", "SECONDARY")
	if diff := cmp.Diff([]string{"EQ-3142320 /zSide/accessPoint/profile/uuid"}, r.post(connections, other, 400).codes()); diff != "" {
		t.Error(diff)
	}
	d := r.post(connections, second, 201).doc
	if diff := cmp.Diff(doc{"priority": "SECONDARY", "group": group}, object(d, "redundancy")); diff != "" {
		t.Error(diff)
	}
}
