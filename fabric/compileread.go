package fabric

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

const (
	maxSpecBytes = 64 << 10
	maxDepth     = 8 // additional_info[0].value is the deepest of ours: 3
)

// jsonNode is one JSON value with all that encoding/json would lose in a struct
// or a map: the order of keys, the digits of numbers, null beside absent.
type jsonNode struct {
	kind   jsonKind
	text   string // of a string, or the digits of a number
	yes    bool
	keys   []string // of an object, in order, each once
	fields map[string]*jsonNode
	items  []*jsonNode
}

// jsonKind names a JSON value the way a message does, with its article.
type jsonKind string

const (
	isObject  jsonKind = "an object"
	isList    jsonKind = "a list"
	isString  jsonKind = "a string"
	isNumber  jsonKind = "a number"
	isBoolean jsonKind = "a boolean"
	isNull    jsonKind = "null"
)

var errTooDeep = errors.New("too deep")

// read parses the spec, which must be an object. It returns nil where there is
// nothing to go on with.
func (c *compilation) read(spec []byte) *jsonNode {
	switch {
	case len(bytes.TrimSpace(spec)) == 0:
		c.refuse(wholeSpec, "want an object, got nothing")
		return nil
	case len(spec) > maxSpecBytes:
		c.refuse(wholeSpec, "%d bytes long; at most %d", len(spec), maxSpecBytes)
		return nil
	case !json.Valid(spec):
		c.refuse(wholeSpec, "not valid JSON%s", syntaxErrorPlace(spec))
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(spec))
	d.UseNumber()
	root, err := c.readValue(d, "", 1)
	if err != nil {
		return nil // readValue said why
	}
	if root.kind != isObject {
		c.refuse(wholeSpec, "want an object, got %s", root.kind)
		return nil
	}
	return root
}

func syntaxErrorPlace(spec []byte) string {
	var v any
	var at *json.SyntaxError
	if errors.As(json.Unmarshal(spec, &v), &at) {
		return " at byte " + strconv.FormatInt(at.Offset, 10)
	}
	return ""
}

// readValue reads the next value. Decoder.Token is enough only because the
// whole text is known to be valid; it turns bytes that are no UTF-8 and lone
// surrogates into U+FFFD, which no text may hold.
func (c *compilation) readValue(d *json.Decoder, path string, depth int) (*jsonNode, error) {
	token, err := d.Token()
	if err != nil {
		c.refuse(wholeSpec, "not valid JSON")
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			c.refuse(orWhole(path), "nested deeper than %d levels", maxDepth)
			return nil, errTooDeep
		}
		if t == '[' {
			return c.readList(d, path, depth)
		}
		return c.readObject(d, path, depth)
	case string:
		return &jsonNode{kind: isString, text: t}, nil
	case json.Number:
		return &jsonNode{kind: isNumber, text: t.String()}, nil
	case bool:
		return &jsonNode{kind: isBoolean, yes: t}, nil
	default:
		return &jsonNode{kind: isNull}, nil
	}
}

func (c *compilation) readList(d *json.Decoder, path string, depth int) (*jsonNode, error) {
	n := &jsonNode{kind: isList}
	for i := 0; d.More(); i++ {
		item, err := c.readValue(d, indexPath(path, i), depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := d.Token()
	return n, err
}

func (c *compilation) readObject(d *json.Decoder, path string, depth int) (*jsonNode, error) {
	n := &jsonNode{kind: isObject, fields: map[string]*jsonNode{}}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		v, err := c.readValue(d, keyPath(path, key), depth+1)
		if err != nil {
			return nil, err
		}
		if n.fields[key] != nil {
			// Readers differ in which one they take: the first, the last, both.
			c.refuse(keyPath(path, key), "given more than once")
			continue
		}
		n.keys = append(n.keys, key)
		n.fields[key] = v
	}
	_, err := d.Token()
	return n, err
}
