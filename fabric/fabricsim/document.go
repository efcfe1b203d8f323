package fabricsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// doc is a JSON object as it travels. The simulator keeps documents rather than
// structs: it has to carry what it was sent, not what it knows.
type doc = map[string]any

// parseObject reads exactly one JSON object, numbers kept as written.
func parseObject(body []byte) (doc, error) {
	v, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	d, ok := v.(doc)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return d, nil
}

func parseJSON(body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON value")
	}
	return v, nil
}

// at follows a pointer such as /aSide/accessPoint through objects.
func at(v any, pointer string) any {
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		d, ok := v.(doc)
		if !ok {
			return nil
		}
		v = d[key]
	}
	return v
}

// each is at for searches: it looks into every element of an array on its way.
func each(v any, pointer string) []any {
	if l, ok := v.([]any); ok {
		var all []any
		for _, e := range l {
			all = append(all, each(e, pointer)...)
		}
		return all
	}
	if pointer == "" {
		if v == nil {
			return nil
		}
		return []any{v}
	}
	d, ok := v.(doc)
	if !ok {
		return nil
	}
	key, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if more {
		rest = "/" + rest
	}
	return each(d[key], rest)
}

func has(v any, pointer string) bool { return at(v, pointer) != nil }

// text is the string there, or "".
func text(v any, pointer string) string {
	t, _ := at(v, pointer).(string)
	return t
}

func object(v any, pointer string) doc {
	d, _ := at(v, pointer).(doc)
	return d
}

func list(v any, pointer string) []any {
	l, _ := at(v, pointer).([]any)
	return l
}

func truth(v any, pointer string) bool {
	b, _ := at(v, pointer).(bool)
	return b
}

// whole is the integer there; false for anything else, numbers in strings
// included.
func whole(v any, pointer string) (int64, bool) { return integer(at(v, pointer)) }

func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case int:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// set puts v at pointer, making the objects on the way.
func set(d doc, pointer string, v any) {
	keys := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for _, key := range keys[:len(keys)-1] {
		next, ok := d[key].(doc)
		if !ok {
			next = doc{}
			d[key] = next
		}
		d = next
	}
	d[keys[len(keys)-1]] = v
}

// clone copies documents deeply, so that no answer shares memory with the world.
func clone(v any) any {
	switch v := v.(type) {
	case doc:
		return cloneDoc(v)
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = clone(e)
		}
		return l
	}
	return v
}

func cloneDoc(d doc) doc {
	c := make(doc, len(d))
	for k, v := range d {
		c[k] = clone(v)
	}
	return c
}

// only keeps the named keys of d: the API drops what it does not know.
func only(d doc, keys ...string) doc {
	kept := doc{}
	for _, k := range keys {
		if v, ok := d[k]; ok && v != nil {
			kept[k] = clone(v)
		}
	}
	return kept
}
