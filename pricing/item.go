package pricing

import (
	"strconv"
	"strings"
)

// The products that a change may create and that have a price. Fabric's price
// search calls them so (OpenAPI 4.30, Price.type).
const (
	ProductConnection = "VIRTUAL_CONNECTION_PRODUCT"
	ProductRouter     = "CLOUD_ROUTER_PRODUCT"
)

// mostMonths is the longest term that is still a term and not a mistake: a
// century. Together with the bounds of ParseMoney it keeps a commitment from
// overflowing.
const mostMonths = 1200

// Item is what is to be priced, in the terms that decide a price. A zero field
// is not known, or does not apply. Codes are compared without regard to case.
type Item struct {
	Product        string // ProductConnection, ProductRouter; "" = nothing billable is created (a network, a service token)
	ConnectionType string // EVPL_VC, IP_VC and so on
	BandwidthMbps  int64

	AMetro, ZMetro string // metro codes of a connection's two sides
	AType, ZType   string // access point types: COLO, VD, SP, CLOUD_ROUTER, NETWORK and so on
	ProfileUUID    string // service profile of the z-side
	NetworkScope   string // LOCAL, REGIONAL, GLOBAL, where the z-side is a network

	Metro   string // metro code of a cloud router
	Package string // package code of a cloud router

	AccountNumber int64 // the billed account
	TermMonths    int   // 0 = not given, which is month to month, as 1 is

	// BilledTo names who pays where that is not simply AccountNumber, in words
	// for Quote.Basis: "the creator of the A-side token". It decides no price.
	BilledTo string
}

// Billable reports whether the item is something that has a price at all.
func (it Item) Billable() bool { return it.Product != "" }

// Months is the term in months: 1 where none is given.
func (it Item) Months() int {
	if it.TermMonths == 0 {
		return 1
	}
	return it.TermMonths
}

// String describes the item in one line of printable ASCII, without who pays.
func (it Item) String() string {
	var words []string
	add := func(ss ...string) {
		for _, s := range ss {
			if s != "" {
				words = append(words, s)
			}
		}
	}
	if kind := it.ConnectionType; kind != "" {
		add(plain(kind))
	} else {
		add(plain(it.Product))
	}
	add(plain(it.Package))
	if it.BandwidthMbps != 0 {
		add(strconv.FormatInt(it.BandwidthMbps, 10), "Mbps")
	}
	if it.Metro != "" {
		add("in", plain(it.Metro))
	}
	if it.AType != "" || it.AMetro != "" {
		add("from", plain(it.AType), plain(it.AMetro))
	}
	if it.ZType != "" || it.ZMetro != "" {
		add("to", plain(it.ZType), plain(it.ZMetro), plain(it.NetworkScope))
	}
	add(termWords(it.Months()))
	return strings.Join(words, " ")
}

// termWords names a term: "month to month", "for 36 months".
func termWords(months int) string {
	if months == 1 {
		return "month to month"
	}
	return "for " + strconv.Itoa(months) + " months"
}

// plain returns a code as it is, and quotes what is none: no value that came from
// elsewhere forges a line of a note.
func plain(code string) string {
	if strings.Contains(code, " ") {
		return strconv.QuoteToASCII(cut(code, mostQuoted))
	}
	return printable(cut(code, mostQuoted))
}

// printable returns words as they are, and quotes them where they are not
// printable ASCII.
func printable(words string) string {
	for i := range len(words) {
		if c := words[i]; c < ' ' || c > '~' {
			return strconv.QuoteToASCII(words)
		}
	}
	return words
}
