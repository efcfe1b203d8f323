package fabric

import (
	"slices"
	"strings"

	"fabricbroker/broker"
)

const maxValue = 256 // bytes of one text of an item

// item is one row of a search in our words: what every kind has, and what helps
// to compose a spec.
func item(kind string, row any) map[string]any {
	it := map[string]any{
		"uuid": show(row, "uuid"), "name": show(row, "name"), "type": show(row, "type"), "state": show(row, "state"),
		"metro_code": show(row, "location", "metroCode"), "project_id": show(row, "project", "projectId"),
	}
	put := func(name string, keys ...string) {
		if v := value(at(row, keys...)); v != nil {
			it[name] = v
		}
	}
	switch kind {
	case kindConnection:
		put("bandwidth_mbps", "bandwidth")
		put("equinix_status", "operation", "equinixStatus")
		put("provider_status", "operation", "providerStatus")
		put("redundancy_priority", "redundancy", "priority")
		put("redundancy_group", "redundancy", "group")
		it["metro_code"] = show(row, "aSide", "accessPoint", "location", "metroCode")
		it["a_side"], it["z_side"] = sideItem(at(row, "aSide")), sideItem(at(row, "zSide"))
	case kindNetwork:
		put("scope", "scope")
		put("region", "location", "region")
		put("equinix_status", "operation", "equinixStatus")
		put("connections_count", "connectionsCount")
	case kindToken:
		it["uuid"] = broker.MaskValue(text(at(row, "uuid")))
		tokenItem(it, row, put)
	case kindRouter:
		put("package", "package", "code")
		put("account_number", "account", "accountNumber")
		put("equinix_asn", "equinixAsn")
		put("connections_count", "connectionsCount")
	case kindPort:
		put("ibx", "location", "ibx")
		put("region", "location", "region")
		put("encapsulation", "encapsulation", "type")
		put("bandwidth_mbps", "bandwidth")
		put("available_bandwidth_mbps", "availableBandwidth")
		put("package", "package", "code")
		put("account_number", "account", "accountNumber")
		put("redundancy_priority", "redundancy", "priority")
	case kindProfile:
		put("visibility", "visibility")
		profileItem(it, row)
	}
	return it
}

func tokenItem(it map[string]any, row any, put func(name string, keys ...string)) {
	side := tokenSide(row)
	it["side"] = strings.TrimSuffix(side, "Side")
	put("connection_type", "connection", "type")
	put("bandwidth_limit_mbps", "connection", "bandwidthLimit")
	put("allow_remote_connection", "connection", "allowRemoteConnection")
	put("allow_custom_bandwidth", "connection", "allowCustomBandwidth")
	put("expires_at", "expirationDateTime")
	if ns := numbers(at(row, "connection", "supportedBandwidths")); len(ns) > 0 {
		it["supported_bandwidths_mbps"] = ns
	}
	put("access_point_type", "connection", side, "accessPointSelectors", "type")
	put("port_uuid", "connection", side, "accessPointSelectors", "port", "uuid")
}

// profileItem has what a spec needs to know of a provider.
func profileItem(it map[string]any, row any) {
	points := []map[string]any{}
	for _, c := range list(at(row, "accessPointTypeConfigs")) {
		p := map[string]any{"type": show(c, "type"), "bandwidths_mbps": orEmpty(numbers(at(c, "supportedBandwidths")))}
		for name, keys := range map[string][]string{
			"allow_custom_bandwidth":            {"allowCustomBandwidth"},
			"redundancy_required":               {"connectionRedundancyRequired"},
			"encapsulation":                     {"linkProtocolConfig", "encapsulation"},
			"authentication_key_required":       {"authenticationKey", "required"},
			"authentication_key_label":          {"authenticationKey", "label"},
			"authentication_key_description":    {"authenticationKey", "description"},
			"connection_label":                  {"connectionLabel"},
			"allow_remote_connections":          {"allowRemoteConnections"},
			"auto_approval_of_bandwidth_change": {"allowBandwidthAutoApproval"},
		} {
			if v := value(at(c, keys...)); v != nil {
				p[name] = v
			}
		}
		points = append(points, p)
	}
	it["access_points"] = points
	metros, regions := []string{}, map[string]any{}
	for _, m := range list(at(row, "metros")) {
		code := show(m, "code")
		metros = append(metros, code)
		if _, rs, _ := profileMetro(row, code); len(rs) > 0 {
			for i := range rs {
				rs[i] = clean(rs[i], maxValue)
			}
			regions[code] = rs
		}
	}
	it["metros"], it["seller_regions"] = metros, regions
}

func sideItem(side any) map[string]any {
	it := map[string]any{}
	put := func(name string, keys ...string) {
		if v := value(at(side, keys...)); v != nil && v != "" {
			it[name] = v
		}
	}
	put("type", "accessPoint", "type")
	put("metro_code", "accessPoint", "location", "metroCode")
	for name, key := range map[string]string{
		"port_uuid": "port", "cloud_router_uuid": "router", "network_uuid": "network",
		"service_profile_uuid": "profile", "virtual_device_uuid": "virtualDevice",
	} {
		put(name, "accessPoint", key, "uuid")
	}
	put("vlan_tag", "accessPoint", "linkProtocol", "vlanTag")
	put("vlan_s_tag", "accessPoint", "linkProtocol", "vlanSTag")
	put("vlan_c_tag", "accessPoint", "linkProtocol", "vlanCTag")
	put("seller_region", "accessPoint", "sellerRegion")
	if t := text(at(side, "serviceToken", "uuid")); t != "" {
		it["service_token"] = broker.MaskValue(t)
	}
	return it
}

func metroItem(m any) map[string]any {
	it := map[string]any{"code": show(m, "code"), "name": show(m, "name"), "region": show(m, "region")}
	if v := value(at(m, "country")); v != nil {
		it["country"] = v
	}
	if n, ok := number(at(m, "localVCBandwidthMax")); ok {
		it["local_bandwidth_max_mbps"] = n
	}
	connected := []map[string]any{}
	for _, c := range list(at(m, "connectedMetros")) {
		one := map[string]any{"code": show(c, "code")}
		for name, key := range map[string]string{"avg_latency_ms": "avgLatency", "remote_bandwidth_max_mbps": "remoteVCBandwidthMax"} {
			if v := value(at(c, key)); v != nil {
				one[name] = v
			}
		}
		connected = append(connected, one)
	}
	it["connected_metros"] = connected
	scopes := []string{}
	for _, s := range list(at(m, "geoScopes")) {
		scopes = append(scopes, clean(text(s), 40))
	}
	it["geo_scopes"] = scopes
	return it
}

// value is a scalar, with texts cut; nil for everything else.
func value(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v, maxValue)
	case nil, []any, map[string]any:
		return nil
	default:
		return v
	}
}

func show(v any, keys ...string) string { return clean(text(at(v, keys...)), maxValue) }

func orEmpty(ns []int64) []int64 {
	if ns == nil {
		return []int64{}
	}
	return slices.Clip(ns)
}
