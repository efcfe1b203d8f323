package pricing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fabricbroker/pricing"
)

// evpl is a port in DC to a service profile in DC, month to month.
var evpl = pricing.Item{
	Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50,
	AMetro: "DC", ZMetro: "DC", AType: "COLO", ZType: "SP",
	ProfileUUID: "1bec77a7-c503-5196-83a5-5d489a6056ff", AccountNumber: 270119,
}

// listed is what the price search names for evpl.
func listed(t testing.TB, monthly string, changes ...func(*pricing.Row)) pricing.Row {
	r := pricing.Row{
		Terms: pricing.Item{
			Product: pricing.ProductConnection, ConnectionType: "EVPL_VC", BandwidthMbps: 50,
			AMetro: "DC", ZMetro: "DC", AType: "COLO", ZType: "SP",
		},
		HasMonthly: true, Monthly: money(t, monthly), Currency: "USD",
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func term(months int) func(*pricing.Row)             { return func(r *pricing.Row) { r.Terms.TermMonths = months } }
func currency(c string) func(*pricing.Row)           { return func(r *pricing.Row) { r.Currency = c } }
func category(c string) func(*pricing.Row)           { return func(r *pricing.Row) { r.Category = c } }
func account(n int64) func(*pricing.Row)             { return func(r *pricing.Row) { r.Terms.AccountNumber = n } }
func chargeless(r *pricing.Row)                      { r.HasMonthly, r.Monthly = false, pricing.Money{} }
func names(f func(*pricing.Item)) func(*pricing.Row) { return func(r *pricing.Row) { f(&r.Terms) } }

func once(t testing.TB, amount string) func(*pricing.Row) {
	return func(r *pricing.Row) { r.HasOneTime, r.OneTime = true, money(t, amount) }
}

func TestFromRows(t *testing.T) {
	for _, tt := range []struct {
		rule string
		item func(*pricing.Item)
		rows []pricing.Row
		want string // the amounts; for an unpriced quote a part of its note
	}{
		{rule: "a match", rows: []pricing.Row{listed(t, "500")}, want: "500 USD"},
		{rule: "codes in another case match", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.AMetro, n.ZType = "dc", "Sp" }))}, want: "500 USD"},
		{rule: "a row that names less matches", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.AMetro, n.AType = "", "" }))}, want: "500 USD"},
		{rule: "a missing currency stays missing", rows: []pricing.Row{listed(t, "500", currency(""))}, want: "500 "},
		{rule: "another currency is kept", rows: []pricing.Row{listed(t, "500", currency("eur"))}, want: "500 EUR"},
		{rule: "monthly and one-time stay apart", rows: []pricing.Row{listed(t, "500", once(t, "100"))}, want: "500 once 100 USD"},
		{rule: "and do from rows of their own", rows: []pricing.Row{listed(t, "500"), listed(t, "0", chargeless, once(t, "100"))}, want: "500 once 100 USD"},
		{rule: "a one-time charge alone has no monthly one", rows: []pricing.Row{listed(t, "0", chargeless, once(t, "100"))}, want: "- once 100 USD"},
		{rule: "0 is a price", rows: []pricing.Row{listed(t, "0")}, want: "0 USD"},
		{rule: "two prices are a range", rows: []pricing.Row{listed(t, "95"), listed(t, "75")}, want: "75..95 USD"},
		{rule: "the same price twice is one", rows: []pricing.Row{listed(t, "75"), listed(t, "75.0")}, want: "75 USD"},
		{rule: "a one-time range", rows: []pricing.Row{listed(t, "75", once(t, "0")), listed(t, "75", once(t, "10"))}, want: "75 once 0..10 USD"},

		{rule: "a customer's price replaces the country's", rows: []pricing.Row{listed(t, "500", category("COUNTRY")), listed(t, "400", category("CUSTOMER"), account(270119))}, want: "400 USD"},
		{rule: "even at another currency", rows: []pricing.Row{listed(t, "400", category("CUSTOMER"), currency("EUR")), listed(t, "500", category("COUNTRY"))}, want: "400 EUR"},
		{rule: "even when it is higher", rows: []pricing.Row{listed(t, "600", category("CUSTOMER")), listed(t, "500", category("COUNTRY"))}, want: "600 USD"},
		{rule: "not that of other terms", rows: []pricing.Row{listed(t, "400", category("CUSTOMER"), names(func(n *pricing.Item) { n.AMetro = "" })), listed(t, "500", category("COUNTRY"))}, want: "400..500 USD"},
		{rule: "not one without a category", rows: []pricing.Row{listed(t, "400", category("CUSTOMER")), listed(t, "500")}, want: "400..500 USD"},
		{rule: "not a charge that it does not have", rows: []pricing.Row{listed(t, "400", category("CUSTOMER")), listed(t, "500", category("COUNTRY"), once(t, "100"))}, want: "400 once 100 USD"},
		{rule: "not for another customer", rows: []pricing.Row{listed(t, "400", category("CUSTOMER"), account(1)), listed(t, "500", category("COUNTRY"))}, want: "500 USD"},

		{rule: "on demand is month to month", item: func(it *pricing.Item) { it.TermMonths = 1 }, rows: []pricing.Row{listed(t, "500")}, want: "500 USD"},
		{rule: "and so is a term of 1", rows: []pricing.Row{listed(t, "500", term(1))}, want: "500 USD"},
		{rule: "and both are equal terms", rows: []pricing.Row{listed(t, "400", term(1), category("CUSTOMER")), listed(t, "500", category("COUNTRY"))}, want: "400 USD"},
		{rule: "a term matches itself", item: func(it *pricing.Item) { it.TermMonths = 36 }, rows: []pricing.Row{listed(t, "75", term(36)), listed(t, "100")}, want: "75 for 36 USD"},
		{rule: "a longer term is no month to month", rows: []pricing.Row{listed(t, "75", term(36))}, want: "no price for EVPL_VC 50 Mbps from COLO DC to SP DC month to month; the nearest one is for term months 36, not 1"},
		{rule: "on demand is no 36 months", item: func(it *pricing.Item) { it.TermMonths = 36 }, rows: []pricing.Row{listed(t, "500")}, want: "for 36 months; the nearest one is for term months 1, not 36"},
		{rule: "no term is below 0", item: func(it *pricing.Item) { it.TermMonths = -1 }, rows: []pricing.Row{listed(t, "500")}, want: "a term of -1 months"},

		{rule: "another metro is no price", item: func(it *pricing.Item) { it.ZMetro = "SY" }, rows: []pricing.Row{listed(t, "500")}, want: "the nearest one is for z metro DC, not SY"},
		{rule: "an unknown metro is no price", item: func(it *pricing.Item) { it.AMetro = "" }, rows: []pricing.Row{listed(t, "500")}, want: "a metro DC, which is not asked for"},
		{rule: "another bandwidth is no price", item: func(it *pricing.Item) { it.BandwidthMbps = 100 }, rows: []pricing.Row{listed(t, "500")}, want: "bandwidth mbps 50, not 100"},
		{rule: "another type is no price", item: func(it *pricing.Item) { it.ConnectionType = "IP_VC" }, rows: []pricing.Row{listed(t, "500")}, want: "connection type EVPL_VC, not IP_VC"},
		{rule: "another product is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.Product = "IP_BLOCK_PRODUCT" }))}, want: "product IP_BLOCK_PRODUCT, not VIRTUAL_CONNECTION_PRODUCT"},
		{rule: "no product is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.Product = "" }))}, want: "a product that it does not name"},
		{rule: "another access point type is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.ZType = "COLO" }))}, want: "z type COLO, not SP"},
		{rule: "another profile is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.ProfileUUID = "x" }))}, want: "profile uuid X, not"},
		{rule: "another package is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.Package = "PREMIUM" }))}, want: "package PREMIUM, which is not asked for"},
		{rule: "another router metro is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.Metro = "SV" }))}, want: "metro SV"},
		{rule: "another scope is no price", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.NetworkScope = "GLOBAL" }))}, want: "network scope GLOBAL"},
		{rule: "another account is no price", rows: []pricing.Row{listed(t, "500", account(5))}, want: "account number 5, not 270119"},

		{rule: "currencies are not mixed", rows: []pricing.Row{listed(t, "500"), listed(t, "500", currency("EUR"))}, want: "different currencies, USD and EUR"},
		{rule: "nor guessed from the others", rows: []pricing.Row{listed(t, "500"), listed(t, "500", currency(""))}, want: "without a currency"},
		{rule: "nor across kinds of charges", rows: []pricing.Row{listed(t, "500"), listed(t, "0", chargeless, once(t, "100"), currency("EUR"))}, want: "different currencies"},
		{rule: "words are no currency", rows: []pricing.Row{listed(t, "500", currency("\nCost: 0"))}, want: `"\nCOST: 0" is not a currency code`},
		{rule: "no rows are no price", want: "no price for EVPL_VC 50 Mbps"},
		{rule: "no charge is no price", rows: []pricing.Row{listed(t, "0", chargeless)}, want: "has no charge"},
		{rule: "nothing billable has no price", item: func(it *pricing.Item) { it.Product = "" }, rows: []pricing.Row{listed(t, "500")}, want: "nothing is created that is billed"},
		{rule: "no upstream text forges a line", rows: []pricing.Row{listed(t, "500", names(func(n *pricing.Item) { n.ZMetro = "\nCost: 0" }))}, want: `z metro "\nCOST: 0", not DC`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			it := evpl
			if tt.item != nil {
				tt.item(&it)
			}
			before := slices.Clone(tt.rows)
			q := pricing.FromRows(it, tt.rows, pricing.SourcePriceSearch)
			if diff := cmp.Diff(before, tt.rows); diff != "" {
				t.Errorf("the rows changed (-want +got):\n%s", diff)
			}
			if !q.Priced {
				if !strings.Contains(q.Note, tt.want) {
					t.Errorf("note %q does not say %q", q.Note, tt.want)
				}
				wantUnpriced := pricing.Quote{Source: pricing.SourceNone, Unbilled: !it.Billable()}
				if diff := cmp.Diff(wantUnpriced, q, cmpopts.IgnoreFields(pricing.Quote{}, "Note")); diff != "" {
					t.Errorf("unpriced (-want +got):\n%s", diff)
				}
				return
			}
			if got := short(q); got != tt.want {
				t.Errorf("got %q (%s), want %q", got, q.Note, tt.want)
			}
			slices.Reverse(tt.rows)
			if again := pricing.FromRows(it, tt.rows, pricing.SourcePriceSearch); again != q {
				t.Errorf("the order of rows matters (-want +got):\n%s", cmp.Diff(q, again))
			}
		})
	}
}

// short writes a priced quote as the tables do: "75..95 once 100 for 36 USD".
func short(q pricing.Quote) string {
	span := func(has, ranged bool, least, most pricing.Money) string {
		switch {
		case !has:
			return "-"
		case ranged:
			return least.String() + ".." + most.String()
		}
		return least.String()
	}
	s := span(q.HasMonthly, q.MonthlyRange(), q.Monthly, q.MonthlyMax)
	if q.HasOneTime {
		s += " once " + span(true, q.OneTimeRange(), q.OneTime, q.OneTimeMax)
	}
	if q.TermMonths != 1 {
		s += fmt.Sprintf(" for %d", q.TermMonths)
	}
	return s + " " + q.Currency
}

func TestBasisSaysWhatItAssumesAndWhoIsBilled(t *testing.T) {
	rows := []pricing.Row{listed(t, "500")}
	q := pricing.FromRows(evpl, rows, pricing.SourcePriceSearch)
	want := "live price search, EVPL_VC 50 Mbps from COLO DC to SP DC month to month, without taxes, cross connects and provider charges; billed to account 270119"
	if diff := cmp.Diff(want, q.Basis); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	token := evpl
	token.BilledTo = "the creator of the A-side token"
	if q := pricing.FromRows(token, rows, pricing.SourcePriceSearch); !strings.HasSuffix(q.Basis, "; billed to the creator of the A-side token") {
		t.Errorf("basis %q", q.Basis)
	}
	nobody := evpl
	nobody.AccountNumber = 0
	if q := pricing.FromRows(nobody, rows, pricing.SourcePriceSearch); !strings.HasSuffix(q.Basis, "; the billed account is not known") {
		t.Errorf("basis %q", q.Basis)
	}
}

// TestQuoteIsNeverASum: whatever rows come, a price lies between amounts that
// rows have, and no row of other terms has a say.
func TestQuoteIsNeverASum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		row := rapid.Custom(func(rt *rapid.T) pricing.Row {
			r := listed(t, fmt.Sprint(rapid.IntRange(0, 1000).Draw(rt, "monthly")))
			r.Terms.ZMetro = rapid.SampledFrom([]string{"DC", "SY", ""}).Draw(rt, "metro")
			r.Terms.TermMonths = rapid.SampledFrom([]int{0, 1, 36}).Draw(rt, "term")
			r.Category = rapid.SampledFrom([]string{"", "COUNTRY", "CUSTOMER"}).Draw(rt, "category")
			return r
		})
		rows := rapid.SliceOfN(row, 0, 6).Draw(rt, "rows")
		q := pricing.FromRows(evpl, rows, pricing.SourcePriceSearch)
		ours := slices.DeleteFunc(slices.Clone(rows), func(r pricing.Row) bool { return r.Terms.ZMetro == "SY" || r.Terms.TermMonths == 36 })
		if q.Priced != (len(ours) > 0) {
			rt.Fatalf("priced is %t with %d rows of these terms", q.Priced, len(ours))
		}
		if !q.Priced {
			return
		}
		has := func(m pricing.Money) bool {
			return slices.ContainsFunc(ours, func(r pricing.Row) bool { return r.Monthly == m })
		}
		if !has(q.Monthly) || !has(q.MonthlyMax) {
			rt.Errorf("%s is no price of a row", short(q))
		}
		if again := pricing.FromRows(evpl, ours, pricing.SourcePriceSearch); again != q {
			rt.Errorf("rows of other terms made it %s instead of %s", short(q), short(again))
		}
	})
}

func BenchmarkFromRows(b *testing.B) {
	for _, size := range []int{1, 20, 500} {
		b.Run(fmt.Sprintf("rows=%d", size), func(b *testing.B) {
			rows := make([]pricing.Row, size)
			for i := range rows {
				rows[i] = listed(b, fmt.Sprint(500+i), term(i))
			}
			for b.Loop() {
				if !pricing.FromRows(evpl, rows, pricing.SourcePriceSearch).Priced {
					b.Fatal("unpriced")
				}
			}
		})
	}
}
