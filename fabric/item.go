package fabric

import (
	"strconv"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// itemOf returns what decides the price of r. A connection of a type that the
// price search does not know (MC_VC, IX_VC) is billable all the same: it keeps
// its product and type, finds no row of that type, and is said to be unpriced.
func itemOf(r broker.Request, f facts) pricing.Item {
	b := readBody(r.Body)
	switch r.ChangeType {
	case broker.ConnectionCreate:
		return connectionItem(b, f)
	case broker.CloudRouterCreate:
		return pricing.Item{
			Product:       pricing.ProductRouter,
			Metro:         b.Location.Metro,
			Package:       b.Package.Code,
			AccountNumber: b.Account.Number,
			TermMonths:    b.Order.Term,
		}
	case broker.NetworkCreate, broker.ServiceTokenCreate:
	}
	return pricing.Item{} // nothing is billed before something uses it
}

func connectionItem(b sentBody, f facts) pricing.Item {
	it := pricing.Item{
		Product:        pricing.ProductConnection,
		ConnectionType: b.Type,
		BandwidthMbps:  b.Bandwidth,
		AType:          pointType(b.ASide, f.A),
		ZType:          pointType(b.ZSide, f.Z),
		AMetro:         metroOf(b.ASide, f.A),
		ZMetro:         metroOf(b.ZSide, f.Z),
		AccountNumber:  b.Account.Number,
		TermMonths:     b.Order.Term,
		BilledTo:       billedTo(b),
	}
	if p := b.ZSide.Point.Profile; p != nil {
		it.ProfileUUID = p.UUID
	}
	if it.ZType == networkRef.access {
		it.NetworkScope = f.Z.Scope
	}
	if n, err := strconv.ParseInt(f.A.Account, 10, 64); err == nil && it.AccountNumber == 0 && n > 0 {
		it.AccountNumber = n
	}
	return it
}

// pointType is the access point type of a side. A token hides it: then the
// look-up knows, or nobody.
func pointType(s sentSide, a asset) string {
	if s.Token != nil {
		return a.AccessPoint
	}
	return s.Point.Type
}

func metroOf(s sentSide, a asset) string {
	if s.Point.Location.Metro != "" {
		return s.Point.Location.Metro
	}
	return a.Metro
}

// billedTo names who pays for a connection with tokens: the creator of the
// A-side's, the redeemer of the Z-side's (Equinix' documents on service tokens).
func billedTo(b sentBody) string {
	switch {
	case b.ASide.Token != nil:
		return "the creator of the A-side token"
	case b.ZSide.Token != nil:
		return "the redeemer of the Z-side token"
	}
	return ""
}
