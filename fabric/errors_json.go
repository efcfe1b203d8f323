package fabric

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decodeJSON reads one document and nothing after it. Numbers keep their digits.
func decodeJSON(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	return v, nil
}

// The accessors below never fail: an answer's types are not what a
// specification says, and a part that is missing is nothing.

// at follows keys through objects. In a list it takes the first element: some
// answers have a list where others have one object.
func at(v any, keys ...string) any {
	for _, k := range keys {
		if l, ok := v.([]any); ok && len(l) > 0 {
			v = l[0]
		}
		v = object(v)[k]
	}
	return v
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// list returns v's elements, or v itself as the only one.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// text returns a text or a number as text.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// clean makes one line of a text that somebody else wrote, without control
// and invisible characters, at most limit bytes long.
func clean(s string, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
