package pricing

// Combine returns the one quote to show of the rate card's and the live one: the
// rate card's where it has a price. Where the live price is another, or failed,
// the note says so as well. A quote that was not asked for is the zero Quote.
func Combine(card, live Quote) Quote {
	if !card.Priced {
		q := live
		if !q.Priced {
			q.Source = SourceNone
			q.Unbilled = card.Unbilled || live.Unbilled
		}
		if card.Note != live.Note {
			q.Note = join(live.Note, card.Note)
		}
		return q
	}
	q := card
	switch {
	case !live.Priced && live.Note != "":
		q.Note = join(card.Note, "live price search: "+live.Note)
	case live.Priced && contradicts(live, card):
		q.Note = join(card.Note, "the live price search says "+live.String()+"; the rate card's price is shown", live.Note)
	}
	return q
}

// contradicts reports whether live says something that card does not. A charge
// that the price search leaves out says nothing.
func contradicts(live, card Quote) bool {
	return live.Currency != card.Currency ||
		live.HasMonthly && !live.sameMonthly(card) ||
		live.HasOneTime && !live.sameOneTime(card)
}
