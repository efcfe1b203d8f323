package fabric

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// token judges a service token that a connection redeems. Its id is a secret and
// stands in no message.
func (j *judge) token(rf ref, doc any, f asset) asset {
	side := tokenSide(doc)
	f.TokenSide = strings.TrimSuffix(side, "Side")
	selector := at(doc, "connection", side, "accessPointSelectors")
	f.AccessPoint = strings.ToUpper(clean(text(at(selector, "type")), 20))
	if f.Metro == "" {
		f.Metro = strings.ToUpper(clean(text(at(selector, "location", "metroCode")), 8))
	}
	if f.Metro == "" {
		f.Metro = strings.ToUpper(clean(text(at(selector, "port", "location", "metroCode")), 8))
	}

	if side != "" && side != rf.side {
		j.refuse(rf.path, fmt.Sprintf("this is a %s-side token: it cannot stand on the %s-side", f.TokenSide, rf.side[:1]))
	}
	switch f.State {
	case "", "INACTIVE":
	case "ACTIVE":
		j.refuse(rf.path, "the service token is ACTIVE: it has been redeemed already")
	case "EXPIRED", "DELETED":
		j.refuse(rf.path, "the service token is "+f.State+": ask its owner for a new one")
	default:
		j.warn(rf.path, "the service token is "+codeWord(f.State)+", not INACTIVE")
	}
	for _, key := range []string{"expirationDateTime", "expiryDateTime"} {
		if t, ok := moment(text(at(doc, key))); ok && t.Before(j.now) && f.State != "EXPIRED" {
			j.refuse(rf.path, "the service token expired at "+t.UTC().Format(time.RFC3339)+": ask its owner for a new one")
			break
		}
	}
	j.tokenBandwidth(at(doc, "connection"))
	if at(doc, "connection", "allowRemoteConnection") == false {
		j.localToken = rf.path
	}
	return f
}

func (j *judge) tokenBandwidth(conn any) {
	if limit, ok := number(at(conn, "bandwidthLimit")); ok && limit > 0 && j.bandwidth > limit {
		j.refuse(j.path("/bandwidth"), fmt.Sprintf("the service token allows at most %d Mbps, %d Mbps is asked for", limit, j.bandwidth))
	}
	offered := numbers(at(conn, "supportedBandwidths"))
	if len(offered) > 0 && at(conn, "allowCustomBandwidth") != true && !slices.Contains(offered, j.bandwidth) {
		j.refuse(j.path("/bandwidth"), fmt.Sprintf("the service token does not allow %d Mbps, only %s", j.bandwidth, tiers(offered)))
	}
}

// tokenSide is the side that a token opens: the one that is there.
func tokenSide(doc any) string {
	a, z := object(at(doc, "connection", "aSide")) != nil, object(at(doc, "connection", "zSide")) != nil
	switch {
	case a && !z:
		return "aSide"
	case z && !a:
		return "zSide"
	default:
		return ""
	}
}

// moment reads a date as Fabric writes it, in one of the forms that were seen.
func moment(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02 15:04:05.999Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
