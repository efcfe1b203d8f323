package fabric

import "strings"

// SpecSchema returns the JSON Schema of the argument `spec`: one flat object for
// all change types, because hosts differ in what they make of oneOf. Each field
// says for which change types it is. Words and numbers are for the model that
// fills it in; what is accepted is decided by compiling.
func SpecSchema() map[string]any {
	s := objectSchema(specFields, false)
	s["required"] = []string{"name", "notification_emails"}
	return s
}

// PriceSchema is SpecSchema with only what decides a price.
func PriceSchema() map[string]any { return objectSchema(specFields, true) }

func objectSchema(fields []specField, priceOnly bool) map[string]any {
	properties := map[string]any{}
	var required []string
	for i := range fields {
		f := &fields[i]
		if priceOnly && !f.price {
			continue
		}
		properties[f.name] = fieldSchema(f, priceOnly)
		if f.need == forAll && f.in == 0 {
			required = append(required, f.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 && !priceOnly {
		s["required"] = required
	}
	if !priceOnly {
		s["additionalProperties"] = false // a price ignores what it does not need
	}
	return s
}

func fieldSchema(f *specField, priceOnly bool) map[string]any {
	s := map[string]any{}
	switch f.kind {
	case kindString, kindUUID:
		s = scalarSchema(f, "string")
	case kindInteger:
		s = scalarSchema(f, "integer")
	case kindBoolean:
		s = scalarSchema(f, "boolean")
	case kindObject:
		s = objectSchema(f.fields, priceOnly)
		if f.name == "a_side" {
			trimASide(s)
		}
	case kindStrings:
		s["type"], s["items"] = "array", map[string]any{"type": "string"}
	case kindIntegers:
		s["type"], s["items"] = "array", scalarSchema(f, "integer")
	case kindObjects:
		s["type"], s["items"] = "array", objectSchema(f.fields, priceOnly)
	}
	if d := description(f); d != "" {
		s["description"] = d
	}
	return s
}

func scalarSchema(f *specField, kind string) map[string]any {
	s := map[string]any{"type": kind}
	if f.name == "type" && f.enum == nil {
		s["enum"] = append(append([]string{}, connectionTypes...), networkTypes...)
	} else if f.enum != nil {
		s["enum"] = append([]string{}, f.enum...)
	}
	if f.max != 0 {
		s["minimum"] = f.min
		if f.max != maxInteger {
			s["maximum"] = f.max
		}
	}
	return s
}

// trimASide keeps the schema small: what only a z_side may have is left out, and
// what the z_side explains is not explained again.
func trimASide(s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for i := range sideFields {
		if sideFields[i].zOnly {
			delete(properties, sideFields[i].name)
		} else if p, ok := properties[sideFields[i].name].(map[string]any); ok {
			delete(p, "description")
		}
	}
}

// description starts with the change types, for a field of the top level.
func description(f *specField) string {
	if f.in == 0 || f.in == forAll {
		return f.doc
	}
	var words []string
	for _, w := range changeWords {
		if f.in&w.set == 0 {
			continue
		}
		word := w.word
		if f.need&w.set != 0 {
			word += " (required)"
		}
		words = append(words, word)
	}
	d := strings.Join(words, ", ")
	if f.doc != "" {
		d += ": " + f.doc
	}
	return d
}
