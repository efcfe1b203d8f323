package pricing

// Combine puts the rate card's quote and the live one together.
func Combine(card, live Quote) Quote { return card }
