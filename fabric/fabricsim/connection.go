package fabricsim

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

var connectionTypes = []string{
	"EVPL_VC", "EPL_VC", "EC_VC", "IP_VC", "ACCESS_EPL_VC", "EIA_VC", "EVPLAN_VC", "EPLAN_VC", "EVPTREE_VC", "EPTREE_VC",
	"IPWAN_VC", "IA_VC", "MC_VC", "IX_VC", "IC_VC",
}

// checkConnection runs the whole catalogue and reports all it finds.
func (s *Sim) checkConnection(c *call, body doc) issues {
	var wrong issues
	kind := text(body, "/type")
	if !slices.Contains(connectionTypes, kind) {
		wrong.invalid("/type", "unknown connection type")
	}
	s.checkCommon(&wrong, body)
	checkTerm(&wrong, body)
	bandwidth, ok := whole(body, "/bandwidth")
	if !ok || bandwidth < 0 || bandwidth > 100000 {
		wrong.invalid("/bandwidth", "bandwidth is an integer between 0 and 100000")
	}
	a := s.readSide(c, &wrong, body, "/aSide")
	z := s.readSide(c, &wrong, body, "/zSide")
	if slices.Contains(connectionTypes, kind) {
		checkMatrix(&wrong, kind, a, z)
		for _, e := range []end{a, z} {
			checkEnd(&wrong, kind, e)
		}
	}
	s.checkVLANs(c, &wrong, a, z)
	checkBandwidth(&wrong, bandwidth, a, z)
	s.checkRedundancy(&wrong, body, a, z)
	return wrong
}

// checkBandwidth compares with everything that limits it.
func checkBandwidth(wrong *issues, bandwidth int64, a, z end) {
	for _, e := range []end{a, z} {
		if e.profile != nil && !carries(e.profile.doc, a.point, bandwidth) {
			wrong.add(on("EQ-3142306", "Requested bandwidth is not supported by service profile", "/bandwidth"))
		}
		if e.token != nil && !tokenAllows(e.token.doc, bandwidth) {
			err := on("EQ-3142535", "The connection bandwidth provided in the connection request exceeds the bandwidth Limit on ServiceToken", e.at+"/serviceToken/uuid")
			err.Details = "Please enter bandwidth less than the Speed limit on ServiceToken"
			wrong.add(err)
		}
		if e.port != nil {
			if speed, ok := whole(e.port.doc, "/bandwidth"); ok && bandwidth > speed {
				wrong.invalid("/bandwidth", "bandwidth is beyond the port's %d Mbps", speed)
			}
		}
		if e.router != nil {
			p, ok := packageByCode(text(e.router.doc, "/package/code"))
			if ok && bandwidth > int64(p.bandwidthMB) {
				wrong.invalid("/bandwidth", "package %s carries up to %d Mbps", p.code, p.bandwidthMB)
			}
		}
	}
}

// carries looks for the configuration of that kind of access point, else takes
// the first.
func carries(profile doc, point string, bandwidth int64) bool {
	configs := list(profile, "/accessPointTypeConfigs")
	if len(configs) == 0 {
		return true
	}
	config := configs[0]
	for _, cfg := range configs {
		if text(cfg, "/type") == point {
			config = cfg
		}
	}
	allowed := list(config, "/supportedBandwidths")
	return truth(config, "/allowCustomBandwidth") || len(allowed) == 0 || containsInt(allowed, bandwidth)
}

func tokenAllows(token doc, bandwidth int64) bool {
	if limit, ok := whole(token, "/connection/bandwidthLimit"); ok && bandwidth > limit {
		return false
	}
	allowed := list(token, "/connection/supportedBandwidths")
	return len(allowed) == 0 || truth(token, "/connection/allowCustomBandwidth") || containsInt(allowed, bandwidth)
}

// echoConnection drops what the API does not echo: termLength, and unknown keys.
func (s *Sim) echoConnection(_ *call, body doc) doc {
	d := only(body, "type", "name", "bandwidth", "redundancy", "geoScope", "additionalInfo", "marketplaceSubscription",
		"endCustomer", "project", "order", "notifications")
	if o := object(d, "order"); o != nil {
		delete(o, "termLength")
		if len(o) == 0 {
			delete(d, "order")
		}
	}
	d["aSide"], d["zSide"] = s.echo(object(body, "aSide")), s.echo(object(body, "zSide"))
	return d
}

func (s *Sim) makeConnection(c *call, body doc) *asset {
	d := s.echoConnection(c, body)
	d["aSide"], d["zSide"] = s.resolved(object(body, "aSide")), s.resolved(object(body, "zSide"))
	bandwidth, _ := whole(body, "/bandwidth")
	o := object(d, "order")
	if o == nil {
		o = doc{}
	}
	o["billingTier"] = billingTier(bandwidth)
	if term, ok := whole(body, "/order/termLength"); ok {
		o["termLength"] = term
		if term > 1 {
			o["contractedBandwidth"] = bandwidth
		}
	}
	d["order"] = o
	d["redundancy"] = doc{
		"group":    orElse(text(body, "/redundancy/group"), uuid.NewString()),
		"priority": orElse(text(body, "/redundancy/priority"), "PRIMARY"),
	}
	from, to := text(d, "/aSide/accessPoint/location/metroCode"), text(d, "/zSide/accessPoint/location/metroCode")
	d["direction"], d["isRemote"] = "OUTGOING", from != "" && to != "" && from != to
	d["account"] = doc{"accountNumber": s.billedAccount(d), "orgId": orgID}
	d["state"] = "PROVISIONING"
	a := s.newAsset(c, KindConnection, d)
	s.begins(a)
	return a
}

// begins sets how the connection starts and where it comes to rest.
func (s *Sim) begins(a *asset) {
	d := a.doc
	profile := s.find(KindServiceProfile, text(d, "/zSide/accessPoint/profile/uuid"))
	switch {
	case profile != nil && profile.approval:
		d["state"] = "PENDING"
		d["operation"] = doc{"equinixStatus": "PENDING_APPROVAL", "providerStatus": "PENDING_APPROVAL"}
	case profile != nil:
		d["operation"] = doc{"equinixStatus": "PROVISIONING", "providerStatus": "PROVISIONING"}
		a.rest = doc{"/state": "PROVISIONED", "/operation/equinixStatus": "PROVISIONED", "/operation/providerStatus": "AVAILABLE"}
	case text(d, "/aSide/accessPoint/type") == "CLOUD_ROUTER" && text(d, "/zSide/accessPoint/type") == "COLO":
		// It stays so until somebody configures a routing protocol.
		d["operation"] = doc{"equinixStatus": "PENDING_INTERFACE_CONFIGURATION", "providerStatus": "NOT_AVAILABLE"}
		a.rest = doc{"/state": "PROVISIONED"}
	default:
		d["operation"] = doc{"equinixStatus": "PROVISIONING", "providerStatus": "NOT_AVAILABLE"}
		a.rest = doc{"/state": "PROVISIONED", "/operation/equinixStatus": "PROVISIONED"}
	}
}

// connectionStored redeems the tokens that the connection uses.
func (s *Sim) connectionStored(c *call, a *asset) {
	for _, side := range []string{"/aSide", "/zSide"} {
		if t := s.find(KindServiceToken, text(a.doc, side+"/serviceToken/uuid")); t != nil {
			t.doc["state"] = "ACTIVE"
			set(t.doc, "/changeLog/updatedDateTime", stamp(c.now))
		}
	}
}

func (s *Sim) billedAccount(d doc) any {
	for kind, pointer := range map[string]string{KindPort: "/aSide/accessPoint/port/uuid", KindCloudRouter: "/aSide/accessPoint/router/uuid"} {
		if a := s.find(kind, text(d, pointer)); a != nil && has(a.doc, "/account/accountNumber") {
			return at(a.doc, "/account/accountNumber")
		}
	}
	return Account
}

func billingTier(mbps int64) string {
	for _, tier := range []int64{10, 50, 200, 500, 1000, 2000, 5000, 10000, 25000, 50000} {
		if mbps <= tier {
			if tier >= 1000 {
				return fmt.Sprintf("Up to %d GB", tier/1000)
			}
			return fmt.Sprintf("Up to %d MB", tier)
		}
	}
	return "Up to 100 GB"
}
