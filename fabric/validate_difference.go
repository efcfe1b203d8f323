package fabric

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

// differences returns the values that the echo has other than they were sent.
// What the echo leaves out is none: it omits a term, for one. What it adds is
// the provider's.
func differences(r broker.Request, echo []byte) []broker.Difference {
	sent, err1 := decodeJSON(r.Body)
	returned, err2 := decodeJSON(echo)
	if err1 != nil || err2 != nil {
		return nil
	}
	c := comparison{r: r, mask: r.Mask()}
	c.compare("", sent, returned)
	return c.found
}

type comparison struct {
	r     broker.Request
	mask  broker.Mask
	found []broker.Difference
}

func (c *comparison) compare(pointer string, sent, returned any) {
	if returned == nil {
		return
	}
	switch s := sent.(type) {
	case map[string]any:
		o, ok := returned.(map[string]any)
		if !ok {
			c.add(pointer, sent, returned)
			return
		}
		for _, k := range sortedKeys(s) {
			c.compare(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k), s[k], o[k])
		}
	case []any:
		l := list(returned) // one object where a list was sent is that list's element
		if len(l) != len(s) {
			c.add(pointer, sent, returned)
			return
		}
		if scalars(s) && scalars(l) {
			if !sameSet(s, l) {
				c.add(pointer, sent, returned)
			}
			return
		}
		for i := range s {
			c.compare(pointer+"/"+strconv.Itoa(i), s[i], l[i])
		}
	default:
		if !same(pointer, sent, returned) {
			c.add(pointer, sent, returned)
		}
	}
}

func (c *comparison) add(pointer string, sent, returned any) {
	path := specPath(c.r.ChangeType, pointer)
	if path == "" {
		path = pointer
	}
	c.found = append(c.found, broker.Difference{Path: path, Sent: c.json(pointer, sent), Returned: c.json(pointer, returned)})
}

// json renders a value masked, and short enough for a person to read.
func (c *comparison) json(pointer string, v any) string {
	const most = 300
	key := strings.ToLower(pointer[strings.LastIndexByte(pointer, '/')+1:])
	if s, ok := v.(string); ok && (secretKeys[key] || strings.HasSuffix(pointer, "/serviceToken/uuid")) {
		v = broker.MaskValue(s) // also one that was not sent
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null"
	}
	s := string(c.mask.JSON(redactJSON(b.Bytes())))
	if len(s) <= most {
		return s
	}
	short, err := json.Marshal(clean(s, most))
	if err != nil {
		return "null"
	}
	return string(short)
}

var (
	enumWord = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	uuidWord = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// same compares two scalars: a number is equal to its text, a word of the API or
// a uuid to itself in another case, a date to the same instant.
func same(pointer string, sent, returned any) bool {
	if sent == returned {
		return true
	}
	s, r := text(sent), text(returned)
	switch {
	case s == "" || r == "":
		return false
	case s == r:
		return true
	case pointer != "/name" && (enumWord.MatchString(s) || uuidWord.MatchString(s)) && strings.EqualFold(s, r):
		return true
	}
	if _, ok := sent.(json.Number); ok && len(s)+len(r) < 40 {
		x, ok1 := new(big.Rat).SetString(s)
		y, ok2 := new(big.Rat).SetString(r)
		return ok1 && ok2 && x.Cmp(y) == 0
	}
	x, ok1 := moment(s)
	y, ok2 := moment(r)
	return ok1 && ok2 && x.Equal(y)
}

func scalars(l []any) bool {
	return !slices.ContainsFunc(l, func(v any) bool {
		switch v.(type) {
		case []any, map[string]any:
			return true
		default:
			return false
		}
	})
}

// sameSet compares lists of scalars without regard to their order.
func sameSet(a, b []any) bool {
	order := func(l []any) []any {
		l = slices.Clone(l)
		slices.SortFunc(l, func(x, y any) int { return cmp.Compare(text(x), text(y)) })
		return l
	}
	return slices.EqualFunc(order(a), order(b), func(x, y any) bool { return same("", x, y) })
}

func sortedKeys(o map[string]any) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
