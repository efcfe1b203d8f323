package broker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mask hides the secret values of one request wherever they turn up: in the
// body that is shown, in the provider's echo, in its error texts. It is the one
// place that decides how much of a secret may be seen (I9). The zero value
// hides nothing.
type Mask struct{ values map[string]string }

// NewMask returns the mask of the values at pointers in the JSON document body.
func NewMask(body []byte, pointers []string) Mask {
	m := Mask{map[string]string{}}
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return m
	}
	for _, p := range pointers {
		if s, ok := resolve(doc, p).(string); ok && s != "" {
			if shown := MaskValue(s); shown != s {
				m.values[s] = shown
			}
		}
	}
	return m
}

// Mask returns the mask of r's secrets.
func (r Request) Mask() Mask { return NewMask(r.Body, r.Secrets) }

var (
	accountID  = regexp.MustCompile(`^[0-9]{12}$`)
	masked     = regexp.MustCompile(`^\.\.\.(.{0,4}|.{4}/[a-z0-9-]+/[a-z0-9-]+)$`)
	pairingKey = regexp.MustCompile(`^([0-9A-Fa-f-]{8,})/([a-z0-9-]+)/([a-z0-9-]+)$`)
)

// MaskValue returns what may be seen of a secret. Account ids of twelve digits
// are no secret and stay whole: a person must check them. A Google pairing key
// keeps its region and zone. Everything else keeps its last four characters,
// and short values none. What is masked already stays as it is.
func MaskValue(s string) string {
	if accountID.MatchString(s) || masked.MatchString(s) {
		return s
	}
	if m := pairingKey.FindStringSubmatch(s); m != nil {
		return "..." + m[1][len(m[1])-4:] + "/" + m[2] + "/" + m[3]
	}
	if len(s) <= 8 {
		return "..."
	}
	return "..." + s[len(s)-4:]
}

// minReplaced is the shortest secret that Text looks for inside other text. A
// shorter one would blank out innocent words.
const minReplaced = 6

// Text returns s with every secret value in it masked.
func (m Mask) Text(s string) string {
	// The longest first: what is a part of another must not leave its rest.
	longest := func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }
	for _, v := range slices.SortedFunc(maps.Keys(m.values), longest) {
		switch shown := m.values[v]; {
		case s == v:
			return shown
		case len(v) >= minReplaced:
			s = replaceFold(s, v, shown)
		}
	}
	return s
}

// replaceFold replaces old in s without regard to case: uuids come back in
// either one. What is shown may make old again with the text around it, so it
// goes over s until old is gone; each time s gets shorter, as shown is than old.
func replaceFold(s, old, shown string) string {
	old = lowerASCII(old)
	for {
		lower := lowerASCII(s) // byte for byte as long as s
		if !strings.Contains(lower, old) {
			return s
		}
		var b strings.Builder
		for i := strings.Index(lower, old); i >= 0; i = strings.Index(lower, old) {
			b.WriteString(s[:i])
			b.WriteString(shown)
			s, lower = s[i+len(old):], lower[i+len(old):]
		}
		b.WriteString(s)
		s = b.String()
	}
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// JSON returns the document doc with every secret value masked. Numbers keep
// their digits. A document that is not JSON becomes null.
func (m Mask) JSON(doc []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []byte("null")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(m.walk(v)) != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

func (m Mask) walk(v any) any {
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case []any:
		for i := range v {
			v[i] = m.walk(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = m.walk(v[k])
		}
	}
	return v
}

// Errors returns upstream errors with every secret value in them masked.
func (m Mask) Errors(in []UpstreamError) []UpstreamError {
	out := make([]UpstreamError, len(in))
	for i, e := range in {
		e.Message, e.Details = m.Text(e.Message), m.Text(e.Details)
		e.Property = m.Text(e.Property)
		out[i] = e
	}
	return out
}

// resolve returns the value at the RFC 6901 pointer p, nil where there is none.
func resolve(doc any, p string) any {
	if p == "" {
		return doc
	}
	for _, key := range strings.Split(p[1:], "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch v := doc.(type) {
		case map[string]any:
			doc = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}
