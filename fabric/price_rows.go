package fabric

import (
	"fmt"
	"strings"

	"fabricbroker/pricing"
)

// priceRows reads the rows of the price search. An amount that is none makes all
// of them unusable: without it the others might look like the whole price.
func priceRows(data []any) ([]pricing.Row, error) {
	var rows []pricing.Row
	for _, d := range data {
		monthly, oneTime, err := charges(d)
		if err != nil {
			return nil, err
		}
		base := priceTerms(d)
		// Two charges of one kind in one row are alternatives, not a sum.
		for i := range max(len(monthly), len(oneTime), 1) {
			row := base
			if len(monthly) > 0 {
				row.Monthly, row.HasMonthly = monthly[min(i, len(monthly)-1)], true
			}
			if len(oneTime) > 0 {
				row.OneTime, row.HasOneTime = oneTime[min(i, len(oneTime)-1)], true
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// priceTerms reads what a row is a price for. The category is spelled as the API
// spells it.
func priceTerms(d any) pricing.Row {
	word := func(keys ...string) string { return clean(text(at(d, keys...)), 64) }
	count := func(keys ...string) int64 {
		n, _ := number(at(d, keys...))
		return n
	}
	category := word("catgory")
	if category == "" {
		category = word("category")
	}
	return pricing.Row{
		Terms: pricing.Item{
			Product:        word("type"),
			ConnectionType: word("connection", "type"),
			BandwidthMbps:  count("connection", "bandwidth"),
			AMetro:         word("connection", "aSide", "accessPoint", "location", "metroCode"),
			ZMetro:         word("connection", "zSide", "accessPoint", "location", "metroCode"),
			AType:          word("connection", "aSide", "accessPoint", "type"),
			ZType:          word("connection", "zSide", "accessPoint", "type"),
			ProfileUUID:    word("connection", "zSide", "accessPoint", "profile", "uuid"),
			NetworkScope:   word("connection", "zSide", "accessPoint", "network", "scope"),
			Metro:          word("router", "location", "metroCode"),
			Package:        word("router", "package", "code"),
			AccountNumber:  count("account", "accountNumber"),
			TermMonths:     int(count("termLength")),
		},
		Currency: word("currency"),
		Category: strings.ToUpper(category),
	}
}

// charges returns the amounts of a row by kind, with all their digits.
func charges(d any) (monthly, oneTime []pricing.Money, err error) {
	for _, c := range list(at(d, "charges")) {
		kind := strings.ToUpper(text(at(c, "type")))
		if kind != "MONTHLY_RECURRING" && kind != "NON_RECURRING" {
			continue
		}
		if at(c, "price") == nil {
			continue
		}
		m, err := pricing.ParseMoney(text(at(c, "price")))
		if err != nil {
			return nil, nil, fmt.Errorf("the search returned an amount that cannot be read: %w", err)
		}
		if kind == "MONTHLY_RECURRING" {
			monthly = append(monthly, m)
		} else {
			oneTime = append(oneTime, m)
		}
	}
	return monthly, oneTime, nil
}
