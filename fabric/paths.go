package fabric

import (
	"regexp"
	"strings"

	"fabricbroker/broker"
)

// propertyNames maps the API's properties, lower case and without list indexes,
// to paths of the spec. {s} stands for either side of a connection.
var propertyNames = map[broker.ChangeType]map[string]string{
	broker.ConnectionCreate: { //nolint:gosec // names of fields, no credentials
		"bandwidth":                             "bandwidth_mbps",
		"geoscope":                              "geo_scope",
		"redundancy":                            "redundancy",
		"redundancy/priority":                   "redundancy.priority",
		"redundancy/group":                      "redundancy.group_uuid",
		"additionalinfo":                        "additional_info",
		"order/customerreferencenumber":         "customer_reference",
		"{s}":                                   "{s}",
		"{s}/servicetoken":                      "{s}.service_token_uuid",
		"{s}/accesspoint/port":                  "{s}.port_uuid",
		"{s}/accesspoint/router":                "{s}.cloud_router_uuid",
		"{s}/accesspoint/virtualdevice":         "{s}.virtual_device_uuid",
		"{s}/accesspoint/network":               "{s}.network_uuid",
		"{s}/accesspoint/profile":               "{s}.service_profile_uuid",
		"{s}/accesspoint/profile/type":          "{s}.profile_type",
		"{s}/accesspoint/linkprotocol":          "{s}.link_protocol",
		"{s}/accesspoint/linkprotocol/type":     "{s}.link_protocol.type",
		"{s}/accesspoint/linkprotocol/vlantag":  "{s}.link_protocol.vlan_tag",
		"{s}/accesspoint/linkprotocol/vlanstag": "{s}.link_protocol.vlan_s_tag",
		"{s}/accesspoint/linkprotocol/vlanctag": "{s}.link_protocol.vlan_c_tag",
		"{s}/accesspoint/interface":             "{s}.interface",
		"{s}/accesspoint/interface/type":        "{s}.interface.type",
		"{s}/accesspoint/interface/id":          "{s}.interface.id",
		"{s}/accesspoint/role":                  "{s}.role",
		"{s}/accesspoint/location":              "{s}.metro_code",
		"{s}/accesspoint/sellerregion":          "{s}.seller_region",
		"{s}/accesspoint/authenticationkey":     "{s}.authentication_key",
		"{s}/accesspoint/peeringtype":           "{s}.peering_type",
	},
	broker.NetworkCreate: {
		"scope":           "scope",
		"location":        "region",
		"location/region": "region",
	},
	broker.ServiceTokenCreate: {
		"expirationdatetime":                                        "expires_at",
		"description":                                               "description",
		"issuerside":                                                "side",
		"connection/type":                                           "connection_type",
		"connection/bandwidthlimit":                                 "bandwidth_limit_mbps",
		"connection/supportedbandwidths":                            "supported_bandwidths_mbps",
		"connection/allowremoteconnection":                          "allow_remote_connection",
		"connection/allowcustombandwidth":                           "allow_custom_bandwidth",
		"connection/{s}":                                            "side",
		"connection/{s}/accesspointselectors/port":                  "port_uuid",
		"connection/{s}/accesspointselectors/virtualdevice":         "virtual_device_uuid",
		"connection/{s}/accesspointselectors/network":               "network_uuid",
		"connection/{s}/accesspointselectors/network/type":          "network_type",
		"connection/{s}/accesspointselectors/linkprotocol":          "link_protocol",
		"connection/{s}/accesspointselectors/linkprotocol/type":     "link_protocol.type",
		"connection/{s}/accesspointselectors/linkprotocol/vlantag":  "link_protocol.vlan_tag",
		"connection/{s}/accesspointselectors/linkprotocol/vlanstag": "link_protocol.vlan_s_tag",
		"connection/{s}/accesspointselectors/linkprotocol/vlanctag": "link_protocol.vlan_c_tag",
		"connection/{s}/accesspointselectors/interface":             "interface",
		"connection/{s}/accesspointselectors/interface/type":        "interface.type",
		"connection/{s}/accesspointselectors/interface/id":          "interface.id",
	},
	broker.CloudRouterCreate: {
		"location":      "metro_code",
		"package":       "package",
		"account":       "account_number",
		"accountnumber": "account_number",
	},
}

// commonNames are properties of every create that has them.
var commonNames = map[string]string{
	"type":                      "type",
	"name":                      "name",
	"notifications":             "notification_emails",
	"notification":              "notification_emails",
	"emails":                    "notification_emails",
	"project":                   "project_id",
	"projectid":                 "project_id",
	"order/purchaseordernumber": "purchase_order_number",
	"purchaseordernumber":       "purchase_order_number",
	"order/termlength":          "term_length_months",
	"termlength":                "term_length_months",
}

var (
	listIndex = regexp.MustCompile(`\[([0-9]*)\]`)
	infoIndex = regexp.MustCompile(`^additionalinfo/([0-9]+)(?:/(key|value))?$`)
)

// specPath returns the spec's path for a property as Fabric words it, which is
// in turn "/a/b", "a/b", "a.b", "$.a.b" and "a[0].b". The longest part of it that
// is known decides; "" means that none is.
func specPath(t broker.ChangeType, property string) string {
	p := strings.ToLower(listIndex.ReplaceAllString(property, "/$1"))
	p = strings.TrimLeft(strings.ReplaceAll(p, ".", "/"), "$#/")
	if m := infoIndex.FindStringSubmatch(p); m != nil && t == broker.ConnectionCreate {
		path := "additional_info[" + m[1] + "]"
		if m[2] != "" {
			path += "." + m[2]
		}
		return path
	}
	var segments []string
	side := ""
	for s := range strings.SplitSeq(p, "/") {
		switch {
		case s == "" || strings.Trim(s, "0123456789") == "":
			continue // an index, or nothing
		case s == "aside" || s == "zside":
			side = s[:1] + "_side"
			s = "{s}"
		}
		segments = append(segments, s)
	}
	for n := len(segments); n > 0; n-- {
		key := strings.Join(segments[:n], "/")
		path := propertyNames[t][key]
		if path == "" {
			path = commonNames[key]
		}
		if path != "" && fieldFor(t, path) {
			return strings.ReplaceAll(path, "{s}", side)
		}
	}
	return ""
}

// fieldFor reports whether the change type has the field that path starts with.
func fieldFor(t broker.ChangeType, path string) bool {
	name, _, _ := strings.Cut(strings.ReplaceAll(path, "{s}", "a_side"), ".")
	f := fieldNamed(specFields, name)
	return f != nil && f.in&changeOf(t) != 0
}
