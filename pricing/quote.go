package pricing

// Source says where a price came from.
type Source string

// The sources, by the names that results show. The zero value of Source counts
// as SourceNone.
const (
	SourceRateCard    Source = "rate_card"
	SourcePriceSearch Source = "price_search"
	SourceNone        Source = "none"
)

// Quote is what an item costs, or that nobody knows. The zero value is unpriced,
// without a reason; [Unpriced] gives one. A Quote goes through encoding/json
// unchanged; it is not the form that results show, where an unpriced quote has no
// amounts at all.
type Quote struct {
	// Priced reports whether there is a price. Where it is false, no amount
	// below means anything.
	Priced bool
	// Unbilled reports that the item creates nothing that is billed by itself.
	// Where Priced and Unbilled are both false, it costs something unknown.
	Unbilled bool

	// A charge is absent where its Has field is false, which is not 0. It is a
	// range where Max is above the other, else Max is the same or 0.
	HasMonthly, HasOneTime bool
	Monthly, MonthlyMax    Money
	OneTime, OneTimeMax    Money

	Currency   string // three capital letters; "" = not returned
	TermMonths int    // 1 = month to month
	Source     Source
	Basis      string // one sentence: what the price assumes and who is billed
	Note       string // what else must be said: why there is no price, or that two sources differ
}

// Unpriced returns the quote of something whose price is not known. The reason
// becomes its note.
func Unpriced(reason string) Quote { return Quote{Source: SourceNone, Note: reason} }

// MonthlyRange reports whether the monthly charge is a range.
func (q Quote) MonthlyRange() bool { return q.HasMonthly && q.MonthlyMax.Cmp(q.Monthly) > 0 }

// OneTimeRange reports whether the one-time charge is a range.
func (q Quote) OneTimeRange() bool { return q.HasOneTime && q.OneTimeMax.Cmp(q.OneTime) > 0 }

// Same reports whether q and r are one and the same offer: price, currency, term
// and basis. Notes and sources do not count, nor amounts where neither is priced.
// It answers whether a price moved between an approval and the create.
func (q Quote) Same(r Quote) bool {
	if !q.Priced || !r.Priced {
		return q.Priced == r.Priced && q.Unbilled == r.Unbilled
	}
	return q.sameMonthly(r) && q.sameOneTime(r) &&
		q.Currency == r.Currency && q.TermMonths == r.TermMonths && q.Basis == r.Basis
}

func (q Quote) sameMonthly(r Quote) bool {
	if !q.HasMonthly || !r.HasMonthly {
		return q.HasMonthly == r.HasMonthly
	}
	return q.Monthly == r.Monthly && q.monthlyTop() == r.monthlyTop()
}

func (q Quote) sameOneTime(r Quote) bool {
	if !q.HasOneTime || !r.HasOneTime {
		return q.HasOneTime == r.HasOneTime
	}
	return q.OneTime == r.OneTime && q.oneTimeTop() == r.oneTimeTop()
}

// Commitment returns the most that the whole term costs: the monthly charge times
// the term plus the one-time charge where one came, each at the top of its range.
// It is false where that is not known: unpriced, without a monthly charge, or
// with a term that is none.
func (q Quote) Commitment() (Money, bool) {
	if !q.Priced || !q.HasMonthly || q.TermMonths < 1 || q.TermMonths > mostMonths {
		return Money{}, false
	}
	total := q.monthlyTop().Mul(q.TermMonths)
	if q.HasOneTime {
		total = total.Add(q.oneTimeTop())
	}
	return total, true
}

func (q Quote) monthlyTop() Money { return larger(q.Monthly, q.MonthlyMax) }
func (q Quote) oneTimeTop() Money { return larger(q.OneTime, q.OneTimeMax) }

func larger(m, n Money) Money {
	if m.Cmp(n) > 0 {
		return m
	}
	return n
}
