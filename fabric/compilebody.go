package fabric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"

	"fabricbroker/broker"
)

// wire is an object of a request body. Its values are strings, int64, booleans,
// wires and lists of them, never null and never empty.
type wire map[string]any

// put sets key unless v is unset. An empty value must not reach the API: it
// takes {} and "" as answers, not as silence (a router with an empty order is
// refused for its purchase order number).
func (w wire) put(key string, v any) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return
		}
	case int64:
		if v == 0 {
			return
		}
	case wire:
		if len(v) == 0 {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	}
	w[key] = v
}

// canonical returns the RFC 8785 form of w.
func canonical(w wire) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(w); err != nil {
		panic("fabric: a body that is no JSON: " + err.Error())
	}
	out, err := jcs.Transform(b.Bytes())
	if err != nil {
		panic("fabric: a body without a canonical form: " + err.Error())
	}
	return out
}

// maxShownBytes is how much of a request a person is shown. What would not fit
// is refused: nobody approves what they cannot read.
const maxShownBytes = 6 << 10

// mustFit refuses a request whose fields, each on a line of its own, could not be
// shown whole.
func (c *compilation) mustFit(body []byte, w wire) {
	shown := 0
	eachValue(w, "", func(pointer string, v any) {
		shown += len(pointer) + len(" = \n")
		if s, ok := v.(string); ok {
			shown += len(broker.Quote(s))
		} else {
			shown += len(fmt.Sprint(v))
		}
	})
	if max(shown, len(body)) <= maxShownBytes {
		return
	}
	path := wholeSpec
	if w["additionalInfo"] != nil {
		path = "additional_info"
	}
	c.refuse(path, "the request would take %d bytes to show; at most %d, so that a person can read all of it", max(shown, len(body)), maxShownBytes)
}

// eachValue calls f for every value in v that is neither object nor list, with
// its JSON pointer, in the order of the canonical form.
func eachValue(v any, pointer string, f func(pointer string, v any)) {
	switch v := v.(type) {
	case wire:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			eachValue(v[k], pointer+"/"+k, f)
		}
	case []any:
		for i, x := range v {
			eachValue(x, fmt.Sprintf("%s/%d", pointer, i), f)
		}
	default:
		f(pointer, v)
	}
}

// secretPointers are the values in w that are masked wherever they are read.
func secretPointers(w wire) []string {
	var pointers []string
	eachValue(w, "", func(pointer string, _ any) {
		if strings.HasSuffix(pointer, "/authenticationKey") || strings.HasSuffix(pointer, "/serviceToken/uuid") {
			pointers = append(pointers, pointer)
		}
	})
	return pointers
}
