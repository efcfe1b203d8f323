package pricing

import (
	"strconv"
	"strings"
)

// String words a quote in a few words for a sentence: "USD 75.00 to 95.00 per
// month, USD 100.00 once, for 36 months", or "unpriced".
func (q Quote) String() string {
	if !q.Priced {
		return "unpriced"
	}
	var parts []string
	if q.HasMonthly {
		parts = append(parts, q.span(q.Monthly, q.MonthlyMax, q.MonthlyRange())+" per month")
	}
	if q.HasOneTime {
		parts = append(parts, q.span(q.OneTime, q.OneTimeMax, q.OneTimeRange())+" once")
	}
	if q.TermMonths > 1 {
		parts = append(parts, "for "+strconv.Itoa(q.TermMonths)+" months")
	}
	return strings.Join(parts, ", ")
}

func (q Quote) span(from, to Money, ranged bool) string {
	s := from.Display()
	if ranged {
		s += " to " + to.Display()
	}
	if q.Currency == "" {
		return s + " (currency not returned)"
	}
	return q.Currency + " " + s
}
