package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

// maxFields bounds the bytes of all fields. A request that cannot be shown whole
// is refused long before it is asked about; this is for what slipped through.
const maxFields = 12 << 10

var errShape = errors.New("not one JSON value")

// fields returns a line `/pointer = value` for every leaf of the JSON document
// body, in its order. Empty objects and arrays are leaves too: nothing of the
// request stays unseen.
func fields(body []byte) []string {
	r := rows{dec: json.NewDecoder(bytes.NewReader(body))}
	r.dec.UseNumber()
	err := r.value("")
	if err == nil && r.more() {
		err = errShape
	}
	if err != nil {
		r.lines = append(r.lines, "(the rest of the request cannot be read: decline)")
	}
	if r.left > 0 {
		r.lines = append(r.lines, fmt.Sprintf("(%d more fields do not fit here: decline)", r.left))
	}
	return r.lines
}

type rows struct {
	dec   *json.Decoder
	lines []string
	size  int
	left  int // leaves that did not fit
}

// more reports whether anything follows the value that was read.
func (r *rows) more() bool {
	_, err := r.dec.Token()
	return !errors.Is(err, io.EOF)
}

// value reads the value at the pointer at.
func (r *rows) value(at string) error {
	token, err := r.dec.Token()
	if err != nil {
		return errShape
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return r.array(at)
		}
		return r.object(at)
	case string:
		r.add(at, broker.Quote(t))
	case json.Number:
		r.add(at, clip(t.String(), 64))
	case bool:
		r.add(at, strconv.FormatBool(t))
	case nil:
		r.add(at, "null")
	}
	return nil
}

func (r *rows) object(at string) error {
	empty := true
	for r.dec.More() {
		empty = false
		token, err := r.dec.Token()
		if err != nil {
			return errShape
		}
		key, ok := token.(string)
		if !ok {
			return errShape
		}
		if err := r.value(at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)); err != nil {
			return err
		}
	}
	if empty {
		r.add(at, "{}")
	}
	return r.end()
}

func (r *rows) array(at string) error {
	n := 0
	for ; r.dec.More(); n++ {
		if err := r.value(at + "/" + strconv.Itoa(n)); err != nil {
			return err
		}
	}
	if n == 0 {
		r.add(at, "[]")
	}
	return r.end()
}

// end reads the closing bracket.
func (r *rows) end() error {
	if _, err := r.dec.Token(); err != nil {
		return errShape
	}
	return nil
}

func (r *rows) add(at, value string) {
	line := pointer(at) + " = " + value
	if r.left > 0 || r.size+len(line) > maxFields {
		r.left++
		return
	}
	r.size += len(line) + 1
	r.lines = append(r.lines, line)
}

var (
	plainPointer = regexp.MustCompile(`^(?:/[A-Za-z0-9_.-]+){1,12}$`)
	plainPath    = regexp.MustCompile(`^[A-Za-z0-9_]+(?:\[[0-9]{1,4}\])?(?:\.[A-Za-z0-9_]+(?:\[[0-9]{1,4}\])?){0,8}$`)
)

// pointer returns a JSON pointer as it is, quoted where a key is not plain.
func pointer(p string) string {
	if len(p) <= broker.MaxQuoted && plainPointer.MatchString(p) {
		return p
	}
	return broker.Quote(p)
}

// specPath returns the path of a spec's field as it is, quoted where it is none.
func specPath(p string) string {
	if len(p) <= broker.MaxQuoted && plainPath.MatchString(p) {
		return p
	}
	return pointer(p)
}

// jsonText returns a JSON text for a person: a text quoted, a number or a word
// bare, anything else as quoted JSON.
func jsonText(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return broker.Quote(text)
	}
	switch v := v.(type) {
	case string:
		return broker.Quote(v)
	case json.Number:
		return clip(v.String(), 64)
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	default:
		return broker.Quote(text)
	}
}
