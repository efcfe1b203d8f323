package pricing

import (
	"fmt"
	"strconv"
	"strings"
)

// FromRows returns the quote that rows give for it.
//
// A row matches when every term it names is the item's. A row of the price search
// without a term is the on-demand price, so it is one for month to month only; a
// row of a rate card without one is a price for any term. Of rows with the same
// terms, a charge of category CUSTOMER replaces the same charge of category
// COUNTRY. What then still differs is a range.
//
// The quote is unpriced, and says why, where no row matches or where the matching
// rows disagree on the currency.
func FromRows(it Item, rows []Row, src Source) Quote {
	if q, ok := askable(it); !ok {
		return q
	}
	want := it.wanted()
	var matching []match
	nearest, fewest := "", len(termNames)+1
	for _, r := range rows {
		if r.Terms.TermMonths == 0 && src != SourceRateCard {
			r.Terms.TermMonths = 1
		}
		t := r.Terms.terms()
		if t.within(want) {
			matching = append(matching, match{r, t})
		} else if words, n := t.against(want); n < fewest {
			nearest, fewest = words, n
		}
	}
	if len(matching) > 0 {
		return settle(it, matching, src)
	}
	reason := fmt.Sprintf("no price for %s", it)
	if nearest != "" {
		reason += "; the nearest one is for " + nearest
	}
	return Unpriced(reason)
}

// match is a row that matches, with its terms.
type match struct {
	row   Row
	terms terms
}

// askable reports whether rows can price it at all, and if not, the quote that says
// so.
func askable(it Item) (Quote, bool) {
	if !it.Billable() {
		return Quote{Unbilled: true, Source: SourceNone, Note: "nothing is created that is billed by itself"}, false
	}
	if it.TermMonths < 0 || it.TermMonths > mostMonths {
		return Unpriced(fmt.Sprintf("no price for a term of %d months", it.TermMonths)), false
	}
	return Quote{}, true
}

// settle makes one quote of all rows that match.
func settle(it Item, matching []match, src Source) Quote {
	monthly := standing(matching, func(r Row) (Money, bool) { return r.Monthly, r.HasMonthly })
	oneTime := standing(matching, func(r Row) (Money, bool) { return r.OneTime, r.HasOneTime })
	if len(monthly) == 0 && len(oneTime) == 0 {
		return Unpriced(fmt.Sprintf("no price for %s: what was returned has no charge", it))
	}
	currency, reason := commonCurrency(append(monthly[:len(monthly):len(monthly)], oneTime...))
	if reason != "" {
		return Unpriced(fmt.Sprintf("no price for %s: %s", it, reason))
	}
	q := Quote{Priced: true, Currency: currency, TermMonths: it.Months(), Source: src, Basis: basis(it, src)}
	q.Monthly, q.MonthlyMax, q.HasMonthly = span(monthly)
	q.OneTime, q.OneTimeMax, q.HasOneTime = span(oneTime)
	var notes []string
	if q.MonthlyRange() || q.OneTimeRange() {
		notes = append(notes, "several prices match and no term tells them apart")
	}
	if !q.HasMonthly {
		notes = append(notes, "no monthly charge was returned")
	}
	if currency == "" {
		notes = append(notes, "the currency was not returned")
	}
	q.Note = join(notes...)
	return q
}

// charge is one amount with the currency of its row.
type charge struct {
	amount   Money
	currency string
}

// standing returns one kind of charge of all rows, without those of COUNTRY rows
// that a CUSTOMER row replaces. It is asked per kind: a customer's monthly price
// does not say that the country's one-time charge fell away.
func standing(matching []match, kind func(Row) (Money, bool)) []charge {
	replaced := make(map[terms]bool)
	for _, m := range matching {
		if _, has := kind(m.row); has && strings.EqualFold(m.row.Category, CategoryCustomer) {
			replaced[m.terms.beside()] = true
		}
	}
	var charges []charge
	for _, m := range matching {
		amount, has := kind(m.row)
		if !has || strings.EqualFold(m.row.Category, CategoryCountry) && replaced[m.terms.beside()] {
			continue
		}
		charges = append(charges, charge{amount, strings.ToUpper(m.row.Currency)})
	}
	return charges
}

// span returns the least and the most of charges.
func span(charges []charge) (least, most Money, ok bool) {
	for i, c := range charges {
		if i == 0 || c.amount.Cmp(least) < 0 {
			least = c.amount
		}
		most = larger(most, c.amount)
	}
	return least, most, len(charges) > 0
}

// commonCurrency returns the one currency of charges, or why there is none. A
// charge without a currency is not in the currency of the others.
func commonCurrency(charges []charge) (currency, reason string) {
	currency = charges[0].currency
	for _, c := range charges[1:] {
		switch {
		case c.currency == currency:
		case c.currency == "" || currency == "":
			return "", "some prices came without a currency"
		default:
			return "", fmt.Sprintf("the prices are in different currencies, %s and %s", plain(currency), plain(c.currency))
		}
	}
	if currency != "" && !isCurrency(currency) {
		return "", fmt.Sprintf("%s is not a currency code", strconv.QuoteToASCII(cut(currency, mostQuoted)))
	}
	return currency, ""
}

func isCurrency(s string) bool {
	if len(s) != 3 {
		return false
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// basis says what a price assumes and who is billed. Neither source knows taxes,
// cross connects or what the provider at the other end asks.
func basis(it Item, src Source) string {
	from := "live price search"
	if src == SourceRateCard {
		from = "operator's rate card"
	}
	payer := "the billed account is not known"
	switch {
	case it.BilledTo != "":
		payer = "billed to " + printable(it.BilledTo)
	case it.AccountNumber != 0:
		payer = "billed to account " + strconv.FormatInt(it.AccountNumber, 10)
	}
	return fmt.Sprintf("%s, %s, without taxes, cross connects and provider charges; %s", from, it, payer)
}

// join makes one note of several, leaving out empty ones.
func join(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}
