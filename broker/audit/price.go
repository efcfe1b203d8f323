package audit

import "fabricbroker/broker"

// price is a quote by the names that results show. Amounts are decimal strings,
// absent where there is none.
type price struct {
	Priced     bool   `json:"priced"`
	Unbilled   bool   `json:"unbilled,omitempty"`
	Monthly    string `json:"monthly_recurring,omitempty"`
	MonthlyMax string `json:"monthly_recurring_max,omitempty"`
	OneTime    string `json:"non_recurring,omitempty"`
	OneTimeMax string `json:"non_recurring_max,omitempty"`
	Currency   string `json:"currency,omitempty"`
	TermMonths int    `json:"term_months,omitempty"`
	Source     string `json:"price_source,omitempty"`
	Basis      string `json:"basis,omitempty"`
	Note       string `json:"note,omitempty"`
}

func priceOf(p broker.Proposal) *price {
	q := p.Quote
	out := &price{
		Priced: q.Priced, Unbilled: q.Unbilled, Currency: q.Currency, TermMonths: q.TermMonths,
		Source: string(q.Source), Basis: q.Basis, Note: q.Note,
	}
	if q.HasMonthly {
		out.Monthly = q.Monthly.String()
		if !q.MonthlyMax.IsZero() {
			out.MonthlyMax = q.MonthlyMax.String()
		}
	}
	if q.HasOneTime {
		out.OneTime = q.OneTime.String()
		if !q.OneTimeMax.IsZero() {
			out.OneTimeMax = q.OneTimeMax.String()
		}
	}
	return out
}

// put writes the price into p. An amount that cannot be read is no amount.
func (pr *price) put(p *broker.Proposal) {
	q := &p.Quote
	q.Priced, q.Unbilled, q.Currency, q.TermMonths, q.Basis, q.Note = pr.Priced, pr.Unbilled, pr.Currency, pr.TermMonths, pr.Basis, pr.Note
	setText(&q.Source, pr.Source)
	q.HasMonthly = pr.Monthly != "" && q.Monthly.UnmarshalText([]byte(pr.Monthly)) == nil
	q.HasOneTime = pr.OneTime != "" && q.OneTime.UnmarshalText([]byte(pr.OneTime)) == nil
	if pr.MonthlyMax != "" {
		_ = q.MonthlyMax.UnmarshalText([]byte(pr.MonthlyMax)) // stays 0, which is no range
	}
	if pr.OneTimeMax != "" {
		_ = q.OneTimeMax.UnmarshalText([]byte(pr.OneTimeMax)) // stays 0, which is no range
	}
}

// setText spares this package the import of the type's package.
func setText[T ~string](to *T, s string) { *to = T(s) }
