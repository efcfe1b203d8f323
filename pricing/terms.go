package pricing

import (
	"strconv"
	"strings"
)

// termNames are the terms that decide a price, by their names in a rate card.
var termNames = [...]string{
	"product", "connection_type", "bandwidth_mbps", "a_metro", "z_metro", "a_type", "z_type",
	"profile_uuid", "network_scope", "metro", "package", "term_months", "account_number",
}

const (
	termProduct = 0
	termAccount = len(termNames) - 1
)

// terms are an item's terms in the order of termNames, in one spelling: equal
// terms are equal with ==. "" is a term that is not named.
type terms [len(termNames)]string

func (it Item) terms() terms {
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return terms{
		strings.ToUpper(it.Product),
		strings.ToUpper(it.ConnectionType),
		number(it.BandwidthMbps),
		strings.ToUpper(it.AMetro),
		strings.ToUpper(it.ZMetro),
		strings.ToUpper(it.AType),
		strings.ToUpper(it.ZType),
		strings.ToUpper(it.ProfileUUID),
		strings.ToUpper(it.NetworkScope),
		strings.ToUpper(it.Metro),
		strings.ToUpper(it.Package),
		number(int64(it.TermMonths)),
		number(it.AccountNumber),
	}
}

// wanted is what a row's terms are held against: an item without a term is month
// to month.
func (it Item) wanted() terms {
	it.TermMonths = it.Months()
	return it.terms()
}

// named counts the terms that are named.
func (t terms) named() int {
	n := 0
	for _, s := range t {
		if s != "" {
			n++
		}
	}
	return n
}

// within reports whether every term that t names is want's. A row that names no
// product is a price for nothing.
func (t terms) within(want terms) bool {
	for i, s := range t {
		if s != "" && s != want[i] {
			return false
		}
	}
	return t[termProduct] != ""
}

// beside returns t without the account: what a CUSTOMER row and the COUNTRY row
// that it replaces have in common, for only the first names an account.
func (t terms) beside() terms {
	t[termAccount] = ""
	return t
}

// against says in words which terms that t names are not want's, and how many
// they are: "z metro DC, not SY".
func (t terms) against(want terms) (words string, n int) {
	var parts []string
	if t[termProduct] == "" {
		parts = append(parts, "a product that it does not name")
	}
	for i, s := range t {
		if s == "" || s == want[i] {
			continue
		}
		part := strings.ReplaceAll(termNames[i], "_", " ") + " " + plain(s)
		if want[i] == "" {
			part += ", which is not asked for"
		} else {
			part += ", not " + plain(want[i])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; "), len(parts)
}
