package fabric

import (
	"regexp"

	"fabricbroker/broker"
)

// Lines of a brief stand behind a label of up to nine characters and must fit
// 80 columns. Names give way first, for they follow whole further down.
const (
	briefColumns = 71
	nameColumns  = 36
	leastColumns = 12
)

// fit returns the line for the widest name with which it is short enough.
func fit(line func(width int) string) string {
	s := ""
	for w := nameColumns; w >= leastColumns; w-- {
		if s = line(w); len(s) <= briefColumns {
			return s
		}
	}
	return s
}

// shorten quotes s in at most width columns, quotes not counted. It cuts in the
// middle: names that differ often do so at their end ("... Zone 1").
func shorten(s string, width int) string {
	whole := broker.QuoteMax(s, broker.MaxQuoted)
	if len(whole) <= width+2 {
		return whole
	}
	runes := []rune(s)
	tail := (width - 3) / 3
	return `"` + upTo(runes, width-3-tail, false) + "..." + upTo(runes, tail, true) + `"`
}

// upTo returns as many of the first, or the last, runes as take up at most width
// columns once escaped.
func upTo(runes []rune, width int, last bool) string {
	out := ""
	for i := range runes {
		part := runes[:i+1]
		if last {
			part = runes[len(runes)-1-i:]
		}
		q := broker.QuoteMax(string(part), broker.MaxQuoted)
		if len(q)-2 > width || i == broker.MaxQuoted {
			break
		}
		out = q[1 : len(q)-1]
	}
	return out
}

const codeColumns = 20

var plainCode = regexp.MustCompile(`^[0-9A-Za-z._/-]{1,36}$`)

// code returns a checked code or id as it is and quotes what is none.
func code(s string) string {
	if plainCode.MatchString(s) {
		return s
	}
	return shorten(s, codeColumns)
}

// shortID shortens a long id to its first eight and last four characters.
func shortID(s string) string {
	if len(s) == 36 && uuidForm.MatchString(s) {
		return s[:8] + "..." + s[32:]
	}
	return code(s)
}
