package fabric

import (
	"strings"

	"fabricbroker/broker"
)

// Codes that something here decides by. Their texts are Fabric's; what they
// mean for a spec is what hints says.
const (
	codeNoDryRun    = "EQ-3142411"
	codeVLANTaken   = "EQ-3142102"
	codeInvalid     = "EQ-3142501"
	codeOpaque      = "EQ-3142502"
	codePrimaryOnly = "EQ-3142303"
	codePackage     = "EQ-3040028"
	codeNoProvider  = "EQ-3142302"
	codeBandwidth   = "EQ-3142306"
	codeGroup       = "EQ-3142516"
)

// hints says what to do about the errors of a refused request, as far as more is
// known than what they say themselves.
func hints(r broker.Request, errs []broker.UpstreamError) string {
	body, _ := decodeJSON(r.Body)
	var out []string
	add := func(s string) {
		for _, o := range out {
			if o == s {
				return
			}
		}
		out = append(out, s)
	}
	for _, e := range errs {
		property := strings.ToLower(e.Property)
		switch e.Code {
		case codeVLANTaken:
			add("VLAN " + vlans(body, property) + " is in use on that port, or is being freed after a delete: choose another one, or wait some minutes; it may also be an earlier create of this very request")
		case codeInvalid:
			if strings.Contains(property, "authenticationkey") {
				add("check the provider's key: for Azure it is the service key of the ExpressRoute circuit, not an authorization key")
			}
		case codePrimaryOnly:
			add("this provider takes no secondary: propose two separate connections, one per zone, each with its own profile and key")
		case codePackage:
			add("the packages are LAB, BASIC, STANDARD, ADVANCED and PREMIUM, whatever the text of the error names; not every account is offered all of them")
		case codeOpaque:
			add("this internal error also comes when the network, router or device at either end is not ready: look at its state first")
		case codeNoProvider:
			add("the provider is not in that metro: fabric_get of the service profile lists its metros")
		case codeBandwidth:
			add("fabric_get of the service profile lists its bandwidths")
		case codeGroup:
			add("redundancy.group_uuid is the redundancy group of the primary connection, not its uuid")
		}
	}
	return strings.Join(out, "; ")
}

// vlans names the tags of the side that an error points at, or of both.
func vlans(body any, property string) string {
	var tags []string
	for _, side := range []string{"aSide", "zSide"} {
		other := map[string]string{"aSide": "zside", "zSide": "aside"}[side]
		if strings.Contains(property, other) {
			continue
		}
		for _, k := range []string{"vlanTag", "vlanSTag", "vlanCTag"} {
			if t := text(at(body, side, "accessPoint", "linkProtocol", k)); t != "" {
				tags = append(tags, t)
			}
		}
	}
	if len(tags) == 0 {
		return "tag"
	}
	return strings.Join(tags, " or ")
}
