package elicit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"fabricbroker/broker"
)

// columns is the width that a deciding line keeps to: clients show messages in
// narrow boxes, and a wrapped line hides its end.
const columns = 80

// maxLine bounds the lines below the deciding ones.
const maxLine = 1000

// safe returns s as one line of printable ASCII without markdown or links. Text
// that went through broker.Quote comes back unchanged.
func safe(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		char := s[i : i+n]
		switch {
		case strings.HasPrefix(s[i:], "://"):
			b.WriteString(`\x3a`)
		case char == `"` || char == `\`:
			b.WriteString(char) // the quotes and escapes of an earlier Quote
		default:
			quoted := broker.Quote(char)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return strings.TrimSpace(b.String())
}

// clip cuts a safe line that is longer than limit and says so.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s... (cut, %d bytes more)", s[:limit], len(s)-limit)
}

var (
	uuids  = regexp.MustCompile(`\b([0-9A-Fa-f]{8})-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{8}([0-9A-Fa-f]{4})\b`)
	quotes = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	units  = regexp.MustCompile(`\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\.|.`)
	// telling matches clauses with a number, a code in capitals or a name.
	telling = regexp.MustCompile(`[0-9"]|\b[A-Z]{2,}\b`)
	// deciding matches clauses that stay: VLANs, sizes, terms, days, metros,
	// names, account ids.
	deciding = regexp.MustCompile(`VLAN|bps|month|\b[A-Z]{2,}\b|"|\b[0-9]{4}-[0-9]{2}-[0-9]{2}|\b[0-9]{12}\b`)
)

// The least that is left of a quoted name, quotes included: at first, and where
// nothing else can give way.
const (
	nameWidth  = 30
	leastWidth = 14
)

// fit returns the safe line s in at most width columns. What gives way, in this
// order: the middle of uuids, the middle of long names, clauses that tell little,
// clauses that do not decide, more of every name, and only then the end.
func fit(s string, width int) string {
	if len(s) <= width {
		return s
	}
	s = shortenUUIDs(s)
	s = shortenNames(s, width, nameWidth)
	s = dropClauses(s, width, telling)
	s = dropClauses(s, width, deciding)
	s = shortenNames(s, width, leastWidth)
	if len(s) <= width {
		return s
	}
	s = s[:width-len(" ...")]
	if i := strings.LastIndexByte(s, ' '); i > width/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:.") + " ..."
}

func shortenUUIDs(s string) string { return uuids.ReplaceAllString(s, "$1...$2") }

// shortenNames shortens quoted names of s, the longest first, as far as the line
// needs it and not below least.
func shortenNames(s string, width, least int) string {
	for len(s) > width {
		spans := quotes.FindAllStringIndex(s, -1)
		slices.SortStableFunc(spans, func(a, b []int) int { return (b[1] - b[0]) - (a[1] - a[0]) })
		if len(spans) == 0 || spans[0][1]-spans[0][0] <= least {
			return s
		}
		from, to := spans[0][0], spans[0][1]
		s = s[:from] + shortenName(s[from:to], max(least, to-from-(len(s)-width))) + s[to:]
	}
	return s
}

// nameEnd is how much of a name's end is kept: where names that come in series
// differ.
const nameEnd = 7

// shortenName cuts the middle out of a quoted name and never splits an escape.
func shortenName(quoted string, width int) string {
	all := units.FindAllString(quoted[1:len(quoted)-1], -1)
	room := width - len(`"..."`)
	front, back := 0, len(all)
	tail := min(nameEnd, room/4)
	head := room - tail
	for front < back && len(all[front]) <= head {
		head -= len(all[front])
		front++
	}
	for back > front && len(all[back-1]) <= tail {
		tail -= len(all[back-1])
		back--
	}
	return `"` + strings.Join(all[:front], "") + "..." + strings.Join(all[back:], "") + `"`
}

// dropClauses drops the clauses that do not match keep, the last first, until s
// fits. The first clause says what the line is about and stays.
func dropClauses(s string, width int, keep *regexp.Regexp) string {
	const gap = ", ..."
	parts := clauses(strings.TrimSuffix(s, gap))
	for i := len(parts) - 1; i > 0 && len(s) > width; i-- {
		if !keep.MatchString(parts[i]) {
			parts = slices.Delete(parts, i, i+1)
			s = strings.Join(parts, "") + gap
		}
	}
	return s
}

// clauses splits s before each comma or semicolon that stands outside of quotes.
func clauses(s string) []string {
	hidden := quotes.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat("_", len(q)) })
	var parts []string
	start := 0
	for i := 1; i+1 < len(s); i++ {
		if (hidden[i] == ',' || hidden[i] == ';') && hidden[i+1] == ' ' {
			parts = append(parts, s[start:i])
			start = i
		}
	}
	return append(parts, s[start:])
}

// wrap breaks the safe line s at spaces outside of names. Every line of the
// result begins with the mark, so that no part of s begins one.
func wrap(mark, s string) []string {
	width := columns - len(mark) - len("  ")
	var lines []string
	for s != "" {
		cut := breakAt(s, width)
		indent := ""
		if len(lines) > 0 {
			indent = "  "
		}
		lines = append(lines, mark+indent+strings.TrimSpace(s[:cut]))
		s = strings.TrimSpace(s[cut:])
	}
	return lines
}

// breakAt returns where the first width columns of s end: at the last space
// outside of quotes, or at the width where there is none.
func breakAt(s string, width int) int {
	if len(s) <= width {
		return len(s)
	}
	hidden := quotes.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat("_", len(q)) })
	if i := strings.LastIndexByte(hidden[:width+1], ' '); i > 0 {
		return i
	}
	return width
}
