package toolsets

import "fabricbroker/pricing"

// PriceContext is price_context in results: decimal strings, and no amount
// where there is no price.
type PriceContext struct {
	Priced              bool    `json:"priced"`
	MonthlyRecurring    string  `json:"monthly_recurring,omitempty"`
	MonthlyRecurringMax string  `json:"monthly_recurring_max,omitempty"`
	NonRecurring        string  `json:"non_recurring,omitempty"`
	NonRecurringMax     string  `json:"non_recurring_max,omitempty"`
	Currency            *string `json:"currency"`
	TermMonths          int     `json:"term_months"`
	PriceSource         string  `json:"price_source"`
	Basis               string  `json:"basis"`
	Note                string  `json:"note,omitempty"`
}

// PriceOf returns q in the form of results.
func PriceOf(q pricing.Quote) PriceContext {
	p := PriceContext{
		Priced: q.Priced, TermMonths: q.TermMonths, PriceSource: string(q.Source), Basis: q.Basis, Note: q.Note,
	}
	if p.PriceSource == "" {
		p.PriceSource = string(pricing.SourceNone)
	}
	if !q.Priced {
		return p
	}
	if q.HasMonthly {
		p.MonthlyRecurring = q.Monthly.String()
	}
	if q.MonthlyRange() {
		p.MonthlyRecurringMax = q.MonthlyMax.String()
	}
	if q.HasOneTime {
		p.NonRecurring = q.OneTime.String()
	}
	if q.OneTimeRange() {
		p.NonRecurringMax = q.OneTimeMax.String()
	}
	if q.Currency != "" {
		p.Currency = &q.Currency
	}
	return p
}
