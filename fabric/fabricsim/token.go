package fabricsim

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

const tokenMaxLife = 90 * 24 * time.Hour

// checkToken: the schema requires nothing and the errors are undocumented; the
// rules are those of the portal and of the Terraform provider.
func (s *Sim) checkToken(c *call, body doc) issues {
	var wrong issues
	if t := text(body, "/type"); t != "VC_TOKEN" && t != "EPL_TOKEN" {
		wrong.invalid("/type", "type is VC_TOKEN or EPL_TOKEN")
	}
	s.checkCommon(&wrong, body)
	switch at, err := time.Parse(time.RFC3339, text(body, "/expirationDateTime")); {
	case err != nil:
		wrong.invalid("/expirationDateTime", "expirationDateTime is required, as a date-time")
	case !at.After(c.now) || at.After(c.now.Add(tokenMaxLife)):
		wrong.invalid("/expirationDateTime", "expirationDateTime is in the future, at most 90 days ahead")
	}
	if t := at(body, "/connection/type"); t != nil && !slices.Contains([]string{
		"EVPL_VC", "EPL_VC", "EVPLAN_VC", "EPLAN_VC", "IPWAN_VC", "IP_VC", "EVPTREE_VC", "EPTREE_VC",
	}, str(t)) {
		wrong.invalid("/connection/type", "unknown connection type for a service token")
	}
	if v := at(body, "/connection/bandwidthLimit"); v != nil {
		if n, ok := integer(v); !ok || n < 0 || n > 100000 {
			wrong.invalid("/connection/bandwidthLimit", "bandwidthLimit is an integer between 0 and 100000")
		}
	}
	for _, v := range list(body, "/connection/supportedBandwidths") {
		if n, ok := integer(v); !ok || n < 0 {
			wrong.invalid("/connection/supportedBandwidths", "supportedBandwidths holds integers")
			break
		}
	}
	connection := object(body, "connection")
	a, z := object(connection, "aSide"), object(connection, "zSide")
	switch {
	case (a == nil) == (z == nil):
		wrong.invalid("/connection", "either aSide or zSide is required")
	case a != nil:
		s.checkSelector(c, &wrong, a, "/connection/aSide/accessPointSelectors", "COLO")
	default:
		s.checkSelector(c, &wrong, z, "/connection/zSide/accessPointSelectors", "COLO", "VD", "NETWORK")
	}
	return wrong
}

func (s *Sim) checkSelector(c *call, wrong *issues, side doc, property string, points ...string) {
	l := list(side, "accessPointSelectors")
	if len(l) != 1 {
		wrong.invalid(property, "exactly one access point selector is required")
		return
	}
	selector, _ := l[0].(doc)
	point := text(selector, "type")
	if !slices.Contains(points, point) {
		wrong.invalid(property+"/type", "access point type is not valid on this side")
		return
	}
	switch point {
	case "COLO":
		lp := object(selector, "linkProtocol")
		checkTags(wrong, lp, property+"/linkProtocol", true)
		port := s.need(wrong, selector, "port", KindPort, property)
		if port == nil {
			return
		}
		want, got := text(port.doc, "/encapsulation/type"), text(lp, "/type")
		if (got == "DOT1Q" || got == "QINQ") && got != want {
			wrong.invalid(property+"/linkProtocol", "port has encapsulation %s", want)
		}
		if taken(s.reservations(c), port.uuid, lp) {
			wrong.add(vlanTaken(property + "/linkProtocol"))
		}
	case "NETWORK":
		if n := s.need(wrong, selector, "network", KindNetwork, property); n != nil {
			if t := text(selector, "/network/type"); t != "" && t != text(n.doc, "/type") {
				wrong.invalid(property+"/network/type", "network is of type %s", text(n.doc, "/type"))
			}
		}
	default:
		if _, err := uuid.Parse(text(selector, "/virtualDevice/uuid")); err != nil {
			wrong.invalid(property+"/virtualDevice/uuid", "virtual device uuid is required")
		}
	}
}

func (s *Sim) echoToken(_ *call, body doc) doc {
	d := only(body, "type", "name", "description", "expirationDateTime", "connection", "notifications", "project", "account")
	for _, side := range []string{"aSide", "zSide"} {
		for _, e := range list(d, "/connection/"+side+"/accessPointSelectors") {
			selector, _ := e.(doc)
			for key, kind := range references {
				if ref := object(selector, key); ref != nil {
					ref["href"] = href(kind, text(ref, "uuid"))
				}
			}
		}
	}
	return d
}

// makeToken: INACTIVE is where a token rests until somebody redeems it.
func (s *Sim) makeToken(c *call, body doc) *asset {
	d := s.echoToken(c, body)
	d["state"] = "INACTIVE"
	account := object(d, "account")
	if account == nil {
		account = doc{}
	}
	account["orgId"] = orgID
	d["account"] = account
	connection := object(d, "connection")
	for _, flag := range []string{"allowRemoteConnection", "allowCustomBandwidth"} {
		if _, ok := connection[flag]; !ok {
			connection[flag] = false
		}
	}
	return s.newAsset(c, KindServiceToken, d)
}
