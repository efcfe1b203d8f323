package fabricsim

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
)

// search answers POST /{collection}/search by the grammar of that collection.
func (s *Sim) search(c *call, g grammar) response {
	body, err := parseObject(c.body)
	if err != nil {
		return c.badRequest(g.malformed("", ""))
	}
	filter := at(body, "/filter")
	if wrong := g.check(filter); len(wrong) > 0 {
		return c.badRequest(wrong...)
	}
	offset, limit, wrong := g.bounds(c, body)
	if len(wrong) > 0 {
		return c.badRequest(wrong...)
	}
	order, wrong := g.order(body)
	if len(wrong) > 0 {
		return c.badRequest(wrong...)
	}
	var found []doc
	for _, a := range slices.Backward(s.assets) { // the newest first where nothing else orders them
		if a.kind != g.kind || !s.indexed(c, a) {
			continue
		}
		if d := s.view(a, c.now); matches(d, filter) {
			found = append(found, d)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return order.less(found[i], found[j]) })
	rows := make([]any, len(found))
	for i, d := range found {
		rows[i] = d
	}
	return reply(http.StatusOK, page(rows, offset, limit, c.r.URL.Path))
}

// indexed says whether searches know a already.
func (s *Sim) indexed(c *call, a *asset) bool {
	from := a.searchable
	if slow := a.at.Add(c.slowIndex); a.created && slow.After(from) {
		from = slow
	}
	return !c.now.Before(from)
}

// matches evaluates a filter that passed its grammar; nil matches all.
func matches(d doc, filter any) bool {
	f, ok := filter.(doc)
	if !ok || len(f) == 0 {
		return true
	}
	if l, ok := f["and"].([]any); ok {
		return !slices.ContainsFunc(l, func(e any) bool { return !matches(d, e) })
	}
	if l, ok := f["or"].([]any); ok {
		return slices.ContainsFunc(l, func(e any) bool { return matches(d, e) })
	}
	property := text(f, "property")
	var got []any
	if property == "/*" {
		for _, p := range []string{"/name", "/uuid", "/type", "/state", "/location/metroCode", "/location/region"} {
			got = append(got, each(d, p)...)
		}
	} else {
		got = each(d, property)
	}
	operator, negated := strings.CutPrefix(text(f, "operator"), "NOT ")
	return holds(got, operator, list(f, "values")) != negated
}

// holds: one of the values that stand there is enough; != and NOT want none.
func holds(got []any, operator string, values []any) bool {
	if operator == "IS NULL" || operator == "IS NOT NULL" {
		return (len(got) == 0) == (operator == "IS NULL")
	}
	if operator == "!=" {
		return !holds(got, "=", values)
	}
	return slices.ContainsFunc(got, func(g any) bool { return compares(fmt.Sprint(g), operator, values) })
}

func compares(got, operator string, values []any) bool {
	if operator == "BETWEEN" {
		return len(values) == 2 && compare(got, fmt.Sprint(values[0])) >= 0 && compare(got, fmt.Sprint(values[1])) <= 0
	}
	return slices.ContainsFunc(values, func(v any) bool {
		want := fmt.Sprint(v)
		switch operator {
		case "=", "IN": // = with several values reads as IN
			return compare(got, want) == 0
		case ">":
			return compare(got, want) > 0
		case ">=":
			return compare(got, want) >= 0
		case "<":
			return compare(got, want) < 0
		case "<=":
			return compare(got, want) <= 0
		case "LIKE":
			return like(got, want)
		case "ILIKE", "ILKE": // the connections' schema has the second
			return like(strings.ToLower(got), strings.ToLower(want))
		}
		return false
	})
}

// like reads % as any text. A pattern without one is looked for anywhere.
func like(got, pattern string) bool {
	parts := strings.Split(pattern, "%")
	if len(parts) == 1 {
		return strings.Contains(got, pattern)
	}
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(got, p)
		if i < 0 {
			return false
		}
		got = got[i+len(p):]
	}
	return len(got) >= len(last) && strings.HasSuffix(got, last)
}
