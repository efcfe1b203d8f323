package fabricsim

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// How the neutral fields of each kind become its wire form. What a field does
// not say gets a believable value.

func portFrom(d, n doc) {
	metro := text(n, "metro_code")
	encapsulation := doc{"type": orElse(text(n, "encapsulation"), "DOT1Q")}
	if encapsulation["type"] != "UNTAGGED" {
		encapsulation["tagProtocolId"] = 33024 // a number here, a string in the schema
	}
	ibx := orElse(text(n, "ibx"), metro+"2")
	speed := orElseAny(n["bandwidth"], 10000)
	account := orElseAny(n["account_number"], Account)
	merge(d, doc{
		"type": "XF_PORT", "physicalPortsSpeed": speed, "physicalPortsType": "10GBASE_LR", "physicalPortsCount": 1,
		"connectivitySourceType": "COLO", "bandwidth": speed, "lagEnabled": truth(n, "lag"),
		"operation":           doc{"operationalStatus": "UP"},
		"package":             doc{"code": orElse(text(n, "package"), "STANDARD")},
		"location":            doc{"metroHref": metroHref(metro), "metroCode": metro, "metroName": metros[metro].name, "region": metros[metro].region, "ibx": ibx},
		"demarcationPointIbx": ibx, "encapsulation": encapsulation, "redundancy": doc{"priority": "PRIMARY"},
		"account": doc{"accountNumber": account, "accountName": "sim-account", "orgId": orgID, "organizationName": "sim-org"},
		"device":  doc{"name": strings.ToLower(metro) + "-sim-a1", "redundancy": doc{"priority": "PRIMARY"}},
	})
}

func routerFrom(d, n doc) {
	metro, code := text(n, "metro_code"), orElse(text(n, "package"), "STANDARD")
	merge(d, doc{
		"type": "XF_ROUTER", "equinixAsn": 30000,
		"location": doc{"metroHref": metroHref(metro), "metroCode": metro, "metroName": metros[metro].name, "region": metros[metro].region},
		"package":  doc{"href": base + "/fabric/v4/routerPackages/" + code, "code": code},
		"account":  doc{"accountNumber": orElseAny(n["account_number"], Account)},
	})
}

func networkFrom(d, n doc) {
	state := text(d, "state")
	status := "PROVISIONED"
	if s := text(n, "equinix_status"); s != "" {
		status = s
	} else if state != "" && state != "ACTIVE" && state != "INACTIVE" {
		status = state
	}
	merge(d, doc{
		"type": text(n, "type"), "scope": orElse(text(n, "scope"), "GLOBAL"),
		"operation": doc{"equinixStatus": status}, "links": []any{networkLinks(text(d, "uuid"))},
	})
	if region := text(n, "region"); region != "" {
		d["location"] = doc{"region": region}
	}
}

func profileFrom(a *asset, d, n doc) {
	config := doc{
		"type": "COLO", "uuid": uuid.NewString(), "allowRemoteConnections": true,
		"allowCustomBandwidth": truth(n, "custom_bandwidth"), "connectionRedundancyRequired": truth(n, "redundancy_required"),
		"linkProtocolConfig": doc{"encapsulationStrategy": "CTAGED", "encapsulation": "DOT1Q"},
		"authenticationKey":  doc{"required": false},
	}
	if l := list(n, "supported_bandwidths"); len(l) > 0 {
		config["supportedBandwidths"] = clone(l)
	}
	label := text(n, "authentication_key")
	if label != "" {
		config["authenticationKey"] = doc{"required": true, "label": label}
	}
	where := []any{}
	for _, code := range each(n, "metros") {
		m := doc{"code": code, "name": metros[str(code)].name}
		if regions := list(n, "seller_regions/"+str(code)); len(regions) > 0 {
			named := doc{}
			for _, r := range regions {
				named[str(r)] = r
			}
			m["sellerRegions"] = named
		}
		where = append(where, m)
	}
	merge(d, doc{
		"type": orElse(text(n, "type"), "L2_PROFILE"), "visibility": orElse(text(n, "visibility"), "PUBLIC"),
		"accessPointTypeConfigs": []any{config}, "metros": where,
		"account": doc{"orgId": orgID, "organizationName": "sim-provider"},
	})
	if has(n, "port_uuid") {
		d["ports"] = []any{doc{"type": "XF_PORT", "uuid": n["port_uuid"]}}
	}
	// A provider without an API of its own asks for no key and decides by hand.
	a.approval = label == "" && d["type"] == "L2_PROFILE"
	if has(n, "approval") {
		a.approval = truth(n, "approval")
	}
	a.primaryOnly = truth(n, "primary_only")
}

func (s *Sim) tokenFrom(d, n doc) {
	selector := s.accessPointFrom(n)
	delete(selector, "location")
	side := "aSide"
	if text(n, "side") == "z" {
		side = "zSide"
	}
	connection := doc{
		side:                    doc{"accessPointSelectors": []any{selector}},
		"allowRemoteConnection": !has(n, "allow_remote_connection") || truth(n, "allow_remote_connection"),
		"allowCustomBandwidth":  truth(n, "allow_custom_bandwidth"),
	}
	for from, to := range map[string]string{
		"connection_type": "type", "bandwidth_limit": "bandwidthLimit", "supported_bandwidths": "supportedBandwidths",
	} {
		if v := n[from]; v != nil {
			connection[to] = v
		}
	}
	merge(d, doc{"type": orElse(text(n, "type"), "VC_TOKEN"), "connection": connection, "account": doc{"orgId": orgID}})
	if v := text(n, "expires_at"); v != "" {
		d["expirationDateTime"] = v
	}
}

// connectionFrom takes a_side and z_side, in neutral or in wire form, or flat
// fields: port_uuid, cloud_router_uuid, virtual_device_uuid and vlan_tag for the
// A side; service_profile_uuid, network_uuid and z_port_uuid for the Z side.
func (s *Sim) connectionFrom(d, n doc) {
	flatA := only(n, "port_uuid", "cloud_router_uuid", "virtual_device_uuid", "link_protocol", "vlan_tag", "vlan_s_tag", "vlan_c_tag")
	flatZ := only(n, "service_profile_uuid", "network_uuid", "seller_region", "authentication_key", "metro_code", "role")
	if has(n, "z_port_uuid") {
		flatZ["port_uuid"] = n["z_port_uuid"]
	}
	state := text(d, "state")
	status := orElse(text(n, "equinix_status"), orElse(state, "PROVISIONED"))
	merge(d, doc{
		"type": orElse(text(n, "type"), "EVPL_VC"), "bandwidth": orElseAny(n["bandwidth"], 50), "direction": "OUTGOING",
		"aSide":      s.sideFrom(n, "a_side", "aSide", flatA),
		"zSide":      s.sideFrom(n, "z_side", "zSide", flatZ),
		"operation":  doc{"equinixStatus": status, "providerStatus": orElse(text(n, "provider_status"), "AVAILABLE")},
		"account":    doc{"accountNumber": orElseAny(n["account_number"], Account), "orgId": orgID},
		"redundancy": doc{"group": orElse(text(n, "redundancy_group"), uuid.NewString()), "priority": orElse(text(n, "redundancy_priority"), "PRIMARY")},
	})
}

func (s *Sim) sideFrom(n doc, key, wire string, flat doc) doc {
	if w := object(n, wire); w != nil {
		return cloneDoc(w)
	}
	side := flat
	if given := object(n, key); given != nil {
		if has(given, "accessPoint") || has(given, "serviceToken") {
			return cloneDoc(given)
		}
		side = given
	}
	made := doc{"accessPoint": s.accessPointFrom(side)}
	if id := text(side, "service_token_uuid"); id != "" {
		made["serviceToken"] = doc{"href": href(KindServiceToken, id), "uuid": id}
	}
	return made
}

// accessPointFrom reads one neutral side.
func (s *Sim) accessPointFrom(n doc) doc {
	ap := doc{}
	for key, made := range map[string]struct{ kind, wire, point string }{
		"port_uuid":            {KindPort, "port", "COLO"},
		"cloud_router_uuid":    {KindCloudRouter, "router", "CLOUD_ROUTER"},
		"network_uuid":         {KindNetwork, "network", "NETWORK"},
		"service_profile_uuid": {KindServiceProfile, "profile", "SP"},
	} {
		if id := text(n, key); id != "" {
			ap["type"], ap[made.wire] = made.point, doc{"href": href(made.kind, id), "uuid": id}
			s.describe(ap, made.wire, made.kind, id)
		}
	}
	if id := text(n, "virtual_device_uuid"); id != "" {
		ap["type"], ap["virtualDevice"] = "VD", doc{"type": "EDGE", "uuid": id}
	}
	for from, to := range map[string]string{
		"seller_region": "sellerRegion", "authentication_key": "authenticationKey", "peering_type": "peeringType", "role": "role",
	} {
		if v := n[from]; v != nil {
			ap[to] = v
		}
	}
	if metro := text(n, "metro_code"); metro != "" {
		ap["location"] = doc{"metroHref": metroHref(metro), "metroCode": metro}
	}
	if lp := linkProtocolFrom(n); len(lp) > 0 {
		ap["linkProtocol"] = lp
	}
	return ap
}

func linkProtocolFrom(n doc) doc {
	from := n
	if nested := object(n, "link_protocol"); nested != nil {
		from = nested
	}
	lp := doc{}
	for key, to := range map[string]string{"vlan_tag": "vlanTag", "vlan_s_tag": "vlanSTag", "vlan_c_tag": "vlanCTag"} {
		if v := from[key]; v != nil {
			lp[to] = v
		}
	}
	switch {
	case object(n, "link_protocol") != nil && text(from, "type") != "":
		lp["type"] = strings.ToUpper(text(from, "type"))
	case has(lp, "vlanTag"):
		lp["type"] = "DOT1Q"
	case len(lp) > 0:
		lp["type"] = "QINQ"
	}
	return lp
}

func merge(d, more doc) {
	for k, v := range more {
		d[k] = v
	}
}

func orElse(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}

func orElseAny(v, otherwise any) any {
	if v == nil {
		return otherwise
	}
	return v
}

func str(v any) string { t, _ := v.(string); return t }

func containsInt(l []any, n int64) bool {
	return slices.ContainsFunc(l, func(e any) bool { i, ok := integer(e); return ok && i == n })
}
