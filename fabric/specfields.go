package fabric

var linkFields = []specField{
	{name: "type", kind: kindString, enum: []string{"DOT1Q", "QINQ", "UNTAGGED"}},
	{name: "vlan_tag", kind: kindInteger, min: minVLAN, max: maxVLAN, doc: "DOT1Q"},
	{name: "vlan_s_tag", kind: kindInteger, min: minVLAN, max: maxVLAN, doc: "QINQ, outer"},
	{name: "vlan_c_tag", kind: kindInteger, min: minVLAN, max: maxVLAN, doc: "QINQ, inner, optional"},
}

var interfaceFields = []specField{
	{name: "type", kind: kindString, enum: []string{"CLOUD", "NETWORK"}},
	{name: "id", kind: kindInteger, min: 1, max: maxInteger},
}

var sideFields = []specField{
	{name: "port_uuid", kind: kindUUID, price: true},
	{name: "cloud_router_uuid", kind: kindUUID, price: true, doc: "a_side only, with IP_VC, IPWAN_VC"},
	{name: "virtual_device_uuid", kind: kindUUID, price: true},
	{name: "network_uuid", kind: kindUUID, zOnly: true, price: true, doc: "EVPLAN_VC, EPLAN_VC, EVPTREE_VC, EPTREE_VC, IPWAN_VC"},
	{name: "service_token_uuid", kind: kindUUID, secret: true, price: true, doc: "nothing else beside it"},
	{name: "service_profile_uuid", kind: kindUUID, zOnly: true, price: true, doc: "a provider"},
	{name: "link_protocol", kind: kindObject, fields: linkFields, doc: "needed on a port; none for EPL_VC, EPLAN_VC, EPTREE_VC, MC_VC, IX_VC"},
	{name: "interface", kind: kindObject, fields: interfaceFields, doc: "of a virtual device"},
	{name: "role", kind: kindString, zOnly: true, enum: []string{"LEAF", "ROOT"}, doc: "EVPTREE_VC, EPTREE_VC: beside network_uuid"},
	{name: "metro_code", kind: kindString, price: true, doc: "two letters; needed beside service_profile_uuid"},
	{name: "seller_region", kind: kindString, zOnly: true, doc: "the provider's region, e.g. us-east-1"},
	{name: "authentication_key", kind: kindString, zOnly: true, secret: true, doc: "AWS account id, Azure service key, Google pairing key uuid/region/zone"},
	{name: "peering_type", kind: kindString, zOnly: true, enum: []string{"PRIVATE", "MICROSOFT", "PUBLIC", "MANUAL"}, doc: "Azure"},
	{name: "profile_type", kind: kindString, zOnly: true, enum: []string{"L2_PROFILE", "L3_PROFILE", "IA_PROFILE", "IX_PROFILE", "LMAAS_PROFILE"}, doc: "default fits the type"},
}

var redundancyFields = []specField{
	{name: "priority", kind: kindString, need: forAll, enum: []string{"PRIMARY", "SECONDARY"}},
	{name: "group_uuid", kind: kindUUID, doc: "SECONDARY: the primary's redundancy.group, not its uuid"},
}

var infoFields = []specField{
	{name: "key", kind: kindString, need: forAll},
	{name: "value", kind: kindString, need: forAll, secret: true},
}

// specFields is every field of every spec, in the order in which problems are
// reported.
var specFields = []specField{
	{name: "type", kind: kindString, in: forConnection | forNetwork, need: forConnection | forNetwork, price: true},
	{name: "side", kind: kindString, in: forToken, need: forToken, enum: []string{"a", "z"}, doc: "which end its holder gets; a: ports only"},
	{name: "name", kind: kindString, in: forAll, need: forAll, doc: "letters, digits, _ and -; up to 23 (router 3 to 24)"},
	{name: "scope", kind: kindString, in: forNetwork, need: forNetwork, enum: []string{"REGIONAL", "GLOBAL", "LOCAL"}},
	{name: "region", kind: kindString, in: forNetwork, enum: []string{"AMER", "APAC", "EMEA"}, doc: "with scope REGIONAL only"},
	{name: "metro_code", kind: kindString, in: forRouter, need: forRouter, price: true, doc: "two letters"},
	{name: "package", kind: kindString, in: forRouter, need: forRouter, price: true, enum: []string{"LAB", "BASIC", "STANDARD", "ADVANCED", "PREMIUM"}},
	{name: "account_number", kind: kindInteger, in: forRouter, need: forRouter, price: true, min: 1, max: maxInteger, doc: "the billed account"},
	{name: "connection_type", kind: kindString, in: forToken, need: forToken, enum: tokenTypes},
	{name: "bandwidth_mbps", kind: kindInteger, in: forConnection, need: forConnection, price: true, min: minBandwidth, max: maxBandwidth},
	{name: "expires_at", kind: kindString, in: forToken, need: forToken, doc: "UTC, e.g. 2027-01-31T00:00:00Z; at most 90 days ahead"},
	{name: "description", kind: kindString, in: forToken},
	{name: "a_side", kind: kindObject, in: forConnection, need: forConnection, price: true, fields: sideFields, doc: "as z_side; what it may be depends on the type"},
	{name: "z_side", kind: kindObject, in: forConnection, need: forConnection, price: true, fields: sideFields, doc: "exactly one of the uuids, and what it needs"},
	{name: "port_uuid", kind: kindUUID, in: forToken, doc: "exactly one of port_uuid, virtual_device_uuid, network_uuid"},
	{name: "virtual_device_uuid", kind: kindUUID, in: forToken, doc: "side z"},
	{name: "network_uuid", kind: kindUUID, in: forToken, doc: "side z"},
	{name: "network_type", kind: kindString, in: forToken, enum: networkTypes, doc: "with network_uuid"},
	{name: "link_protocol", kind: kindObject, in: forToken, fields: linkFields, doc: "with port_uuid"},
	{name: "interface", kind: kindObject, in: forToken, fields: interfaceFields, doc: "with virtual_device_uuid; type NETWORK"},
	{name: "bandwidth_limit_mbps", kind: kindInteger, in: forToken, min: minBandwidth, max: maxBandwidth, doc: "side a"},
	{name: "supported_bandwidths_mbps", kind: kindIntegers, in: forToken, min: minBandwidth, max: maxBandwidth, doc: "side z"},
	{name: "allow_remote_connection", kind: kindBoolean, in: forToken},
	{name: "allow_custom_bandwidth", kind: kindBoolean, in: forToken},
	{name: "redundancy", kind: kindObject, in: forConnection, fields: redundancyFields},
	{name: "geo_scope", kind: kindString, in: forConnection, enum: []string{"CANADA", "CONUS", "JAPAN", "UK", "AUSTRALIA", "BRAZIL", "SWITZERLAND", "EU"}},
	{name: "additional_info", kind: kindObjects, in: forConnection, fields: infoFields, doc: "what the provider asks for; never credentials"},
	{name: "project_id", kind: kindString, in: forAll, need: forRouter},
	{name: "purchase_order_number", kind: kindString, in: forConnection | forRouter},
	{name: "customer_reference", kind: kindString, in: forConnection},
	{name: "term_length_months", kind: kindInteger, in: forConnection | forRouter, price: true, doc: "1, 12, 24 or 36; month to month when left out"},
	{name: "notification_emails", kind: kindStrings, in: forAll, need: forAll, doc: "1 to 10"},
}
