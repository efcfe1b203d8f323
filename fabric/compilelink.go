package fabric

// linkRule is what a place takes as link protocol.
type linkRule struct {
	kind linkKind
	why  string // for a refusal or a warning: "EPL_VC takes no VLAN"
}

type linkKind int

const (
	linkNeeded linkKind = iota // a tagged port
	linkNone
	linkDoubtful // sources disagree: kept, with a warning
	linkSTag     // QINQ with the S-tag
	linkCTag     // QINQ, where the C-tag alone will do
)

// linkRuleOf returns the rule for a side of a connection of type t.
func linkRuleOf(t, side string, ref *sideRef) linkRule {
	switch {
	case ref == profileRef && t != "IX_VC" && t != "IA_VC":
		// Azure takes the C-tag of its circuit beside the profile.
		return linkRule{linkCTag, "a service profile takes only QINQ with vlan_c_tag, for Azure"}
	case ref != portRef:
		return linkRule{linkNone, "only a port has a VLAN; this side is " + ref.noun}
	case t == "ACCESS_EPL_VC" && side == "a_side":
		return linkRule{linkSTag, "ACCESS_EPL_VC takes QINQ with vlan_s_tag on the a_side"}
	}
	return portLinkRule(t)
}

// portLinkRule returns the rule for a port that a connection of type t uses.
func portLinkRule(t string) linkRule {
	switch t {
	case "EPL_VC", "ACCESS_EPL_VC", "MC_VC", "IX_VC":
		return linkRule{linkNone, t + " takes no VLAN on this port; the whole port is one connection"}
	case "EPLAN_VC", "EPTREE_VC":
		// The documents say untagged, the specification's dry run shows DOT1Q.
		return linkRule{linkDoubtful, "untagged ports join with " + t + ", tagged ports with EVPLAN_VC or EVPTREE_VC; the tag is sent as given and the dry run decides"}
	}
	return linkRule{linkNeeded, t + " needs the VLAN of the port: DOT1Q with vlan_tag, QINQ with vlan_s_tag, or UNTAGGED"}
}

// link composes the linkProtocol of o, which is a side or a token.
func (c *compilation) link(o *specObject, rule linkRule) wire {
	path := o.at("link_protocol")
	if !o.given["link_protocol"] {
		if (rule.kind == linkNeeded || rule.kind == linkSTag) && !c.priceOnly {
			c.refuse(path, "%s", rule.why)
		}
		return nil
	}
	if rule.kind == linkNone {
		c.refuse(path, "%s; leave link_protocol out", rule.why)
		return nil
	}
	l := o.obj("link_protocol")
	if l == nil {
		return nil
	}
	if rule.kind == linkDoubtful && l.str("type") != "UNTAGGED" {
		c.warn(path, "%s", rule.why)
	}
	c.tags(l, rule)
	w := wire{}
	w.put("type", l.str("type"))
	w.put("vlanTag", l.num("vlan_tag"))
	w.put("vlanSTag", l.num("vlan_s_tag"))
	w.put("vlanCTag", l.num("vlan_c_tag"))
	return w
}

// tags checks that the tags are those of the type. The type is never guessed
// from them.
func (c *compilation) tags(l *specObject, rule linkRule) {
	t := l.str("type")
	if (rule.kind == linkSTag || rule.kind == linkCTag) && t != "" && t != "QINQ" {
		c.refuse(l.at("type"), "%s; got %s", rule.why, t)
		return
	}
	switch t {
	case "":
		if !l.given["type"] {
			c.refuse(l.at("type"), "required: DOT1Q (with vlan_tag), QINQ (with vlan_s_tag) or UNTAGGED")
		}
	case "DOT1Q":
		c.noTag(l, "vlan_s_tag", "belongs to QINQ; DOT1Q takes vlan_tag")
		c.noTag(l, "vlan_c_tag", "belongs to QINQ; DOT1Q takes vlan_tag")
		c.needTag(l, "vlan_tag", "required for DOT1Q")
	case "QINQ":
		c.noTag(l, "vlan_tag", "belongs to DOT1Q; QINQ takes vlan_s_tag, and vlan_c_tag inside it")
		switch {
		case rule.kind != linkCTag:
			c.needTag(l, "vlan_s_tag", "required for QINQ")
		case !l.given["vlan_s_tag"]:
			c.needTag(l, "vlan_c_tag", "required for QINQ on a service profile")
		}
		if rule.kind == linkSTag {
			c.noTag(l, "vlan_c_tag", rule.why+" alone")
		}
	case "UNTAGGED":
		for _, tag := range []string{"vlan_tag", "vlan_s_tag", "vlan_c_tag"} {
			c.noTag(l, tag, "UNTAGGED has no tag")
		}
	}
}

func (c *compilation) noTag(l *specObject, tag, why string) {
	if l.given[tag] {
		c.refuse(l.at(tag), "%s %s", tag, why)
	}
}

func (c *compilation) needTag(l *specObject, tag, why string) {
	if !l.given[tag] {
		c.refuse(l.at(tag), "%s %s", tag, why)
	}
}
