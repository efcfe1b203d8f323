package broker

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxQuoted is how many characters of a value Quote shows.
const MaxQuoted = 256

// Quote makes text of an agent or an upstream safe to put on a line that a
// person decides by: quoted, one line, printable ASCII. Everything else is
// escaped, and so are the characters of markdown and of links, which a client
// may render: no value can forge a line, hide one or become a link.
func Quote(s string) string { return QuoteMax(s, MaxQuoted) }

// QuoteMax is Quote with another bound. What was cut is said.
func QuoteMax(s string, limit int) string {
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for i, r := range s {
		if n == limit {
			fmt.Fprintf(&b, `" (cut, %d bytes more)`, len(s)-i)
			return b.String()
		}
		n++
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i]) // a byte that is no UTF-8
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("`*[]<>|~#", r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == ':' && strings.HasPrefix(s[i:], "://"):
			b.WriteString(`\x3a`)
		case r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
