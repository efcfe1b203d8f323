package pricing_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/pricing"
)

func TestCommitment(t *testing.T) {
	const search = pricing.SourcePriceSearch
	long := evpl
	long.TermMonths = 36
	for _, tt := range []struct {
		rule string
		q    pricing.Quote
		want string // "" = not known
	}{
		{"monthly times term", pricing.FromRows(long, []pricing.Row{listed(t, "75.0", term(36))}, search), "2700"},
		{"one month", pricing.FromRows(evpl, []pricing.Row{listed(t, "75")}, search), "75"},
		{"plus the one-time charge", pricing.FromRows(long, []pricing.Row{listed(t, "75", term(36), once(t, "100.5"))}, search), "2800.5"},
		{"at the top of its ranges", pricing.FromRows(long, []pricing.Row{listed(t, "75", term(36), once(t, "10")), listed(t, "95", term(36), once(t, "20"))}, search), "3440"},
		{"without a Max", pricing.Quote{Priced: true, HasMonthly: true, Monthly: money(t, "5"), TermMonths: 2}, "10"},
		{"not unpriced", pricing.Unpriced("no answer"), ""},
		{"not without a monthly charge", pricing.FromRows(evpl, []pricing.Row{listed(t, "0", chargeless, once(t, "100"))}, search), ""},
		{"not without a term", pricing.Quote{Priced: true, HasMonthly: true, Monthly: money(t, "5")}, ""},
		{"not with a term that overflows", pricing.Quote{Priced: true, HasMonthly: true, Monthly: money(t, "999999999999999"), TermMonths: 1 << 40}, ""},
		{"the largest there is", pricing.Quote{Priced: true, HasMonthly: true, Monthly: money(t, "999999999999999.999999"), TermMonths: 1200}, "1199999999999999999.9988"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			m, ok := tt.q.Commitment()
			if ok != (tt.want != "") || ok && m.String() != tt.want {
				t.Errorf("got %s, %t, want %q", m, ok, tt.want)
			}
		})
	}
}

func TestSame(t *testing.T) {
	base := pricing.FromRows(evpl, []pricing.Row{listed(t, "500", once(t, "100"))}, pricing.SourcePriceSearch)
	for _, tt := range []struct {
		rule   string
		change func(*pricing.Quote)
		want   bool
	}{
		{"itself", func(*pricing.Quote) {}, true},
		{"another note", func(q *pricing.Quote) { q.Note = "x" }, true},
		{"a Max that says nothing", func(q *pricing.Quote) { q.MonthlyMax = pricing.Money{} }, true},
		{"monthly", func(q *pricing.Quote) { q.Monthly = money(t, "499") }, false},
		{"cheaper counts too", func(q *pricing.Quote) { q.Monthly, q.MonthlyMax = money(t, "1"), money(t, "1") }, false},
		{"became a range", func(q *pricing.Quote) { q.MonthlyMax = money(t, "501") }, false},
		{"one-time", func(q *pricing.Quote) { q.OneTime, q.OneTimeMax = money(t, "101"), money(t, "101") }, false},
		{"one-time went", func(q *pricing.Quote) { q.HasOneTime = false }, false},
		{"monthly went", func(q *pricing.Quote) { q.HasMonthly = false }, false},
		{"currency", func(q *pricing.Quote) { q.Currency = "EUR" }, false},
		{"currency went", func(q *pricing.Quote) { q.Currency = "" }, false},
		{"term", func(q *pricing.Quote) { q.TermMonths = 12 }, false},
		{"basis", func(q *pricing.Quote) { q.Basis = "billed to account 1" }, false},
		{"no longer priced", func(q *pricing.Quote) { *q = pricing.Unpriced("timed out") }, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			q := base
			tt.change(&q)
			if base.Same(q) != tt.want || q.Same(base) != tt.want {
				t.Errorf("Same is %t and %t, want %t", base.Same(q), q.Same(base), tt.want)
			}
		})
	}
	if !pricing.Unpriced("timed out").Same(pricing.Unpriced("no rows")) {
		t.Error("two unpriced quotes are the same, whatever their reasons")
	}
	if pricing.Unpriced("").Same(pricing.Quote{Unbilled: true}) {
		t.Error("an unknown price is not the same as nothing to bill")
	}
}

func TestQuoteString(t *testing.T) {
	long := evpl
	long.TermMonths = 36
	rows := []pricing.Row{listed(t, "75", term(36)), listed(t, "95", term(36), once(t, "100"))}
	for want, q := range map[string]pricing.Quote{
		"unpriced": pricing.Unpriced("timed out"),
		"USD 75.00 to 95.00 per month, USD 100.00 once, for 36 months": pricing.FromRows(long, rows, pricing.SourcePriceSearch),
		"500.00 (currency not returned) per month":                     pricing.FromRows(evpl, []pricing.Row{listed(t, "500", currency(""))}, pricing.SourcePriceSearch),
	} {
		if diff := cmp.Diff(want, q.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestQuoteGoesThroughJSON(t *testing.T) {
	q := pricing.FromRows(evpl, []pricing.Row{listed(t, "75.25"), listed(t, "95", once(t, "0"))}, pricing.SourcePriceSearch)
	for _, want := range []pricing.Quote{q, pricing.Unpriced("no answer"), {}} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got pricing.Quote
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestCombine(t *testing.T) {
	const rateCard, search = pricing.SourceRateCard, pricing.SourcePriceSearch
	card := pricing.FromRows(evpl, []pricing.Row{listed(t, "450", once(t, "0"))}, rateCard)
	live := func(rows ...pricing.Row) pricing.Quote { return pricing.FromRows(evpl, rows, search) }
	for _, tt := range []struct {
		rule       string
		card, live pricing.Quote
		source     pricing.Source
		note       string
	}{
		{"agreement needs no words", card, live(listed(t, "450.00")), rateCard, ""},
		{"a difference is said", card, live(listed(t, "500")), rateCard, "the live price search says USD 500.00 per month; the rate card's price is shown"},
		{"a range is said", card, live(listed(t, "1500"), listed(t, "450")), rateCard, "the live price search says USD 450.00 to 1,500.00 per month; the rate card's price is shown; several prices match and no term tells them apart"},
		{"a one-time difference is said", card, live(listed(t, "450", once(t, "100"))), rateCard, "the live price search says USD 450.00 per month, USD 100.00 once; the rate card's price is shown"},
		{"another currency is said", card, live(listed(t, "450", currency("EUR"))), rateCard, "the live price search says EUR 450.00 per month; the rate card's price is shown"},
		{"a missing currency is said", card, live(listed(t, "450", currency(""))), rateCard, "the live price search says 450.00 (currency not returned) per month; the rate card's price is shown; the currency was not returned"},
		{"a failed search is said", card, pricing.Unpriced("timed out"), rateCard, "live price search: timed out"},
		{"a search that was not asked is not", card, pricing.Quote{}, rateCard, ""},
		{"live alone", pricing.Quote{}, live(listed(t, "500")), search, ""},
		{"neither", pricing.Quote{}, pricing.Unpriced("EQ-3038010: bad request"), pricing.SourceNone, "EQ-3038010: bad request"},
		{"neither, with two reasons", pricing.Unpriced("no rate card row"), pricing.Unpriced("timed out"), pricing.SourceNone, "timed out; no rate card row"},
		{"nothing asked", pricing.Quote{}, pricing.Quote{}, pricing.SourceNone, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			q := pricing.Combine(tt.card, tt.live)
			if q.Source != tt.source || q.Priced != (tt.source != pricing.SourceNone) {
				t.Errorf("priced %t from %q, want %q", q.Priced, q.Source, tt.source)
			}
			if diff := cmp.Diff(tt.note, q.Note); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
	nothing := pricing.FromRows(pricing.Item{}, nil, search)
	if q := pricing.Combine(pricing.Quote{}, nothing); !q.Unbilled || q.Note == "" {
		t.Errorf("nothing billable became %+v", q)
	}
}
