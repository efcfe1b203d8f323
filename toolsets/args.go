package toolsets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"fabricbroker/broker"
)

// maxArguments bounds the arguments of a call.
const maxArguments = 256 << 10

// Decode reads a tool's arguments into the struct that into points to. It is
// stricter than encoding/json: names must match exactly, and unknown or
// repeated ones are refused by name. null is absent. It spends nothing and its
// message repeats no value: a value may be a secret.
func Decode(raw json.RawMessage, into any) error {
	if len(raw) > maxArguments {
		return refuseArguments(fmt.Sprintf("the arguments are %d bytes, and %d are the most", len(raw), maxArguments))
	}
	fields := fieldsOf(into)
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return refuseArguments("the arguments must be an object")
	}
	var seen []string
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return refuseArguments("the arguments are not valid JSON")
		}
		f, known := fields[name]
		switch {
		case !known:
			return refuseArguments(fmt.Sprintf("unknown argument %s; known are %s", broker.QuoteMax(name, 40), namesOf(fields)))
		case slices.Contains(seen, name):
			return refuseArguments(fmt.Sprintf("argument %s stands twice", name))
		}
		seen = append(seen, name)
		if err := decodeField(d, name, f); err != nil {
			return err
		}
	}
	return nil
}

func decodeField(d *json.Decoder, name string, f reflect.Value) error {
	var v json.RawMessage
	if d.Decode(&v) != nil {
		return refuseArguments("the arguments are not valid JSON")
	}
	if string(v) == "null" {
		return nil
	}
	if f.Type() == reflect.TypeFor[broker.Secret]() {
		var s string
		if json.Unmarshal(v, &s) != nil {
			return refuseArguments(fmt.Sprintf("%s must be a string", name))
		}
		f.Set(reflect.ValueOf(broker.NewSecret(s)))
		return nil
	}
	if json.Unmarshal(v, f.Addr().Interface()) != nil {
		return refuseArguments(fmt.Sprintf("%s must be %s", name, jsonType(f.Type())))
	}
	return nil
}

// fieldsOf maps the JSON names of a struct to its fields.
func fieldsOf(into any) map[string]reflect.Value {
	v := reflect.ValueOf(into).Elem()
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		fields[v.Type().Field(i).Tag.Get("json")] = v.Field(i)
	}
	return fields
}

func namesOf(fields map[string]reflect.Value) string {
	if len(fields) == 0 {
		return "none: this tool takes no arguments"
	}
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func jsonType(t reflect.Type) string {
	if t == reflect.TypeFor[json.RawMessage]() {
		return "JSON"
	}
	if s, ok := jsonTypes[t.Kind()]; ok {
		return s
	}
	return "an object"
}

var jsonTypes = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Int: "an integer", reflect.Bool: "a boolean", reflect.Slice: "a list",
	reflect.Pointer: "an integer",
}

func refuseArguments(message string) error {
	return broker.Refuse(broker.ErrInvalidArguments, "correct the arguments and call again; nothing was done", "%s", message)
}
