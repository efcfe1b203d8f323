package elicit

import (
	"fmt"
	"regexp"
	"strings"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// cost writes the cost line. It always names amount and term.
func (m *message) cost() {
	p, quote := m.q.Proposal, m.q.Proposal.Quote
	switch {
	case quote.Priced && (quote.HasMonthly || quote.HasOneTime):
		m.decide("Cost", "", m.priced(charges(quote))...)
	case m.unbilled():
		m.decide("Cost", "", later(p.ChangeType, m.payload().Brief.Pays)...)
	default:
		m.unpriced()
	}
}

// unbilled reports whether the create costs nothing. For the types that bill,
// both the request and the price must say so.
func (m *message) unbilled() bool {
	if m.payload().Brief.Billable || m.q.Proposal.Payload == nil {
		return false
	}
	switch m.q.Proposal.ChangeType {
	case broker.NetworkCreate, broker.ServiceTokenCreate:
		return true
	default:
		return m.q.Proposal.Quote.Unbilled
	}
}

// later says what is billed where the create itself is not.
func later(t broker.ChangeType, pays string) []string {
	const nothing = "nothing by itself"
	to := ""
	if pays != "" {
		to = " to " + pays
	}
	switch t {
	case broker.NetworkCreate:
		return []string{nothing + ": connections to it are billed" + to}
	case broker.ServiceTokenCreate:
		return []string{nothing + ": a connection made with it is billed" + to, nothing + ": its use is billed" + to}
	default:
		return []string{nothing}
	}
}

// maxPayer is how much of who pays fits beside "unpriced".
const maxPayer = 44

// unpriced says that nobody knows the price, which is never free.
func (m *message) unpriced() {
	tail := "; this can still cost money"
	if pays := safe(m.payload().Brief.Pays); pays != "" && len(pays) <= maxPayer {
		tail = "; billed to " + pays
	}
	if n := m.months(); n > 1 {
		tail = fmt.Sprintf("; for %d months", n) + tail
	}
	text := "unpriced"
	if reason := m.q.Proposal.Quote.Note; reason != "" {
		text += ": " + reason
	}
	m.decide("Cost", tail, text)
}

var termField = regexp.MustCompile(`^/(?:order/)?termLength = ([0-9]{1,4})$`)

// months returns the term. A quote without a price may not carry it; the request
// does.
func (m *message) months() int {
	if n := m.q.Proposal.Quote.TermMonths; n != 0 {
		return n
	}
	for _, f := range fields(m.payload().Body) {
		if match := termField.FindStringSubmatch(f); match != nil {
			n := 0
			_, _ = fmt.Sscan(match[1], &n)
			return n
		}
	}
	return 0
}

// priced adds who pays to the two wordings of an offer. The account above pays
// unless the brief says otherwise; then that is worth more than full words.
func (m *message) priced(words, compact string) []string {
	brief := m.payload().Brief
	if brief.Pays != "" {
		billed := "; billed to " + brief.Pays
		return []string{words + billed, compact + billed, words, compact}
	}
	const above = "; account above pays"
	if brief.Account != "" && len("Cost: "+words+above) <= columns {
		words += above
	}
	return []string{words, compact}
}

// charges words an offer twice, in full and in short.
func charges(q pricing.Quote) (words, compact string) {
	var once string
	if q.HasOneTime {
		once = amount(q, q.OneTime, q.OneTimeMax) + " once"
	}
	if !q.HasMonthly {
		// Not returned is not free: the monthly charge is unknown.
		once += "; monthly charge not returned"
		return once, once
	}
	monthly := amount(q, q.Monthly, q.MonthlyMax)
	if once != "" && (!q.OneTime.IsZero() || q.OneTimeRange()) {
		once = " plus " + once
	} else {
		once = ""
	}
	switch {
	case q.TermMonths == 1:
		words = monthly + " per month, month to month," + once
		words = strings.TrimSuffix(words, ",")
		return words, strings.Replace(words, ", month to month", " (month to month)", 1)
	case q.TermMonths < 1:
		words = monthly + " per month, term not known," + once
		words = strings.TrimSuffix(words, ",")
		return words, words
	}
	words = fmt.Sprintf("%s per month for %d months%s", monthly, q.TermMonths, once)
	compact = fmt.Sprintf("%s x %d months%s", monthly, q.TermMonths, once)
	if total, ok := q.Commitment(); ok {
		most, equals := "", " = "
		if q.MonthlyRange() || q.OneTimeRange() {
			most, equals = "up to ", ", up to "
		}
		words += ", " + most + amount(q, total, total) + " in all"
		compact += equals + plain(total)
	}
	return words, compact
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// amount returns an amount or a range with its currency. No currency is assumed,
// and a zero never reads like a missing price.
func amount(q pricing.Quote, least, most pricing.Money) string {
	ranged := most.Cmp(least) > 0
	text := plain(least)
	if ranged && !least.IsZero() {
		text += " to " + plain(most)
	} else if ranged {
		text = plain(most)
	}
	switch {
	case q.Currency == "":
		text += " (currency not returned)"
	case currency.MatchString(q.Currency):
		text = q.Currency + " " + text
	default:
		text = broker.Quote(q.Currency) + " " + text
	}
	switch {
	case ranged && least.IsZero():
		return "up to " + text
	case least.IsZero():
		return "zero (" + text + ")"
	}
	return text
}

// plain returns an exact amount without thousands separators: a comma is a
// decimal point to half of the readers.
func plain(m pricing.Money) string { return strings.ReplaceAll(m.Display(), ",", "") }

// price returns what the price assumes and what else is known of it.
func (m *message) price() string {
	q := m.q.Proposal.Quote
	if !q.Priced {
		return "" // the note is the reason, which the cost line gives
	}
	switch {
	case q.Basis == "":
		return q.Note
	case q.Note == "":
		return q.Basis
	}
	return q.Basis + "; " + q.Note
}
