package fabric

import (
	"fmt"
	"regexp"
	"strings"

	"fabricbroker/broker"
)

// notOffered says why a word that the API knows cannot be used here.
var notOffered = map[string]string{
	"EC_VC":       "the specification shows no create of it",
	"EIA_VC":      "it is the older form of IA_VC",
	"IC_VC":       "it needs a provider environment and an activation key",
	"VD_CHAIN_VC": "it is priced, but not created as a connection",
	"VXLAN":       "its tags lie outside what the specification allows",
	"EVPN_VXLAN":  "its tags lie outside what the specification allows",
	"IC_PROFILE":  "it needs a provider environment and an activation key",
	"PRO":         "it is no longer sold",
	"XF_ROUTER":   "a router has no type here, use cloud_router_create",
}

var (
	routingField = regexp.MustCompile(`(?i)bgp|^asn|asn$|ipv[46]|^as_number|routing|ip_prefix|peer_ip|subnet|_ip$|^bfd`)
	secretField  = regexp.MustCompile(`(?i)access_?key|secret|passw|private_?key|api_?key|credential`)
)

// unknown words the refusal of a field that an object does not have, with what
// the agent probably meant. Nothing is dropped silently.
func (c *compilation) unknown(path, key string, fields []specField) string {
	if r, bad := unseen(key); bad {
		return "unknown field, and its name has the character " + codePoint(r)
	}
	if len(c.issues) > maxIssues {
		return "unknown field" // nobody reads it: spare the search for a hint
	}
	if hint := c.unknownHint(path, key, fields); hint != "" {
		return "unknown field: " + hint
	}
	return "unknown field; known here are " + strings.Join(c.namesOf(fields), ", ")
}

func (c *compilation) unknownHint(path, key string, fields []specField) string {
	lower := strings.ToLower(key)
	base, isName := strings.CutSuffix(lower, "_name")
	switch {
	case fieldNamed(fields, key) != nil:
		return fmt.Sprintf("it belongs to %s, not to %s", typesWith(fieldNamed(fields, key).in), typesWith(c.change))
	case c.meant(key, fields) != "":
		return "the name is " + c.meant(key, fields)
	case secretField.MatchString(key):
		return "credentials never belong in a spec; accept the connection on the provider's side instead"
	case routingField.MatchString(key):
		return "routing protocols are configured after the connection is up"
	case isName && c.knows(base+"_uuid", fields):
		return fmt.Sprintf("names are not resolved; use %s_uuid, find it with fabric_search", base)
	case isName:
		return "names are not resolved; use the uuid, find it with fabric_search"
	case strings.HasPrefix(lower, "vlan"):
		return "a VLAN goes into link_protocol, beside the port"
	case lower == "change_type":
		return "it stands beside the spec, not in it"
	case strings.HasPrefix(lower, "metal") || lower == "virtual_network_uuid":
		return "Equinix Metal has ended and cannot be connected"
	case lower == "marketplace_subscription" || lower == "marketplacesubscription":
		return "marketplace subscriptions are not offered"
	}
	if s := c.fromAPI(path, key); s != "" {
		return "the name is " + s
	}
	if s := c.nearest(lower, fields); s != "" {
		return "did you mean " + s + "?"
	}
	if f := fieldNamed(sideFields, key); f != nil && path == "" && c.change == forConnection {
		return "it belongs into a_side or z_side"
	}
	return ""
}

// aliases are words that people use for our fields, where no rule finds them.
var aliases = map[string]string{
	"bandwidth": "bandwidth_mbps", "speed": "bandwidth_mbps", "bandwidth_limit": "bandwidth_limit_mbps",
	"supported_bandwidths": "supported_bandwidths_mbps", "emails": "notification_emails",
	"notifications": "notification_emails", "notification": "notification_emails", "email": "notification_emails",
	"po_number": "purchase_order_number", "term": "term_length_months", "term_length": "term_length_months",
	"metro": "metro_code", "location": "metro_code", "ibx": "metro_code", "cloud_region": "seller_region",
	"account": "account_number", "project": "project_id", "package_code": "package", "expiry": "expires_at",
	"expiration": "expires_at", "expiration_date_time": "expires_at", "vlan": "vlan_tag", "vlan_id": "vlan_tag",
	"router_uuid": "cloud_router_uuid", "fcr_uuid": "cloud_router_uuid", "profile_uuid": "service_profile_uuid",
	"device_uuid": "virtual_device_uuid", "token_uuid": "service_token_uuid", "service_token": "service_token_uuid",
	"service_key": "authentication_key", "pairing_key": "authentication_key", "account_id": "authentication_key",
	"group": "group_uuid", "s_tag": "vlan_s_tag", "c_tag": "vlan_c_tag", "tag": "vlan_tag",
}

// meant returns the field of this object that key is another word for.
func (c *compilation) meant(key string, fields []specField) string {
	for _, name := range []string{strings.ToLower(key), aliases[strings.ToLower(key)], snake(key), aliases[snake(key)]} {
		if name != "" && c.knows(name, fields) {
			return name
		}
	}
	return ""
}

func (c *compilation) knows(name string, fields []specField) bool {
	f := fieldNamed(fields, name)
	return f != nil && c.has(f)
}

func (c *compilation) namesOf(fields []specField) []string {
	var names []string
	for i := range fields {
		if c.has(&fields[i]) {
			names = append(names, fields[i].name)
		}
	}
	return names
}

// fromAPI returns the path of ours for a property in the API's own words.
func (c *compilation) fromAPI(path, key string) string {
	switch path {
	case "a_side":
		key = "aSide/accessPoint/" + key
	case "z_side":
		key = "zSide/accessPoint/" + key
	case "":
	default:
		return ""
	}
	if p := specPath(c.changeType(), key); p != path && p != "" {
		return p
	}
	return ""
}

func snake(key string) string {
	var b strings.Builder
	for _, r := range key {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// nearest returns the known field within two slips of the pen.
func (c *compilation) nearest(key string, fields []specField) string {
	best, found := 3, ""
	if len(key) > 40 {
		return ""
	}
	for _, name := range c.namesOf(fields) {
		if d := editDistance(key, name); d < best && d*3 <= len(name) {
			best, found = d, name
		}
	}
	return found
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left, diagonal := i+1, i
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			left, diagonal = min(diagonal+cost, row[j+1]+1, left+1), row[j+1]
			row[j+1] = left
		}
		row[0] = i + 1
	}
	return row[len(b)]
}

// typesWith names the change types in a set.
func typesWith(set changes) string {
	var names []string
	for _, w := range changeWords {
		if w.set&set != 0 {
			names = append(names, string(w.name))
		}
	}
	return strings.Join(names, ", ")
}

// changeType is the change type being compiled.
func (c *compilation) changeType() broker.ChangeType {
	for _, w := range changeWords {
		if w.set == c.change {
			return w.name
		}
	}
	return ""
}
