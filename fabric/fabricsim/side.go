package fabricsim

import (
	"slices"

	"github.com/google/uuid"
)

// end is one side of a connection, with the assets that it names looked up.
type end struct {
	at    string // /aSide or /zSide
	point string // access point type; of a token's access point where it has one
	token *asset
	ap    doc
	// own is false where a token stands for the access point.
	own                            bool
	port, router, network, profile *asset
}

func (e end) metro() string {
	for _, a := range []*asset{e.port, e.router} {
		if a != nil {
			return text(a.doc, "/location/metroCode")
		}
	}
	return text(e.ap, "/location/metroCode")
}

// readSide looks one side up and complains about what is not there.
func (s *Sim) readSide(c *call, wrong *issues, body doc, pointer string) end {
	e := end{at: pointer}
	side := object(body, pointer)
	ap, token := object(side, "accessPoint"), object(side, "serviceToken")
	switch {
	case side == nil:
		wrong.invalid(pointer, "%s is required", pointer[1:])
		return e
	case (ap == nil) == (token == nil):
		wrong.invalid(pointer, "either accessPoint or serviceToken is required")
		return e
	case token != nil:
		s.readToken(c, wrong, &e, token)
	default:
		e.ap, e.point, e.own = ap, text(ap, "/type"), true
	}
	if e.ap == nil {
		return e
	}
	prefix := pointer + "/accessPoint"
	switch e.point {
	case "COLO":
		// Without the leading slash: that is how the API writes this one.
		e.port = s.need(wrong, e.ap, "port", KindPort, prefix[1:])
		if e.port != nil && text(e.port.doc, "/state") != "ACTIVE" && text(e.port.doc, "/state") != "PROVISIONED" {
			wrong.invalid(prefix[1:]+"/port/uuid", "port is not in ACTIVE state")
		}
	case "CLOUD_ROUTER":
		e.router = s.need(wrong, e.ap, "router", KindCloudRouter, prefix)
		s.checkRouterEnd(wrong, e)
	case "NETWORK":
		e.network = s.need(wrong, e.ap, "network", KindNetwork, prefix)
		if e.network != nil && text(e.network.doc, "/state") != "ACTIVE" {
			wrong.invalid(prefix+"/network/uuid", "network is not in ACTIVE state")
		}
	case "SP":
		s.checkProfileEnd(wrong, &e)
	case "VD":
		if _, err := uuid.Parse(text(e.ap, "/virtualDevice/uuid")); err != nil {
			wrong.invalid(prefix+"/virtualDevice/uuid", "virtual device uuid is required")
		}
	case "METAL_NETWORK":
	default:
		wrong.invalid(prefix+"/type", "unknown access point type")
	}
	return e
}

func (s *Sim) need(wrong *issues, ap doc, key, kind, prefix string) *asset {
	a := s.find(kind, text(ap, key+"/uuid"))
	if a == nil {
		wrong.invalid(prefix+"/"+key+"/uuid", "%s not found", key)
	}
	return a
}

func (s *Sim) readToken(c *call, wrong *issues, e *end, ref doc) {
	property := e.at + "/serviceToken/uuid"
	t := s.find(KindServiceToken, text(ref, "/uuid"))
	if t == nil {
		wrong.invalid(property, "service token not found")
		return
	}
	side, ap := issued(t.doc)
	switch state := text(s.view(t, c.now), "/state"); {
	case state == "EXPIRED":
		wrong.invalid(property, "service token has expired")
		return
	case state != "INACTIVE":
		wrong.invalid(property, "service token is in use or deleted")
		return
	case "/"+side != e.at:
		wrong.invalid(property, "service token was issued for the other side")
		return
	}
	e.token, e.ap, e.point = t, ap, text(ap, "/type")
}

func (s *Sim) checkRouterEnd(wrong *issues, e end) {
	if e.router == nil {
		return
	}
	property := e.at + "/accessPoint/router/uuid"
	if text(e.router.doc, "/state") != "PROVISIONED" {
		wrong.add(on("EQ-3142012", "Fabric Cloud Router is not in PROVISIONED state", property))
	}
	if m := text(e.ap, "/location/metroCode"); m != "" && m != e.metro() {
		wrong.add(on("EQ-3142013", "Invalid metro for Cloud Router connection", property))
	}
	p, ok := packageByCode(text(e.router.doc, "/package/code"))
	if ok && s.countConnections("/router/uuid", e.router.uuid) >= p.connections {
		wrong.invalid(property, "package %s carries up to %d connections", p.code, p.connections)
	}
}

// checkProfileEnd: metro and seller region are checked where they are given, since
// the specification's own examples leave them out.
func (s *Sim) checkProfileEnd(wrong *issues, e *end) {
	prefix := e.at + "/accessPoint"
	e.profile = s.find(KindServiceProfile, text(e.ap, "/profile/uuid"))
	if e.profile == nil {
		wrong.add(on("EQ-3142301", "Given profile does not exist", prefix+"/profile/uuid"))
		return
	}
	d := e.profile.doc
	if t := text(e.ap, "/profile/type"); t != "" && t != text(d, "/type") {
		wrong.invalid(prefix+"/profile/type", "profile is of type %s", text(d, "/type"))
	}
	required := slices.ContainsFunc(list(d, "/accessPointTypeConfigs"), func(cfg any) bool { return truth(cfg, "/authenticationKey/required") })
	if required && text(e.ap, "/authenticationKey") == "" {
		wrong.add(on("EQ-3142308", "Authentication key is required", prefix+"/authenticationKey"))
	}
	code := text(e.ap, "/location/metroCode")
	if code == "" {
		return
	}
	for _, m := range list(d, "/metros") {
		if text(m, "/code") != code {
			continue
		}
		regions, region := object(m, "/sellerRegions"), text(e.ap, "/sellerRegion")
		if _, known := regions[region]; region != "" && len(regions) > 0 && !known {
			wrong.invalid(prefix+"/sellerRegion", "seller region is not available in metro %s", code)
		}
		return
	}
	wrong.add(on("EQ-3142302", "Service provider does not exist in required zSide metro", prefix+"/location/metroCode"))
}
