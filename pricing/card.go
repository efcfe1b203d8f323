package pricing

// RateCard is an operator's own price list, made by [ParseRateCard]. A nil
// *RateCard has no prices. It never changes, so goroutines may share it.
type RateCard struct {
	rows []match
}

// Quote returns the rate card's price for it, or false where the card has none.
// Of the rows whose terms are all the item's, the one that names most wins; where
// several name equally many, what differs between them is a range.
func (c *RateCard) Quote(it Item) (Quote, bool) {
	if c == nil {
		return Quote{}, false
	}
	if _, ok := askable(it); !ok {
		return Quote{}, false
	}
	want := it.wanted()
	var best []match
	most := 0
	for _, m := range c.rows {
		if !m.terms.within(want) {
			continue
		}
		switch n := m.terms.named(); {
		case n > most:
			best, most = append(best[:0], m), n
		case n == most:
			best = append(best, m)
		}
	}
	if len(best) == 0 {
		return Quote{}, false
	}
	return settle(it, best, SourceRateCard), true
}
