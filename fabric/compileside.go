package fabric

import (
	"regexp"
	"strings"
)

// side composes one side of a connection of type t. matched says that the type
// and the sides fit each other: rules that follow from the type add nothing
// where they do not.
func (c *compilation) side(t string, o *specObject, ref *sideRef, matched bool) wire {
	if ref == nil {
		if !c.priceOnly {
			return nil
		}
		point := wire{}
		point.put("location", location(c.metro(o)))
		w := wire{}
		w.put("accessPoint", point)
		return w
	}
	if ref == tokenRef {
		c.nothingBeside(o)
		return wire{"serviceToken": wire{"uuid": o.str(ref.field)}}
	}
	point, asset := wire{"type": ref.access}, wire{}
	asset.put("uuid", o.str(ref.field))
	switch ref {
	case deviceRef:
		asset["type"] = "EDGE"
	case profileRef:
		asset.put("type", profileType(t, o))
	}
	point.put(ref.key, asset)
	if matched {
		point.put("linkProtocol", c.link(o, linkRuleOf(t, o.path, ref)))
	}
	point.put("interface", interfaceOf(c.only(o, "interface", ref, deviceRef)))
	point.put("role", c.role(t, o, ref, matched))
	point.put("location", location(c.metro(o)))
	if ref == profileRef && t != "IX_VC" && !o.given["metro_code"] && !c.priceOnly {
		c.refuse(o.at("metro_code"), "required beside service_profile_uuid: the metro where the provider is met, such as DC")
	}
	for field, key := range map[string]string{"seller_region": "sellerRegion", "peering_type": "peeringType", "authentication_key": "authenticationKey"} {
		c.only(o, field, ref, profileRef)
		point.put(key, o.str(field))
	}
	c.only(o, "profile_type", ref, profileRef)
	c.authenticationKey(o)
	return wire{"accessPoint": point}
}

// nothingBeside refuses whatever stands beside a token: who issued it has fixed
// the port, the VLAN and all else.
func (c *compilation) nothingBeside(o *specObject) {
	for i := range sideFields {
		if f := sideFields[i].name; f != tokenRef.field && o.given[f] {
			c.refuse(o.at(f), "nothing stands beside service_token_uuid: the issuer of the token has fixed it, a VLAN and a metro included")
		}
	}
}

// only refuses a field that belongs to another kind of side, and returns it.
func (c *compilation) only(o *specObject, field string, ref, want *sideRef) *specObject {
	if o.given[field] && ref != want {
		c.refuse(o.at(field), "goes with %s, and this side is %s", want.field, ref.noun)
	}
	return o.obj(field)
}

// profileType is what the API's examples send: it depends on the connection.
func profileType(t string, o *specObject) string {
	switch given := o.str("profile_type"); {
	case given != "":
		return given
	case t == "IA_VC":
		return "IA_PROFILE"
	case t == "IX_VC":
		return "" // its examples name no type
	}
	return "L2_PROFILE"
}

func interfaceOf(o *specObject) wire {
	if o == nil {
		return nil
	}
	w := wire{}
	w.put("type", o.str("type"))
	w.put("id", o.num("id"))
	return w
}

// role is what a member of a tree network may reach. Leaf or root is nothing to
// guess: it decides who sees whom.
func (c *compilation) role(t string, o *specObject, ref *sideRef, matched bool) string {
	tree := t == "EVPTREE_VC" || t == "EPTREE_VC"
	switch {
	case !matched || c.priceOnly:
	case o.given["role"] && (!tree || ref != networkRef):
		c.refuse(o.at("role"), "goes beside network_uuid with EVPTREE_VC and EPTREE_VC only")
	case !o.given["role"] && tree && ref == networkRef:
		c.refuse(o.at("role"), "%s needs it: LEAF or ROOT", t)
	}
	return o.str("role")
}

// A pairing key of Google carries the region that it is for.
var googleKey = regexp.MustCompile(`^[0-9A-Za-z-]{8,}/([a-z]+(?:-[a-z0-9]+)+)/([0-9A-Za-z]+)$`)

// An AWS account id has twelve digits. Its console shows them with dashes, and
// spreadsheets lose zeros in front.
var (
	dashedAccount = regexp.MustCompile(`^[0-9]{4}-[0-9]{4}-[0-9]{4}$`)
	almostAccount = regexp.MustCompile(`^[0-9]{9,11}$`)
)

func (c *compilation) authenticationKey(o *specObject) {
	key, region := o.str("authentication_key"), o.str("seller_region")
	path := o.at("authentication_key")
	if key == "" {
		return
	}
	if looksLikeCredential(key) {
		c.refuse(path, "looks like a credential of the provider; want what identifies the circuit or the account, for AWS the account id of 12 digits")
		return
	}
	switch {
	case dashedAccount.MatchString(key):
		c.refuse(path, "an account id with dashes; want its 12 digits alone")
		return
	case almostAccount.MatchString(key):
		c.warn(path, "%d digits; an AWS account id has 12, zeros in front count", len(key))
	}
	m := googleKey.FindStringSubmatch(key)
	switch {
	case m == nil:
	case !o.given["seller_region"]:
		c.refuse(o.at("seller_region"), "required beside this pairing key, which is for %s", echo(m[1]))
	case region != "" && !strings.EqualFold(region, m[1]):
		c.refuse(path, "the pairing key is for %s, but seller_region is %s", echo(m[1]), echo(region))
	}
}
