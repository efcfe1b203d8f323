package pricing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fabricbroker/pricing"
)

const cardHead = "version: 1\ncurrency: USD\nrates:\n"

const exampleCard = cardHead + `  # connections
  - {product: VIRTUAL_CONNECTION_PRODUCT, monthly_recurring: "900"}
  - {product: VIRTUAL_CONNECTION_PRODUCT, connection_type: EVPL_VC, bandwidth_mbps: 50, a_metro: DC, z_metro: DC, monthly_recurring: "500.00", non_recurring: "0"}
  - product: VIRTUAL_CONNECTION_PRODUCT
    connection_type: EVPL_VC
    bandwidth_mbps: 50
    term_months: 36
    monthly_recurring: '75.50'
  - {product: VIRTUAL_CONNECTION_PRODUCT, a_metro: SV, z_type: SP, monthly_recurring: "10"}
  - {product: VIRTUAL_CONNECTION_PRODUCT, a_metro: SV, z_metro: DC, monthly_recurring: "20", non_recurring: "5"}
  - {product: VIRTUAL_CONNECTION_PRODUCT, profile_uuid: 1BEC77A7-C503-5196-83A5-5D489A6056FF, account_number: 42, network_scope: GLOBAL, a_type: VD, monthly_recurring: "1"}
  # routers
  - {product: CLOUD_ROUTER_PRODUCT, metro: "NO", package: STANDARD, monthly_recurring: "1200"}
`

func parseCard(t testing.TB, text string) *pricing.RateCard {
	t.Helper()
	card, err := pricing.ParseRateCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

func TestRateCardQuote(t *testing.T) {
	card := parseCard(t, exampleCard)
	for _, tt := range []struct {
		rule string
		item func(*pricing.Item)
		want string // "" = none
	}{
		{"the row that names most wins", func(*pricing.Item) {}, "500 once 0 USD"},
		{"a row without a term is for any", func(it *pricing.Item) { it.TermMonths = 12 }, "500 once 0 for 12 USD"},
		{"a row with a term is for that one", func(it *pricing.Item) { it.TermMonths, it.ZMetro = 36, "SY" }, "75.5 for 36 USD"},
		{"an unknown term of the item matches nothing that names it", func(it *pricing.Item) { it.AMetro = "" }, "900 USD"},
		{"equal counts are a range", func(it *pricing.Item) { it.AMetro, it.BandwidthMbps = "SV", 1000 }, "10..20 once 5 USD"},
		{"every term counts", func(it *pricing.Item) {
			it.AccountNumber, it.NetworkScope, it.AType, it.ZMetro = 42, "global", "vd", "SY"
		}, "1 USD"},
		{"only the product is left", func(it *pricing.Item) { it.ConnectionType = "IP_VC" }, "900 USD"},
		{"another product", func(it *pricing.Item) {
			*it = pricing.Item{Product: pricing.ProductRouter, Metro: "no", Package: "standard"}
		}, "1200 USD"},
		{"another metro is none", func(it *pricing.Item) {
			*it = pricing.Item{Product: pricing.ProductRouter, Metro: "DC", Package: "STANDARD"}
		}, ""},
		{"nothing billable is none", func(it *pricing.Item) { *it = pricing.Item{} }, ""},
		{"no term is none", func(it *pricing.Item) { it.TermMonths = -1 }, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			it := evpl
			tt.item(&it)
			q, ok := card.Quote(it)
			if ok != (tt.want != "") || ok != q.Priced {
				t.Fatalf("got %+v, %t", q, ok)
			}
			if !ok {
				return
			}
			if got := short(q); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if q.Source != pricing.SourceRateCard || !strings.HasPrefix(q.Basis, "operator's rate card, ") {
				t.Errorf("source %q, basis %q", q.Source, q.Basis)
			}
		})
	}
	if _, ok := (*pricing.RateCard)(nil).Quote(evpl); ok {
		t.Error("no rate card has a price")
	}
}

func TestParseRateCardRefuses(t *testing.T) {
	const router = "product: CLOUD_ROUTER_PRODUCT, "
	row := func(fields string) string { return cardHead + "  - {" + fields + "}\n" }
	for _, tt := range []struct{ rule, card, want string }{
		{"nothing", "", "empty"},
		{"comments only", "# nothing\n", "empty"},
		{"a scalar", "hello", "line 1: not a mapping"},
		{"a list", "- a", "line 1: not a mapping"},
		{"broken YAML", cardHead + "  - {", "line 4: not YAML"},
		{"text that is not UTF-8", "version: \xff", "not UTF-8"},
		{"1 MB and more", "#" + strings.Repeat("x", 1<<20), "larger than 1 MB"},
		{"two documents", row(router+`monthly_recurring: "1"`) + "---\nversion: 1\n", "more than one YAML document"},
		{"anchors", cardHead + "  - &a {" + router + `monthly_recurring: "1"}`, "line 4: anchors"},
		{"aliases", "a: &a 1\nb: *a\n", "line 1: anchors"},
		{"merge keys", cardHead + "  - {<<: {a: b}}\n", "line 4: anchors, aliases and merge keys"},
		{"tags", "version: !!int 1\n", "line 1: tags"},
		{"directives", "%YAML 1.2\n---\nversion: 1\n", "line 1: tags and directives"},
		{"explicit keys", "? version\n: 1\n", "line 1: keys with ?"},
		{"nesting", "rates: [[[[[", "line 1: nested too deep"},
		{"deep nesting", strings.Repeat("[", 1<<16), "line 1: nested too deep"},
		{"lists in lists", "- - - a", "line 1: a list inside a list"},
		{"deep lists", strings.Repeat("- ", 1<<16), "line 1: a list inside a list"},
		{"runs of blank lines", "a: |\n" + strings.Repeat(" \n", 1<<16), "line 102: more than 100 blank lines"},
		{"runs of blank lines for the lexer", "a: |\n" + strings.Repeat("\r", 1<<16), "line 102: more than 100 blank lines"},
		{"runs of nothing", strings.Repeat("-\n", 1<<16), "line 2: an empty row"},

		{"no version", "currency: USD\n", "version is missing; write version: 1"},
		{"another version", "version: 2\n", "line 1: version must be 1"},
		{"a quoted version", "version: \"1\"\n", "line 1: version must be 1"},
		{"version spelled otherwise", "version: 0x1\n", "line 1: version must be 1"},
		{"no currency", "version: 1\n", "currency is missing"},
		{"a currency that is none", "version: 1\ncurrency: usd\n", "line 2: currency must be three capital letters"},
		{"a currency that is no text", "version: 1\ncurrency: 123\n", "line 2: currency must be three capital letters"},
		{"no rates", "version: 1\ncurrency: USD\n", "rates is missing"},
		{"empty rates", "version: 1\ncurrency: USD\nrates: []\n", "line 3: rates must be a list of at least one row"},
		{"null rates", "version: 1\ncurrency: USD\nrates:\n", "line 3: rates must be a list"},
		{"an unknown key", "version: 1\ncurency: USD\n", `line 2: unknown key "curency"; known keys are version, currency, rates`},
		{"a key twice", "version: 1\ncurrency: USD\ncurrency: EUR\n", "line 3: not YAML: mapping key"},

		{"a row that is no mapping", cardHead + "  - a\n", "line 4 (row 1): not a mapping"},
		{"an empty row", cardHead + "  - {}\n", "line 4 (row 1): product is missing; write VIRTUAL_CONNECTION_PRODUCT or CLOUD_ROUTER_PRODUCT"},
		{"an unknown key of a row", row(router + `bandwidths: 5`), `line 4 (row 1): unknown key "bandwidths"`},
		{"no product", row(`metro: DC, monthly_recurring: "1"`), "(row 1): product is missing"},
		{"an unknown product", row(`product: ROUTER, monthly_recurring: "1"`), "(row 1): product ROUTER is not one"},
		{"no amount", row(router + "metro: DC"), "(row 1): no amount; write monthly_recurring"},
		{"a bare number", row(router + "monthly_recurring: 1200.50"), `line 4 (row 1): monthly_recurring must be a decimal in quotes, such as "1200.50"`},
		{"a bare whole number", row(router + "monthly_recurring: 1200"), "monthly_recurring must be a decimal in quotes"},
		{"a bare word", row(router + "non_recurring: free"), "non_recurring must be a decimal in quotes"},
		{"a null amount", row(router + "non_recurring: null"), "non_recurring must be a decimal in quotes"},
		{"a negative amount", row(router + `monthly_recurring: "-5"`), `(row 1): monthly_recurring "-5": negative`},
		{"separators", row(router + `monthly_recurring: "1,200"`), `(row 1): monthly_recurring "1,200": digits and one point only`},
		{"too many decimals", row(router + `monthly_recurring: "0.0000001"`), "6 digits after the point"},
		{"a bandwidth of 0", row(`product: VIRTUAL_CONNECTION_PRODUCT, bandwidth_mbps: 0, monthly_recurring: "1"`), "bandwidth_mbps must be a whole number from 1"},
		{"a quoted bandwidth", row(`product: VIRTUAL_CONNECTION_PRODUCT, bandwidth_mbps: "50", monthly_recurring: "1"`), "bandwidth_mbps must be a whole number from 1 to 10000000, without quotes"},
		{"octal", row(router + `term_months: 012, monthly_recurring: "1"`), "term_months must be a whole number"},
		{"underscores", row(router + `term_months: 1_2, monthly_recurring: "1"`), "term_months must be a whole number"},
		{"a term of centuries", row(router + `term_months: 1201, monthly_recurring: "1"`), "term_months must be a whole number from 1 to 1200"},
		{"an account that is no number", row(router + `account_number: x, monthly_recurring: "1"`), "account_number must be a whole number"},
		{"a metro that is no text", row(router + `metro: 12, monthly_recurring: "1"`), "metro must be text"},
		{"a metro that is no code", row(router + `metro: "D C", monthly_recurring: "1"`), `metro "D C" is not a code`},
		{"a profile that is no UUID", row(`product: VIRTUAL_CONNECTION_PRODUCT, profile_uuid: aws, monthly_recurring: "1"`), "profile_uuid must be a UUID"},
		{"a term of the other product", row(router + `a_metro: DC, monthly_recurring: "1"`), "a_metro is no term of CLOUD_ROUTER_PRODUCT, so the row would never match"},
		{"a router term of a connection", row(`product: VIRTUAL_CONNECTION_PRODUCT, metro: DC, monthly_recurring: "1"`), "metro is no term of VIRTUAL_CONNECTION_PRODUCT"},
		{"the same terms twice", row(router+`metro: DC, monthly_recurring: "1"`) + "  - {metro: dc, " + router + `non_recurring: "1"}`, "line 5 (row 2): names the same terms as row 1"},
		{"block text", row(router+"metro: DC, monthly_recurring: \"1\"") + "  - product: |\n      CLOUD_ROUTER_PRODUCT\n", "line 5 (row 2): product must be text"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			card, err := pricing.ParseRateCard([]byte(tt.card))
			var refusal *pricing.CardError
			if !errors.As(err, &refusal) || card != nil {
				t.Fatalf("got %v, %v; want a *CardError", card, err)
			}
			if !strings.HasPrefix(err.Error(), "pricing: rate card") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func TestParseRateCardReadsWhatEditorsWrite(t *testing.T) {
	unix := cardHead + "\n  - {product: CLOUD_ROUTER_PRODUCT, monthly_recurring: '5'} # per month\n"
	for rule, text := range map[string]string{
		"plain":             unix,
		"Windows lines":     strings.ReplaceAll(unix, "\n", "\r\n"),
		"a byte order mark": "\ufeff" + unix,
		"a document start":  "---\n" + unix,
		"a quoted key":      strings.Replace(unix, "version", `"version"`, 1),
	} {
		t.Run(rule, func(t *testing.T) {
			q, ok := parseCard(t, text).Quote(pricing.Item{Product: pricing.ProductRouter, TermMonths: 12})
			if !ok || short(q) != "5 for 12 USD" {
				t.Errorf("got %s, %t", short(q), ok)
			}
		})
	}
}

func TestCardErrorWrapsTheAmountError(t *testing.T) {
	_, err := pricing.ParseRateCard([]byte(cardHead + `  - {product: CLOUD_ROUTER_PRODUCT, monthly_recurring: "x"}`))
	var amount *pricing.AmountError
	if !errors.As(err, &amount) || amount.Text != "x" {
		t.Errorf("got %v", err)
	}
}

func FuzzParseRateCard(f *testing.F) {
	for _, s := range []string{
		"", exampleCard, cardHead, cardHead + "  - {product: CLOUD_ROUTER_PRODUCT, monthly_recurring: '1'}",
		"version: 1\r\ncurrency: EUR\r\nrates: [{product: CLOUD_ROUTER_PRODUCT, non_recurring: \"0\"}]\r\n",
		"a: &a [*a, *a]", "? a\n: b", "- - -", "%YAML 1.2\n---", "a: |\n  b\n", "'", "\"\\", "{", "[}", "<<: {}", "!!map {}", "\ufeffversion: 1", "a: b: c", "-", ":", "\t- a", "...",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		card, err := pricing.ParseRateCard(data)
		if err != nil {
			var refusal *pricing.CardError
			if !errors.As(err, &refusal) || card != nil {
				t.Errorf("%v, %v: not one of our errors", card, err)
			}
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q is more than a line", err)
			}
			return
		}
		// A card that was accepted has rows, none is without effect, and reading
		// it again gives the same prices.
		again, err := pricing.ParseRateCard(data)
		if err != nil {
			t.Fatal(err)
		}
		items := pricing.CardItems(card)
		if len(items) == 0 {
			t.Error("an accepted card without rows")
		}
		for _, it := range items {
			q, ok := card.Quote(it)
			r, _ := again.Quote(it)
			if !ok || !q.Priced || q != r {
				t.Errorf("%s: %+v and %+v", it, q, r)
			}
		}
	})
}

func BenchmarkRateCardQuote(b *testing.B) {
	for _, size := range []int{10, 1000, 5000} {
		b.Run(fmt.Sprintf("rows=%d", size), func(b *testing.B) {
			text := strings.Builder{}
			text.WriteString(cardHead)
			for i := range size {
				fmt.Fprintf(&text, "  - {product: VIRTUAL_CONNECTION_PRODUCT, connection_type: EVPL_VC, bandwidth_mbps: %d, a_metro: DC, monthly_recurring: \"%d\"}\n", i+1, i)
			}
			card := parseCard(b, text.String())
			for b.Loop() {
				card.Quote(evpl)
			}
		})
	}
}
