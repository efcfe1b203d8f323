package fabricsim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// grammar is what one collection's search understands. They all differ.
type grammar struct {
	kind       string
	properties []string
	operators  []string
	sortable   []string
	// sort is the default criterion, descending.
	sort string
	// required refuses a search without a filter.
	required bool
	// shape refuses filters that the operators and properties do not rule out;
	// "" is right.
	shape func(filter doc) string
	// malformed is the error for anything wrong at that place of the filter.
	malformed func(place, value string) apiError
	limit     int
}

// check refuses what the grammar does not have.
func (g grammar) check(filter any) issues {
	var wrong issues
	f, ok := filter.(doc)
	if !ok || len(f) == 0 {
		if filter != nil && !ok || g.required {
			wrong.add(g.malformed("filter", ""))
		}
		return wrong
	}
	g.walk(&wrong, f, "filter")
	if len(wrong) == 0 && g.shape != nil {
		if reason := g.shape(f); reason != "" {
			e := g.malformed("filter", "")
			e.Details = reason
			wrong.add(e)
		}
	}
	return wrong
}

func (g grammar) walk(wrong *issues, f doc, place string) {
	for _, key := range []string{"and", "or"} {
		v, ok := f[key]
		if !ok {
			continue
		}
		l, _ := v.([]any)
		if len(l) == 0 || len(f) != 1 {
			wrong.add(g.malformed(place+"."+key, ""))
			return
		}
		for i, e := range l {
			inner, ok := e.(doc)
			if !ok {
				wrong.add(g.malformed(fmt.Sprintf("%s.%s.[%d]", place, key, i), ""))
				continue
			}
			g.walk(wrong, inner, fmt.Sprintf("%s.%s.[%d]", place, key, i))
		}
		return
	}
	property, operator := text(f, "property"), text(f, "operator")
	if !slices.Contains(g.properties, property) {
		wrong.add(g.malformed(place+".property", property))
	}
	if !slices.Contains(g.operators, operator) {
		wrong.add(g.malformed(place+".operator", operator))
	}
	values := list(f, "values")
	if operator == "BETWEEN" || operator == "NOT BETWEEN" {
		if len(values) != 2 {
			wrong.add(g.malformed(place+".values", ""))
		}
	} else if len(values) == 0 && !strings.HasPrefix(operator, "IS ") {
		wrong.add(g.malformed(place+".values", ""))
	}
}

// bounds reads the paging from the body, or from the query as tokens have it.
func (g grammar) bounds(c *call, body doc) (offset, limit int, wrong issues) {
	offset, limit = 0, pageDefault
	read := func(name string, least, most int, to *int) {
		v := at(body, "/pagination/"+name)
		n, ok := integer(v)
		if q := c.r.URL.Query().Get(name); v == nil && q != "" {
			i, err := strconv.ParseInt(q, 10, 64)
			n, ok, v = i, err == nil, q
		}
		if v == nil {
			return
		}
		if !ok || n < int64(least) || n > int64(most) {
			wrong.add(outOfPage(g.malformed("pagination."+name, ""), name))
			return
		}
		*to = int(n)
	}
	most := pageMax
	if g.limit > 0 {
		most = g.limit
	}
	read("offset", 0, 1<<30, &offset)
	read("limit", 1, most, &limit)
	return offset, limit, wrong
}

func (g grammar) order(body doc) (sortings, issues) {
	var wrong issues
	l := list(body, "/sort")
	if len(l) == 0 {
		return sortings{{g.sort, true}}, nil
	}
	var order sortings
	for i, e := range l {
		property, direction := orElse(text(e, "/property"), g.sort), orElse(text(e, "/direction"), "DESC")
		if direction != "DESC" && direction != "ASC" {
			wrong.add(apiError{
				Code: "EQ-3043015", Message: "Invalid value for sorting direction.",
				Info: []errorInfo{{Reason: "Only accept DESC and ASC for sorting direction."}},
			})
		}
		if len(g.sortable) == 0 || !slices.Contains(g.sortable, property) {
			wrong.add(g.malformed(fmt.Sprintf("sort.[%d].property", i), property))
		}
		order = append(order, sorting{property, direction == "DESC"})
	}
	return order, wrong
}

func badBody(place, value string) apiError {
	e := plain("EQ-3000035", "Invalid request body")
	if place != "" {
		e.Info = []errorInfo{{Property: place, Reason: reason(value)}}
	}
	return e
}

func reason(value string) string {
	if value == "" {
		return "invalid or missing"
	}
	return "Unexpected value '" + value + "'"
}
