package pricing

// FromRows returns the quote that rows give for it.
func FromRows(it Item, rows []Row, src Source) Quote { return Unpriced("not implemented") }
