package fabricsim

import (
	"net/http"
	"slices"
	"strings"
)

// prices answers POST /prices/search: a filter without paging, values that are
// all strings, and no data where nothing is sold.
func (s *Sim) prices(c *call) response {
	body, err := parseObject(c.body)
	if err != nil {
		return c.badPrice("/filter")
	}
	filter := object(body, "filter")
	if len(filter) == 0 {
		return c.badPrice("/filter")
	}
	if bad := malformedPrice(filter); bad != "" {
		return c.badPrice(bad)
	}
	rows := []any{}
	for _, row := range s.priceRows(filter) {
		if matches(row, filter) {
			rows = append(rows, row)
		}
	}
	return reply(http.StatusOK, doc{"pagination": doc{"offset": 0, "limit": len(rows), "total": len(rows)}, "data": rows})
}

func (c *call) badPrice(property string) response {
	return c.badRequest(apiError{
		Code: "EQ-3038010", Message: "Validation failure", Details: "Invalid request body",
		Info: []errorInfo{{Property: property, Reason: property + " has invalid format"}},
	})
}

var priceOperators = slices.Concat(comparisons, negations, []string{"IS NULL", "IS NOT NULL"})

var priceRoots = []string{
	"type", "code", "termLength", "account", "connection", "router", "port", "ipBlock", "timeService", "metroConnect", "catgory",
}

// malformedPrice names the first thing that is wrong, "" where nothing is.
func malformedPrice(f doc) string {
	for _, key := range []string{"and", "or"} {
		v, ok := f[key]
		if !ok {
			continue
		}
		l, _ := v.([]any)
		if len(l) == 0 {
			return "/filter/" + key
		}
		for _, e := range l {
			inner, ok := e.(doc)
			if !ok {
				return "/filter/" + key
			}
			if bad := malformedPrice(inner); bad != "" {
				return bad
			}
		}
		return ""
	}
	property := text(f, "property")
	root, _, _ := strings.Cut(strings.TrimPrefix(property, "/"), "/")
	values := list(f, "values")
	if !strings.HasPrefix(property, "/") || !slices.Contains(priceRoots, root) {
		return orElse(property, "/filter/property")
	}
	if !slices.Contains(priceOperators, text(f, "operator")) || len(values) == 0 && !strings.HasPrefix(text(f, "operator"), "IS ") {
		return property
	}
	for _, v := range values {
		value, ok := v.(string)
		if !ok || strings.HasSuffix(property, "/metroCode") && !metroLike(value) {
			return property
		}
	}
	return ""
}

func metroLike(s string) bool { return len(s) == 2 && strings.ToUpper(s) == s }

// asked collects the values that a filter names for a property, anywhere in it.
func asked(f doc, property string) []string {
	var l []string
	for _, key := range []string{"and", "or"} {
		for _, e := range list(f, key) {
			if inner, ok := e.(doc); ok {
				l = append(l, asked(inner, property)...)
			}
		}
	}
	if text(f, "property") == property && (text(f, "operator") == "=" || text(f, "operator") == "IN") {
		for _, v := range list(f, "values") {
			l = append(l, str(v))
		}
	}
	return l
}

// askedOr falls back to everything that is sold.
func askedOr(f doc, property string, all []string) []string {
	if l := asked(f, property); len(l) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(l)))
	}
	return all
}
