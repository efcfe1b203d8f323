package fabric

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fabricbroker/broker"
)

// maxValueBytes bounds one text: a person must be able to read it in a prompt.
const maxValueBytes = 256

// orWhole names the spec itself where there is no path.
func orWhole(path string) string {
	if path == "" {
		return wholeSpec
	}
	return path
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)

// keyPath is the path of key below path. A key that is no plain word is quoted.
func keyPath(path, key string) string {
	switch {
	case isFieldName(key): // nearly every key, on every compile: spare it the expressions
	case looksLikeCredential(key):
		key = "(not shown)"
	case !plainKey.MatchString(key):
		key = broker.QuoteMax(key, 40)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// isFieldName reports whether key is a plain word as the spec's fields are. No
// credential is one: each has a capital, a hyphen, a space, or 24 characters.
func isFieldName(key string) bool {
	return key != "" && len(key) < 24 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func indexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// echo repeats a value of the spec in a message. What looks like a credential
// is not repeated, whatever field it stands in.
func echo(s string) string {
	if looksLikeCredential(s) {
		return "a value that is not shown"
	}
	return broker.QuoteMax(s, 60)
}

var credential = regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b|-----BEGIN|(?i:^bearer )|^eyJ[A-Za-z0-9_-]{10,}\.|\bgh[pousr]_[A-Za-z0-9]{20,}|^chg-`)

// looksLikeCredential reports whether s has the shape of an AWS access key id, a
// private key, a bearer token or one of our confirm tokens.
func looksLikeCredential(s string) bool { return credential.MatchString(s) }

// text checks a string that anybody may read later: not empty, not too long,
// and only of characters that can be seen.
func (c *compilation) text(path, s string) bool {
	switch {
	case s == "":
		c.refuse(path, "empty; leave the field out instead")
	case strings.TrimSpace(s) == "":
		c.refuse(path, "only spaces; leave the field out instead")
	case len(s) > maxValueBytes:
		c.refuse(path, "%d bytes long; at most %d", len(s), maxValueBytes)
	default:
		if r, bad := unseen(s); bad {
			c.refuse(path, "has the character %s, which is %s", codePoint(r), unseenWhy(r))
			return false
		}
		return true
	}
	return false
}

func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// unseen returns the first character of s that a reader would not see, or that
// changes how the others are seen.
func unseen(s string) (rune, bool) {
	for _, r := range s {
		if isUnseen(r) {
			return r, true
		}
	}
	return 0, false
}

// invisible are letters and marks without a glyph: fillers, joiners, blanks and
// variation selectors. Control and format characters have categories of their own.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1},
		{Lo: 0x115F, Hi: 0x1160, Stride: 1},
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1},
		{Lo: 0x2000, Hi: 0x200A, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1},
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
		{Lo: 0xFFF0, Hi: 0xFFFF, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}},
}

func isUnseen(r rune) bool {
	return r == utf8.RuneError || r == '\u00A0' ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, invisible)
}

func unseenWhy(r rune) string {
	switch {
	case r == utf8.RuneError:
		return "what broken UTF-8 becomes"
	case unicode.Is(unicode.Bidi_Control, r):
		return "a bidirectional control character"
	case unicode.Is(unicode.Cc, r):
		return "a control character"
	}
	return "invisible"
}
