package fabric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fabricbroker/broker"
)

// briefOf composes what a person decides by, from a compiled body and what the
// look-ups brought. Without facts uuids stand for names.
func briefOf(r broker.Request, f facts) broker.Brief {
	b := readBody(r.Body)
	switch r.ChangeType {
	case broker.ConnectionCreate:
		return connectionBrief(b, f)
	case broker.NetworkCreate:
		return networkBrief(b)
	case broker.ServiceTokenCreate:
		return tokenBrief(b, f)
	case broker.CloudRouterCreate:
		return routerBrief(b)
	}
	return broker.Brief{}
}

func connectionBrief(b sentBody, f facts) broker.Brief {
	brief := broker.Brief{
		What: fit(func(w int) string {
			return fmt.Sprintf("%s connection %s, %d Mbps", code(b.Type), shorten(b.Name, w), b.Bandwidth)
		}),
		From:     sideLine(b.ASide, f.A),
		To:       sideLine(b.ZSide, f.Z),
		Account:  accountLine(b, f),
		Billable: true,
	}
	switch {
	case b.ASide.Token != nil:
		brief.Pays = "the creator of the A-side token"
	case b.ZSide.Token != nil:
		brief.Pays = "this account, which redeems the token"
	}
	return brief
}

func networkBrief(b sentBody) broker.Brief {
	from := map[string]string{
		"GLOBAL": "everywhere (scope GLOBAL)", "LOCAL": "within one metro (scope LOCAL)",
	}[b.Scope]
	if b.Location.Region != "" {
		from = "the region " + code(b.Location.Region)
	}
	return broker.Brief{
		What: fit(func(w int) string {
			return fmt.Sprintf("%s network %s, %s", code(b.Type), shorten(b.Name, w), code(b.Scope))
		}),
		From:    from,
		Account: accountLine(b, facts{}),
		Pays:    "whoever connects to it",
	}
}

func routerBrief(b sentBody) broker.Brief {
	return broker.Brief{
		What:     fit(func(w int) string { return fmt.Sprintf("%s cloud router %s", code(b.Package.Code), shorten(b.Name, w)) }),
		From:     "metro " + code(b.Location.Metro),
		Account:  accountLine(b, facts{}),
		Billable: true,
	}
}

// tokenBrief says what a token lets its holder do: until when, how much, where.
func tokenBrief(b sentBody, f facts) broker.Brief {
	side, point := b.Connection.selector()
	size := ""
	if most := max(b.Connection.Limit, slices.Max(append(b.Connection.Bandwidths, 0))); most > 0 {
		size = fmt.Sprintf(", up to %d Mbps", most)
	}
	may := []string{"whoever holds it"}
	if b.Connection.Remote {
		may = append(may, "remote connections allowed")
	}
	if b.Connection.Custom {
		may = append(may, "custom bandwidth allowed")
	}
	pays := "its creator, which is this account"
	if side == "z" {
		pays = "whoever redeems it"
	}
	return broker.Brief{
		What: fit(func(w int) string {
			return fmt.Sprintf("%s-side token %s, until %s%s", side, shorten(b.Name, w), day(b.Expiry), size)
		}),
		From:    pointLine(point, f.A),
		To:      strings.Join(may, ", "),
		Account: accountLine(b, f),
		Pays:    pays,
	}
}

// day is the day of an instant of ours, which is in UTC.
func day(instant string) string {
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return "no date named"
	}
	return at.UTC().Format(time.DateOnly)
}

func sideLine(s sentSide, a asset) string {
	if s.Token != nil {
		return tokenLine(s.Token.UUID, a)
	}
	return pointLine(s.Point, a)
}

func tokenLine(uuid string, a asset) string {
	return fit(func(w int) string {
		line := "service token " + code(broker.MaskValue(uuid))
		if a.Name != "" {
			line += " " + shorten(a.Name, w)
		}
		return line + inMetro(a.Metro)
	})
}

// pointLine is one end: what it is, where, the VLAN, and for a provider the
// region and whose key.
func pointLine(p sentPoint, a asset) string {
	x, noun := p.asset()
	if noun == "" {
		return ""
	}
	metro := p.Location.Metro
	if metro == "" {
		metro = a.Metro
	}
	return fit(func(w int) string {
		name := noun + " "
		switch {
		case a.Name == "" && w < len(x.UUID):
			name += shortID(x.UUID)
		case a.Name == "":
			name += code(x.UUID)
		case p.Profile != nil:
			name = shorten(a.Name, w) // a provider's name says what it is
		default:
			name += shorten(a.Name, w)
		}
		line := name + inMetro(metro) + linkWords(p.Link)
		key := broker.MaskValue(p.Key)
		if p.SellerRegion != "" && !strings.Contains(key, "/"+p.SellerRegion+"/") { // Google's keys name it
			line += ", " + code(p.SellerRegion)
		}
		if p.Key != "" {
			line += ", key " + code(key)
		}
		if p.Role != "" {
			line += ", as " + code(p.Role)
		}
		return line
	})
}

func inMetro(metro string) string {
	if metro == "" {
		return ""
	}
	return " (" + code(metro) + ")"
}

func linkWords(l *sentLink) string {
	switch {
	case l == nil:
		return ""
	case l.Type == "UNTAGGED":
		return ", untagged"
	case l.Tag != 0:
		return fmt.Sprintf(", VLAN %d", l.Tag)
	}
	words := ""
	if l.STag != 0 {
		words += fmt.Sprintf(", S-VLAN %d", l.STag)
	}
	if l.CTag != 0 {
		words += fmt.Sprintf(", C-VLAN %d", l.CTag)
	}
	return words
}

func accountLine(b sentBody, f facts) string {
	var parts []string
	switch {
	case b.Account.Number != 0:
		parts = append(parts, strconv.FormatInt(b.Account.Number, 10))
	case f.A.Account != "":
		parts = append(parts, code(f.A.Account))
	}
	if b.Project.ID == "" {
		return strings.Join(append(parts, "no project named"), ", ")
	}
	return strings.Join(append(parts, "project "+shortID(b.Project.ID)), ", ")
}
