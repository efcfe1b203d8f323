package pricing

import (
	"fmt"
	"strconv"
)

// AmountError says why a text is not an amount. Every error of [ParseMoney] and
// of the decoding methods of [Money] is one.
type AmountError struct {
	Text   string // what was read, cut to a readable length
	Reason string // what is wrong with it
}

func (e *AmountError) Error() string {
	return fmt.Sprintf("pricing: amount %s: %s", strconv.QuoteToASCII(e.Text), e.Reason)
}

// CardError says where a rate card is wrong, and what would be right. Every
// error of [ParseRateCard] is one.
type CardError struct {
	Line   int    // 1 is the first line; 0 = the file as a whole
	Row    int    // 1 is the first entry of rates; 0 = outside of rates
	Reason string // what is wrong, and what would be right
	Err    error  // the cause, if there is one: an *AmountError
}

func (e *CardError) Error() string {
	switch {
	case e.Line == 0:
		return "pricing: rate card: " + e.Reason
	case e.Row == 0:
		return fmt.Sprintf("pricing: rate card line %d: %s", e.Line, e.Reason)
	default:
		return fmt.Sprintf("pricing: rate card line %d (row %d): %s", e.Line, e.Row, e.Reason)
	}
}

func (e *CardError) Unwrap() error { return e.Err }

// mostQuoted is how much of a value that somebody else wrote a message repeats.
const mostQuoted = 40

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
