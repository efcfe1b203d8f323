package fabric

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// token composes a service_token_create. Which end it opens is said by which of
// aSide and zSide is there; the API's own fields for that are deprecated.
func (c *compilation) token(o *specObject) wire {
	side, t := o.str("side"), o.str("connection_type")
	ref := c.opened(o, side)
	if ref != nil {
		c.matchToken(o, side, t, ref)
	}
	c.ofSide(o, side, "bandwidth_limit_mbps", "a", "a z-side token lists supported_bandwidths_mbps")
	c.ofSide(o, side, "supported_bandwidths_mbps", "z", "an a-side token has bandwidth_limit_mbps")

	connection := wire{}
	connection.put("type", t)
	for field, key := range map[string]string{"allow_remote_connection": "allowRemoteConnection", "allow_custom_bandwidth": "allowCustomBandwidth"} {
		if v, ok := o.values[field].(bool); ok {
			connection[key] = v
		}
	}
	connection.put("bandwidthLimit", o.num("bandwidth_limit_mbps"))
	connection.put("supportedBandwidths", c.bandwidths(o))
	if ref != nil && side != "" {
		connection.put(side+"Side", wire{"accessPointSelectors": []any{c.selector(o, t, ref)}})
	}

	w := wire{"type": "VC_TOKEN"}
	if t == "EPL_VC" {
		w["type"] = "EPL_TOKEN"
	}
	w.put("name", c.nameOf(o))
	w.put("description", o.str("description"))
	w.put("expirationDateTime", c.expiry(o))
	w.put("connection", connection)
	w.put("project", project(o))
	w.put("notifications", c.notifications(o))
	return w
}

// opened finds what the token opens.
func (c *compilation) opened(o *specObject, side string) *sideRef {
	var found refs
	for _, r := range (refs{portRef, deviceRef, networkRef}) {
		if !o.given[r.field] {
			continue
		}
		found = append(found, r)
		if side == "a" && r != portRef {
			c.refuse(o.at(r.field), "an a-side token opens a port: want port_uuid, or side z")
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case c.priceOnly:
	case len(found) == 0 && side == "a":
		c.refuse(o.at("port_uuid"), "required for an a-side token")
	case len(found) == 0:
		c.refuse(o.at("port_uuid"), "the token does not say what it opens; name exactly one of port_uuid, virtual_device_uuid, network_uuid")
	default:
		c.refuse(o.at(found[1].field), "a token opens one thing; there is %s already", found[0].field)
	}
	return nil
}

// matchToken checks the connection type and the fields that go with ref.
func (c *compilation) matchToken(o *specObject, side, t string, ref *sideRef) {
	path := o.at("connection_type")
	network := o.str("network_type")
	switch {
	case t == "":
	case ref == networkRef && network != "" && t != network+"_VC":
		c.refuse(path, "a token for a network of type %s needs %s_VC, got %s", network, network, t)
	case ref == deviceRef && t != "EVPL_VC" && t != "IP_VC":
		c.refuse(path, "a token for a virtual device needs EVPL_VC or IP_VC, got %s", t)
	case ref == portRef && side == "z" && slices.Contains(networkTypes, strings.TrimSuffix(t, "_VC")):
		c.refuse(path, "%s ends in a network: a z-side token for it needs network_uuid, not port_uuid", t)
	case ref == portRef && t == "IPWAN_VC":
		c.refuse(path, "IPWAN_VC joins a cloud router and a network; a token for a port cannot be used for it")
	}
	switch {
	case ref == networkRef && !o.given["network_type"]:
		c.refuse(o.at("network_type"), "required with network_uuid: one of %s", strings.Join(networkTypes, ", "))
	case ref != networkRef && o.given["network_type"]:
		c.refuse(o.at("network_type"), "goes with network_uuid only")
	}
	c.only(o, "interface", ref, deviceRef)
	if i := o.obj("interface"); i != nil && i.str("type") == "CLOUD" {
		c.refuse(i.at("type"), "want NETWORK, got CLOUD")
	}
}

// selector composes the one access point selector.
func (c *compilation) selector(o *specObject, t string, ref *sideRef) wire {
	asset := wire{}
	asset.put("uuid", o.str(ref.field))
	w := wire{"type": ref.access}
	rule := linkRule{linkNone, "only a port has a VLAN; this token opens " + ref.noun}
	switch ref {
	case portRef:
		rule = portLinkRule(t)
	case deviceRef:
		asset["type"] = "EDGE"
		w.put("interface", interfaceOf(o.obj("interface")))
	case networkRef:
		asset.put("type", o.str("network_type"))
	}
	w.put(ref.key, asset)
	if t != "" {
		w.put("linkProtocol", c.link(o, rule))
	}
	return w
}

func (c *compilation) ofSide(o *specObject, side, field, want, instead string) {
	if o.given[field] && side != "" && side != want {
		c.refuse(o.at(field), "goes with side %s; %s", want, instead)
	}
}

// bandwidths keeps the order as given.
func (c *compilation) bandwidths(o *specObject) []any {
	given := o.nums("supported_bandwidths_mbps")
	var list []any
	for i, b := range given {
		if slices.Contains(given[:i], b) {
			c.refuse(indexPath(o.at("supported_bandwidths_mbps"), i), "%d is there already", b)
		}
		list = append(list, b)
	}
	return list
}

const (
	longestToken = 90 * 24 * time.Hour
	// wireTime is the form that the API's own clients send.
	wireTime = "2006-01-02T15:04:05.000Z"
)

var utcForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$`)

// expiry returns the instant on which the token ends, in the API's form.
func (c *compilation) expiry(o *specObject) string {
	s, path := o.str("expires_at"), o.at("expires_at")
	if s == "" {
		return ""
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || !utcForm.MatchString(s) {
		c.refuse(path, "want an instant in UTC such as 2027-01-31T00:00:00Z, to the millisecond at most; got %s", echo(s))
		return ""
	}
	if _, offset := at.Zone(); offset != 0 {
		c.refuse(path, "want UTC, got %s; the same instant is %s", echo(s), at.UTC().Format(time.RFC3339))
		return ""
	}
	at = at.UTC()
	if c.now.IsZero() {
		return at.Format(wireTime)
	}
	latest := c.now.UTC().Add(longestToken).Truncate(time.Second).Format(time.RFC3339)
	switch {
	case !at.After(c.now):
		c.refuse(path, "%s is in the past; at most 90 days ahead are accepted, until %s", echo(s), latest)
	case at.After(c.now.Add(longestToken)):
		c.refuse(path, "%s is more than 90 days ahead; the latest accepted is %s", echo(s), latest)
	}
	return at.Format(wireTime)
}
