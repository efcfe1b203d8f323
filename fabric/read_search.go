package fabric

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

// SearchQuery says what to search for. Empty fields select everything.
type SearchQuery struct {
	Kind string
	// Name is a part of the name for connections, networks, service tokens and
	// cloud routers, and the whole name for ports and service profiles, whose
	// searches know nothing else.
	Name      string
	MetroCode string
	State     string
	ProjectID string // cloud routers cannot be searched without one
	Limit     int    // 0 = 20, at most 100
	Offset    int
}

// SearchPage is one page of what was found.
type SearchPage struct {
	Kind       string           `json:"kind"`
	Items      []map[string]any `json:"items"`
	Total      int              `json:"total"`
	Offset     int              `json:"offset"`
	NextOffset *int             `json:"next_offset"` // nil = this was the last page
}

type expression map[string]any

func match(property, operator string, values ...string) expression {
	return expression{"property": property, "operator": operator, "values": values}
}

// Search returns one page of assets. Its errors are *broker.Refusals:
// invalid_arguments and the upstream codes.
func (a *API) Search(ctx context.Context, q SearchQuery) (SearchPage, error) {
	if q.Limit == 0 {
		q.Limit = 20
	}
	if err := q.check(); err != nil {
		return SearchPage{}, err
	}
	c, err := q.call()
	if err != nil {
		return SearchPage{}, err
	}
	v, err := a.document(ctx, c)
	if err != nil {
		return SearchPage{}, err
	}
	rows, total := page(v)
	if c.method == http.MethodGet { // all ports at once: the page is ours
		total = len(rows)
		rows = rows[min(q.Offset, total):min(q.Offset+q.Limit, total)]
	}
	p := SearchPage{Kind: q.Kind, Items: []map[string]any{}, Total: max(total, q.Offset), Offset: q.Offset}
	if len(rows) > 0 {
		p.Total = max(total, q.Offset+len(rows))
	}
	for _, row := range rows[:min(len(rows), q.Limit)] {
		p.Items = append(p.Items, item(q.Kind, row))
	}
	if next := q.Offset + len(p.Items); len(p.Items) > 0 && next < p.Total {
		p.NextOffset = &next
	}
	return p, nil
}

func (q SearchQuery) check() error {
	if err := checkKind(q.Kind); err != nil {
		return err
	}
	refuse := func(next, format string, args ...any) error {
		return broker.Refuse(broker.ErrInvalidArguments, next, format, args...)
	}
	switch {
	case q.Limit < 1 || q.Limit > 100:
		return refuse("pass a limit from 1 to 100", "limit %d is out of range", q.Limit)
	case q.Offset < 0 || q.Offset > 1<<20:
		return refuse("pass an offset from 0 on", "offset %d is out of range", q.Offset)
	case q.Kind == kindRouter && q.ProjectID == "":
		return refuse("pass project_id", "cloud routers can only be searched within a project: project_id is needed")
	case q.Kind == kindToken && q.MetroCode != "":
		return refuse("leave metro_code out", "service tokens cannot be searched by metro_code")
	}
	for _, s := range []string{q.Name, q.MetroCode, q.State, q.ProjectID} {
		if len(s) > 200 || clean(s, 200) != s {
			return refuse("pass it as the API shows it", "a search value is longer than 200 bytes or has blanks or invisible characters that cannot be in it")
		}
	}
	return nil
}

// call puts the query in the grammar of its resource.
func (q SearchQuery) call() (call, error) {
	var and []expression
	add := func(value, property, operator string) {
		if value != "" {
			and = append(and, match(property, operator, value))
		}
	}
	metro := "/location/metroCode"
	switch q.Kind {
	case kindConnection, kindNetwork, kindToken:
		add(q.Name, "/name", "LIKE") // by itself it means contains
	case kindRouter:
		name := q.Name
		if name != "" {
			name = "%" + name + "%" // here it does not
		}
		add(name, "/name", "LIKE")
	case kindPort:
		add(q.Name, "/name", "=")
	case kindProfile:
		metro = "/metros/code"
		add(q.Name, "/name", "=")
	}
	if q.Kind == kindConnection && q.MetroCode != "" {
		m := strings.ToUpper(q.MetroCode)
		and = append(and, expression{"or": []expression{
			match("/aSide/accessPoint/location/metroCode", "=", m), match("/zSide/accessPoint/location/metroCode", "=", m),
		}})
	} else {
		add(strings.ToUpper(q.MetroCode), metro, "=")
	}
	add(strings.ToUpper(q.State), "/state", "=")
	add(q.ProjectID, "/project/projectId", "=")

	name := "searching " + spoken(q.Kind) + "s"
	if q.Kind == kindPort && len(and) == 0 {
		// This search demands a filter; the plain list does not.
		return call{method: http.MethodGet, path: collections[kindPort], limit: maxRead, name: name}, nil
	}
	doc := map[string]any{"pagination": map[string]any{"offset": q.Offset, "limit": q.Limit}}
	if len(and) > 0 {
		doc["filter"] = map[string]any{"and": and}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return call{}, err
	}
	c := call{method: http.MethodPost, path: collections[q.Kind] + "/search", body: body, limit: maxRead, name: name}
	if q.Kind == kindToken { // its paging stands in the query
		c.query = url.Values{"offset": {strconv.Itoa(q.Offset)}, "limit": {strconv.Itoa(q.Limit)}}
	}
	return c, nil
}
