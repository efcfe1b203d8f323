package fabric

import "strings"

// specObject is an object of a spec after its shape was checked. Rules look at
// given to see whether the agent wrote a field, and at values for what is sound:
// a field that has a problem already is given and has no value.
type specObject struct {
	path   string
	given  map[string]bool
	values map[string]any
}

func valueOf[T any](o *specObject, name string) T {
	v, _ := o.values[name].(T)
	return v
}

// The values of fields, zero where absent or unsound. No field takes 0.
func (o *specObject) str(name string) string         { return valueOf[string](o, name) }
func (o *specObject) num(name string) int64          { return valueOf[int64](o, name) }
func (o *specObject) strs(name string) []string      { return valueOf[[]string](o, name) }
func (o *specObject) nums(name string) []int64       { return valueOf[[]int64](o, name) }
func (o *specObject) obj(name string) *specObject    { return valueOf[*specObject](o, name) }
func (o *specObject) objs(name string) []*specObject { return valueOf[[]*specObject](o, name) }

// at is the path of a field of o.
func (o *specObject) at(name string) string { return keyPath(o.path, name) }

// shape checks the fields of n, an object, against the table.
func (c *compilation) shape(path string, n *jsonNode, fields []specField) *specObject {
	o := &specObject{path: path, given: map[string]bool{}, values: map[string]any{}}
	for _, key := range n.keys {
		v, f := n.fields[key], fieldNamed(fields, key)
		if c.priceOnly && (f == nil || !f.price || !c.has(f)) {
			continue
		}
		if f == nil || !c.has(f) {
			c.refuse(o.at(key), "%s", c.unknown(path, key, fields))
			continue
		}
		if v.kind == isNull {
			continue
		}
		o.given[key] = true
		if value, ok := c.value(o.at(key), v, f); ok {
			o.values[key] = value
		}
	}
	for i := range fields {
		f := &fields[i]
		if f.need&c.change == 0 || !c.has(f) || o.given[f.name] || c.priceOnly && !c.pricesNeed(f) {
			continue
		}
		if n.fields[f.name] != nil {
			c.refuse(o.at(f.name), "null, but required")
		} else {
			c.refuse(o.at(f.name), "required%s", missingHint(f))
		}
	}
	return o
}

// has reports whether the change type has the field; below the top level the
// object decides.
func (c *compilation) has(f *specField) bool { return f.in == 0 || f.in&c.change != 0 }

// pricesNeed reports whether nothing can be priced without the field. An account
// or a side only makes a price more exact.
func (c *compilation) pricesNeed(f *specField) bool {
	switch f.name {
	case "type", "bandwidth_mbps", "metro_code", "package":
		return c.change == forConnection || c.change == forRouter
	}
	return false
}

func missingHint(f *specField) string {
	switch {
	case f.name == "notification_emails":
		return ": at least one address"
	case len(f.enum) > 0:
		return ": one of " + strings.Join(f.enum, ", ")
	case f.doc != "" && f.fields == nil:
		return ": " + f.doc
	}
	return ""
}

// value checks one value. What it returns is sound.
func (c *compilation) value(path string, v *jsonNode, f *specField) (any, bool) {
	switch f.kind {
	case kindString, kindUUID:
		return c.stringValue(path, v, f)
	case kindInteger:
		return c.integerValue(path, v, f)
	case kindBoolean:
		if v.kind == isBoolean {
			return v.yes, true
		}
	case kindObject:
		if v.kind == isObject {
			return c.objectValue(path, v, f)
		}
	case kindStrings:
		if v.kind == isList {
			return listOf(c, path, v, f, c.stringValue)
		}
	case kindIntegers:
		if v.kind == isList {
			return listOf(c, path, v, f, c.integerValue)
		}
	case kindObjects:
		if v.kind == isList {
			return listOf(c, path, v, f, c.objectValue)
		}
	}
	c.refuse(path, "want %s, got %s", f.kind.wanted(), v.kind)
	return nil, false
}

func (c *compilation) objectValue(path string, v *jsonNode, f *specField) (*specObject, bool) {
	if v.kind != isObject {
		c.refuse(path, "want an object, got %s", v.kind)
		return nil, false
	}
	before := len(c.issues)
	o := c.shape(path, v, f.fields)
	if len(o.given) == 0 && len(c.issues) == before && !c.priceOnly {
		c.refuse(path, "an empty object; leave the field out instead%s", missingHint(f))
	}
	return o, len(o.given) > 0
}

// listOf checks every item of a list, and that there is one. Unsound items are
// left out, so that the sound ones can still be compared with each other.
func listOf[T any](c *compilation, path string, v *jsonNode, f *specField, item func(string, *jsonNode, *specField) (T, bool)) ([]T, bool) {
	if len(v.items) == 0 {
		if f.need&c.change != 0 {
			c.refuse(path, "an empty list; want at least one")
		} else {
			c.refuse(path, "an empty list; leave the field out instead")
		}
		return nil, false
	}
	list := make([]T, 0, len(v.items))
	for i, n := range v.items {
		if x, ok := item(indexPath(path, i), n, f); ok {
			list = append(list, x)
		}
	}
	return list, len(list) == len(v.items)
}
