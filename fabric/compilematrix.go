package fabric

import (
	"slices"
	"strings"
)

// sideRef is one way to name what a side of a connection is.
type sideRef struct {
	field  string // of the spec
	access string // the API's access point type; "" for a token, which hides it
	key    string // of the API's object
	noun   string
}

var (
	portRef    = &sideRef{"port_uuid", "COLO", "port", "a port"}
	routerRef  = &sideRef{"cloud_router_uuid", "CLOUD_ROUTER", "router", "a cloud router"}
	deviceRef  = &sideRef{"virtual_device_uuid", "VD", "virtualDevice", "a virtual device"}
	networkRef = &sideRef{"network_uuid", "NETWORK", "network", "a network"}
	tokenRef   = &sideRef{"service_token_uuid", "", "serviceToken", "a service token"}
	profileRef = &sideRef{"service_profile_uuid", "SP", "profile", "a service profile"}

	sideRefs = []*sideRef{portRef, routerRef, deviceRef, networkRef, tokenRef, profileRef}
)

type refs []*sideRef

// matrix is which sides a connection type joins, after the requests that the
// specification shows (OpenAPI 4.30, createConnection).
var matrix = map[string]struct{ a, z refs }{
	"EVPL_VC":       {refs{portRef, deviceRef, tokenRef}, refs{portRef, profileRef, tokenRef}},
	"EPL_VC":        {refs{portRef, tokenRef}, refs{portRef, tokenRef}},
	"ACCESS_EPL_VC": {refs{portRef}, refs{portRef}},
	"EVPLAN_VC":     {refs{portRef, deviceRef, tokenRef}, refs{networkRef, tokenRef}},
	"EPLAN_VC":      {refs{portRef, tokenRef}, refs{networkRef, tokenRef}},
	"EVPTREE_VC":    {refs{portRef, tokenRef}, refs{networkRef, tokenRef}},
	"EPTREE_VC":     {refs{portRef, tokenRef}, refs{networkRef, tokenRef}},
	"IP_VC":         {refs{routerRef}, refs{portRef, profileRef, deviceRef, tokenRef}},
	"IPWAN_VC":      {refs{routerRef}, refs{networkRef, tokenRef}},
	"IA_VC":         {refs{deviceRef}, refs{profileRef}},
	"MC_VC":         {refs{portRef}, refs{portRef}},
	"IX_VC":         {refs{portRef}, refs{profileRef}},
}

// matchSides checks the type against the two sides; a or z is nil where a side
// does not say what it is. A reference that leaves one family of types makes the
// type wrong; otherwise the type makes a side wrong.
func (c *compilation) matchSides(o *specObject, a, z *sideRef) {
	t := o.str("type")
	if t == "" {
		return
	}
	switch {
	case a == routerRef && z == networkRef && t != "IPWAN_VC":
		c.refuse(o.at("type"), "a cloud router reaches a network with IPWAN_VC, not with %s", t)
		return
	case a == routerRef && t != "IP_VC" && t != "IPWAN_VC":
		c.refuse(o.at("type"), "a cloud router on the a_side needs IP_VC, or IPWAN_VC to a network; got %s", t)
		return
	case z == networkRef && !slices.Contains(matrix[t].z, networkRef):
		c.refuse(o.at("type"), "a network on the z_side needs EVPLAN_VC, EPLAN_VC, EVPTREE_VC, EPTREE_VC or, from a cloud router, IPWAN_VC; got %s", t)
		return
	}
	c.matchSide(t, "a_side", a, matrix[t].a, matrix[t].z)
	c.matchSide(t, "z_side", z, matrix[t].z, matrix[t].a)
}

func (c *compilation) matchSide(t, side string, ref *sideRef, allowed, other refs) {
	if ref == nil || slices.Contains(allowed, ref) {
		return
	}
	fields := make([]string, len(allowed))
	for i, r := range allowed {
		fields[i] = side + "." + r.field
	}
	hint := ""
	if slices.Contains(other, ref) {
		hint = "; " + ref.noun + " goes on the other side"
	}
	c.refuse(side, "%s needs %s, got %s%s", t, strings.Join(fields, " or "), ref.field, hint)
}

// reference finds the one thing that names what a side is.
func (c *compilation) reference(o *specObject) *sideRef {
	var found refs
	var names []string
	for _, r := range sideRefs {
		names = append(names, r.field)
		if o.given[r.field] {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		if !c.priceOnly {
			c.refuse(o.path, "does not say what it is; name exactly one of %s", strings.Join(names, ", "))
		}
	default:
		names = names[:0]
		for _, r := range found {
			names = append(names, r.field)
		}
		c.refuse(o.path, "names %s; a side is exactly one of them", strings.Join(names, " and "))
	}
	return nil
}
