package fabricsim

import (
	"fmt"
	"net/http"
	"strings"
)

// tags is what makes a VLAN unique on a port; "" where nothing is tagged.
func tags(lp doc) string {
	s, c, v := lp["vlanSTag"], lp["vlanCTag"], lp["vlanTag"]
	switch {
	case v != nil:
		return fmt.Sprintf("%v", v)
	case s != nil || c != nil:
		return fmt.Sprintf("%v.%v", orElseAny(s, "-"), orElseAny(c, "-"))
	}
	return ""
}

// reservation is a VLAN in use on a port, or not free yet.
type reservation struct {
	by    *asset
	port  string
	proto doc
}

// reservations lists every VLAN that is held, by connections and by tokens. A
// deleted connection holds its own for a while.
func (s *Sim) reservations(c *call) []reservation {
	var all []reservation
	add := func(a *asset, ap doc) {
		if lp := object(ap, "linkProtocol"); tags(lp) != "" && text(ap, "/port/uuid") != "" {
			all = append(all, reservation{by: a, port: text(ap, "/port/uuid"), proto: lp})
		}
	}
	s.attached(func(a *asset, _ string, ap doc) {
		state := text(a.doc, "/state")
		if state != "FAILED" && (!gone(state) || c.now.Before(a.vlanFree)) {
			add(a, ap)
		}
	})
	for _, a := range s.assets {
		if a.kind != KindServiceToken || expired(a.doc, c.now) || gone(text(a.doc, "/state")) {
			continue
		}
		if _, ap := issued(a.doc); ap != nil {
			add(a, ap)
		}
	}
	return all
}

// checkVLANs is the only uniqueness that the API knows.
func (s *Sim) checkVLANs(c *call, wrong *issues, a, z end) {
	held := s.reservations(c)
	for _, e := range []end{a, z} {
		if e.port == nil || !e.own {
			continue
		}
		lp := object(e.ap, "linkProtocol")
		if taken(held, e.port.uuid, lp) {
			wrong.add(vlanTaken(e.at + "/accessPoint/linkProtocol"))
		} else if e.at == "/aSide" {
			held = append(held, reservation{port: e.port.uuid, proto: lp})
		}
	}
}

func taken(held []reservation, port string, lp doc) bool {
	if tags(lp) == "" {
		return false
	}
	for _, r := range held {
		if strings.EqualFold(r.port, port) && tags(r.proto) == tags(lp) {
			return true
		}
	}
	return false
}

func vlanTaken(property string) apiError {
	return on("EQ-3142102", "Connection has duplicate buyer-side VLAN ID for port or the same VLAN ID is in the process of being deleted and should be freed up soon", property)
}

// linkProtocols answers GET /ports/{uuid}/linkProtocols.
func (s *Sim) linkProtocols(c *call, id string) response {
	p := s.find(KindPort, id)
	if p == nil {
		// additionalInfo is an object here, against the schema.
		return reply(http.StatusBadRequest, []any{doc{
			"errorCode": "EQ-3035202", "errorMessage": "Unable to fetch port details", "correlationId": c.correlation,
			"details":        "The uuid requested could not be found in system. Please try again after sometime",
			"additionalInfo": doc{"property": "portUuid"},
		}})
	}
	rows := []any{}
	for _, r := range s.reservations(c) {
		if !strings.EqualFold(r.port, p.uuid) {
			continue
		}
		row := cloneDoc(r.proto)
		row["state"] = "RESERVED"
		row["changeLog"] = doc{"createdDateTime": stamp(r.by.at)}
		holder := doc{"href": href(r.by.kind, r.by.uuid), "uuid": r.by.uuid}
		if r.by.kind == KindServiceToken {
			row["serviceToken"] = holder
		} else {
			holder["bandwidth"] = r.by.doc["bandwidth"]
			row["asset"] = holder
		}
		rows = append(rows, row)
	}
	return c.queryPage(rows)
}
