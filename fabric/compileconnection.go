package fabric

import (
	"regexp"
	"strings"
)

// connection composes a connection_create.
func (c *compilation) connection(o *specObject) wire {
	w := wire{}
	w.put("type", o.str("type"))
	w.put("name", c.nameOf(o))
	w.put("bandwidth", o.num("bandwidth_mbps"))
	a, z := o.obj("a_side"), o.obj("z_side")
	var aRef, zRef *sideRef
	if a != nil {
		aRef = c.reference(a)
	}
	if z != nil {
		zRef = c.reference(z)
	}
	before := len(c.issues)
	c.matchSides(o, aRef, zRef)
	matched := len(c.issues) == before
	for _, s := range []struct {
		o   *specObject
		ref *sideRef
		key string
	}{{a, aRef, "aSide"}, {z, zRef, "zSide"}} {
		if s.o != nil {
			w.put(s.key, c.side(o.str("type"), s.o, s.ref, matched))
		}
	}
	if aRef != nil && aRef == zRef {
		c.notTheSame(a, z, aRef)
	}
	w.put("redundancy", c.redundancy(o.obj("redundancy")))
	w.put("geoScope", o.str("geo_scope"))
	w.put("additionalInfo", c.additionalInfo(o.objs("additional_info")))
	w.put("project", project(o))
	w.put("order", c.order(o))
	w.put("notifications", c.notifications(o))
	return w
}

// notTheSame refuses a connection whose two ends are one place.
func (c *compilation) notTheSame(a, z *specObject, ref *sideRef) {
	if id := a.str(ref.field); id == "" || !strings.EqualFold(id, z.str(ref.field)) {
		return
	}
	al, zl := a.obj("link_protocol"), z.obj("link_protocol")
	if al != nil && zl != nil && (al.num("vlan_tag") != zl.num("vlan_tag") ||
		al.num("vlan_s_tag") != zl.num("vlan_s_tag") || al.num("vlan_c_tag") != zl.num("vlan_c_tag")) {
		return // two VLANs of one port can be joined
	}
	c.refuse(z.at(ref.field), "the same as on the a_side; a connection has two ends")
}

// redundancy joins a connection to its pair. A lost primary is added again with
// the group of its pair, so a primary may name one.
func (c *compilation) redundancy(o *specObject) wire {
	if o == nil {
		return nil
	}
	if o.str("priority") == "SECONDARY" && !o.given["group_uuid"] {
		c.refuse(o.at("group_uuid"), "required for a secondary: redundancy.group of the primary, which exists once the primary is created")
	}
	w := wire{}
	w.put("priority", o.str("priority"))
	w.put("group", o.str("group_uuid"))
	return w
}

var (
	awsSecret = regexp.MustCompile(`^[A-Za-z0-9/+]{40}$`)
	notAWord  = regexp.MustCompile(`[^a-z0-9]+`)
	// secretKey are words in a key that announce a credential, separators removed.
	secretKey = regexp.MustCompile(`accesskey|secret|passw|passphrase|privatekey|apikey|credential|token|sharedkey|bearer`)
)

// looksLikeAWSSecret reports whether s could be an AWS secret access key: 40
// characters of base64 in both cases with digits. Hashes in hex are not.
func looksLikeAWSSecret(s string) bool {
	return awsSecret.MatchString(s) && strings.ContainsAny(s, "0123456789") &&
		strings.ToLower(s) != s && strings.ToUpper(s) != s
}

// additionalInfo keeps order and text. Credentials are refused: they would stand
// in prompts, logs and ledgers, and Fabric's way to accept a connection for a
// cloud account is on that cloud's side.
func (c *compilation) additionalInfo(entries []*specObject) []any {
	var list []any
	seen := map[string]bool{}
	for _, e := range entries {
		key, value := e.str("key"), e.str("value")
		word := notAWord.ReplaceAllString(strings.ToLower(key), "")
		switch {
		case secretKey.MatchString(word):
			c.refuse(e.at("key"), "%s names a credential, and none may pass through here; accept the connection on the AWS (or other provider's) side instead", echo(key))
		case looksLikeCredential(value) || looksLikeAWSSecret(value):
			c.refuse(e.at("value"), "looks like a credential, and none may pass through here; accept the connection on the AWS (or other provider's) side instead")
		case key != "" && seen[key]:
			c.refuse(e.at("key"), "%s is there already", echo(key))
		}
		seen[key] = true
		list = append(list, wire{"key": key, "value": value})
	}
	return list
}
