package pricing

// CardItems returns what the rows of a card are prices for.
func CardItems(c *RateCard) []Item {
	var items []Item
	for _, m := range c.rows {
		items = append(items, m.row.Terms)
	}
	return items
}
