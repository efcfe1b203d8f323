package fabric

import (
	"regexp"
	"strconv"
	"strings"
)

// uuidForm is lenient in its digits: ids in Equinix' own examples are not always
// hexadecimal. What it keeps out are names and anything that could leave a path.
var uuidForm = regexp.MustCompile(`^[0-9A-Za-z]{8}(-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}$`)

func (c *compilation) stringValue(path string, v *jsonNode, f *specField) (string, bool) {
	if v.kind != isString {
		why := ""
		if v.kind == isNumber || v.kind == isBoolean {
			why = "; put it in quotes, zeros in front count"
		}
		c.refuse(path, "want a string, got %s%s", v.kind, why)
		return "", false
	}
	if !c.text(path, v.text) {
		return "", false
	}
	switch {
	case f.kind == kindUUID && !uuidForm.MatchString(v.text):
		shown := ""
		if !f.secret {
			shown = ", got " + echo(v.text)
		}
		c.refuse(path, "want a uuid such as 0f6bdb36-e130-4924-b038-ee1785fad166%s; find it with fabric_search", shown)
		return "", false
	case f.name == "type" && f.enum == nil:
		return c.word(path, v.text, typesFor(c.change))
	case f.enum != nil:
		return c.word(path, v.text, f.enum)
	}
	return v.text, true
}

// word finds the API's word for s.
func (c *compilation) word(path, s string, words []string) (string, bool) {
	for _, w := range words {
		if len(s) == len(w) && strings.EqualFold(s, w) { // the length keeps K (U+212A) out
			return w, true
		}
	}
	if why := notOffered[strings.ToUpper(s)]; why != "" {
		c.refuse(path, "%s is not offered: %s; want one of %s", strings.ToUpper(s), why, strings.Join(words, ", "))
	} else {
		c.refuse(path, "want one of %s; got %s", strings.Join(words, ", "), echo(s))
	}
	return "", false
}

var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (c *compilation) integerValue(path string, v *jsonNode, f *specField) (int64, bool) {
	if v.kind != isNumber {
		why := ""
		if v.kind == isString && wholeNumber.MatchString(v.text) {
			why = "; write it without quotes"
		}
		c.refuse(path, "want a whole number, got %s%s", v.kind, why)
		return 0, false
	}
	if !wholeNumber.MatchString(v.text) {
		c.refuse(path, "want a whole number in plain digits, got %s", echo(v.text))
		return 0, false
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || i > maxInteger || i < -maxInteger {
		c.refuse(path, "%s is beyond what JSON carries exactly (%d)", echo(v.text), int64(maxInteger))
		return 0, false
	}
	if f.max != 0 && (i < f.min || i > f.max) {
		c.refuse(path, "%d is outside %d to %d", i, f.min, f.max)
		return 0, false
	}
	return i, true
}
