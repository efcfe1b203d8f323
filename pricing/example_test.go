package pricing_test

import (
	"fmt"

	"fabricbroker/pricing"
)

func Example() {
	card, err := pricing.ParseRateCard([]byte(`
version: 1
currency: USD
rates:
  - {product: CLOUD_ROUTER_PRODUCT, metro: DC, package: STANDARD, monthly_recurring: "1200"}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	router := pricing.Item{Product: pricing.ProductRouter, Metro: "DC", Package: "STANDARD", TermMonths: 12}
	own, _ := card.Quote(router)
	quote := pricing.Combine(own, pricing.Unpriced("timed out"))
	total, _ := quote.Commitment()
	fmt.Println(quote.Currency, quote.Monthly.Display(), "per month,", total.Display(), "in all")
	fmt.Println(quote.Note)

	router.Metro = "SV"
	fmt.Println(pricing.FromRows(router, nil, pricing.SourcePriceSearch).Note)
	// Output:
	// USD 1,200.00 per month, 14,400.00 in all
	// live price search: timed out
	// no price for CLOUD_ROUTER_PRODUCT STANDARD in SV for 12 months
}
