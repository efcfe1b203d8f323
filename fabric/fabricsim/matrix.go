package fabricsim

import (
	"slices"
	"strings"
)

// matrix says which access points each connection type joins. A type that is
// missing here joins anything: nothing is documented about it.
var matrix = map[string]struct{ a, z []string }{
	"EVPL_VC":       {[]string{"COLO", "VD", "METAL_NETWORK"}, []string{"COLO", "SP", "VD"}},
	"EPL_VC":        {[]string{"COLO"}, []string{"COLO"}},
	"ACCESS_EPL_VC": {[]string{"COLO"}, []string{"COLO"}},
	"EVPLAN_VC":     {[]string{"COLO", "VD"}, []string{"NETWORK"}},
	"EPLAN_VC":      {[]string{"COLO"}, []string{"NETWORK"}},
	"EVPTREE_VC":    {[]string{"COLO", "VD"}, []string{"NETWORK"}},
	"EPTREE_VC":     {[]string{"COLO"}, []string{"NETWORK"}},
	"IPWAN_VC":      {[]string{"CLOUD_ROUTER"}, []string{"NETWORK"}},
	"IP_VC":         {[]string{"CLOUD_ROUTER"}, []string{"COLO", "SP", "VD", "METAL_NETWORK"}},
	"IA_VC":         {[]string{"VD"}, []string{"SP"}},
	"MC_VC":         {[]string{"COLO"}, []string{"COLO"}},
	"IX_VC":         {[]string{"COLO"}, []string{"SP"}},
}

func checkMatrix(wrong *issues, kind string, a, z end) {
	allowed, ok := matrix[kind]
	if !ok {
		return
	}
	if a.ap != nil && !slices.Contains(allowed.a, a.point) {
		wrong.invalid(a.property(), "access point type is not valid for connection type %s", kind)
	}
	if z.ap != nil && !slices.Contains(allowed.z, z.point) {
		wrong.invalid(z.property(), "access point type is not valid for connection type %s", kind)
	}
	for _, e := range []end{a, z} {
		if e.token == nil {
			continue
		}
		if t := text(e.token.doc, "/connection/type"); t != "" && t != kind {
			wrong.invalid(e.at+"/serviceToken/uuid", "service token is for connection type %s", t)
		}
		if !truth(e.token.doc, "/connection/allowRemoteConnection") && a.metro() != "" && z.metro() != "" && a.metro() != z.metro() {
			err := on("EQ-3142536", "Remote connection cannot be created with the provided ServiceToken", "/zSide/accessPoint/port/uuid")
			err.Details = "Only local Connection can be created using this ServiceToken"
			wrong.add(err)
		}
	}
	if z.network != nil && text(z.network.doc, "/type")+"_VC" != kind && slices.Contains(allowed.z, "NETWORK") {
		wrong.invalid("/zSide/accessPoint/network/uuid", "network is of type %s", text(z.network.doc, "/type"))
	}
	if role := text(z.ap, "/role"); role != "" && role != "LEAF" && role != "ROOT" {
		wrong.invalid("/zSide/accessPoint/role", "role is LEAF or ROOT")
	}
	if kind == "IA_VC" && z.profile != nil && text(z.profile.doc, "/type") != "IA_PROFILE" {
		wrong.invalid("/zSide/accessPoint/profile/type", "profile is of type %s", text(z.profile.doc, "/type"))
	}
}

func (e end) property() string {
	if e.token != nil {
		return e.at + "/serviceToken/uuid"
	}
	return e.at + "/accessPoint/type"
}

// untagged connection types take no tags at all; loose ones are documented both
// with and without.
var (
	untagged = []string{"EPL_VC", "MC_VC", "IX_VC"}
	loose    = []string{"EPLAN_VC", "EPTREE_VC", "EC_VC", "EIA_VC", "IC_VC"}
)

// checkEnd checks the link protocol of one side against itself, the connection
// type and the port's encapsulation.
func checkEnd(wrong *issues, kind string, e end) {
	if !e.own {
		return // checked when the token was made
	}
	property := e.at + "/accessPoint/linkProtocol"
	lp := object(e.ap, "linkProtocol")
	checkTags(wrong, lp, property, e.point != "SP")
	if e.port == nil {
		return
	}
	want := text(e.port.doc, "/encapsulation/type")
	got := text(lp, "/type")
	switch {
	case kind == "ACCESS_EPL_VC" && e.at == "/aSide":
		if got != "QINQ" || has(lp, "vlanCTag") || want != "QINQ" {
			wrong.invalid(property, "ACCESS_EPL_VC takes a QINQ port and vlanSTag alone")
		}
	case slices.Contains(untagged, kind) || kind == "ACCESS_EPL_VC":
		if lp != nil && got != "UNTAGGED" {
			wrong.invalid(property, "%s takes no link protocol", kind)
		}
	case slices.Contains(loose, kind):
	case want == "UNTAGGED":
		if lp != nil && got != "UNTAGGED" {
			wrong.invalid(property, "port is untagged")
		}
	case got != want:
		wrong.invalid(property, "port has encapsulation %s", want)
	}
}

// checkTags checks which tags stand there, and their range. Providers get a
// QINQ C-tag alone, so a missing S-tag is an error on ports only.
func checkTags(wrong *issues, lp doc, property string, complete bool) {
	if lp == nil {
		return
	}
	kind := text(lp, "/type")
	var need, may []string
	switch kind {
	case "DOT1Q":
		need = []string{"vlanTag"}
	case "QINQ":
		need, may = []string{"vlanSTag"}, []string{"vlanCTag"}
	case "UNTAGGED":
	case "VXLAN", "EVPN_VXLAN":
		return // its tags are beyond every documented range
	default:
		wrong.invalid(property+"/type", "unknown link protocol type")
		return
	}
	for _, tag := range []string{"vlanTag", "vlanSTag", "vlanCTag"} {
		v := lp[tag]
		switch allowed := slices.Contains(need, tag) || slices.Contains(may, tag); {
		case v == nil && slices.Contains(need, tag) && complete:
			wrong.invalid(property+"/"+tag, "%s is required for %s", tag, kind)
		case v != nil && !allowed:
			wrong.invalid(property+"/"+tag, "%s is not for %s", tag, kind)
		case v != nil:
			if n, ok := integer(v); !ok || n < 2 || n > 4092 {
				wrong.invalid(property+"/"+tag, "%s is between 2 and 4092", strings.TrimSpace(tag))
			}
		}
	}
}
