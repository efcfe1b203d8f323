package fabric

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fabricbroker/broker"
)

// A search that goes on for longer than this has found too much to conclude
// anything from.
const (
	findLimit = 100
	findPages = 20
)

// searches are the collections that a create of each type may have added to.
var searches = map[broker.ChangeType]string{
	broker.ConnectionCreate: kindConnection, broker.NetworkCreate: kindNetwork,
	broker.ServiceTokenCreate: kindToken, broker.CloudRouterCreate: kindRouter,
}

// Find implements [broker.Provider]. It searches by name and project alone and
// compares the rest itself: a field that a row lacks neither confirms nor
// excludes, and states are not looked at, since what failed or was deleted was
// created too.
func (a *API) Find(ctx context.Context, s broker.Search) ([]broker.Asset, error) {
	body, err := decodeJSON(s.Body)
	if err != nil {
		return nil, fmt.Errorf("fabric: find: the request is not JSON: %w", err)
	}
	filter := []expression{match("/name", "=", s.Name)}
	if p := fieldText(body, "project.projectId"); p != "" {
		filter = append(filter, match("/project/projectId", "=", p))
	}
	rows, err := a.all(ctx, searches[s.ChangeType], filter, broker.Mask{})
	if err != nil {
		return nil, err
	}
	e := effects[s.ChangeType]
	fields := slices.Concat(e.must, e.may)
	// The API has been seen to return another connection type than it was sent.
	fields = slices.DeleteFunc(fields, func(f string) bool { return f == "type" && s.ChangeType == broker.ConnectionCreate })
	var found []broker.Asset
	for _, row := range rows {
		f := assetOf(row)
		switch {
		case f.UUID == "" || slices.Contains(s.Before, f.UUID):
		case !strings.EqualFold(f.Name, s.Name) && f.Name != "":
		case before(f.CreatedAt, s.Since):
		case !e.agrees(fields, body, row):
		default:
			found = append(found, f)
		}
	}
	return found, nil
}

// twins returns the assets that exist and have the effect of r. They are a
// warning to a person, so a search that fails finds none and is said in
// warnings by its caller.
func (a *API) twins(ctx context.Context, r broker.Request) ([]broker.Asset, error) {
	body, err := decodeJSON(r.Body)
	if err != nil {
		return nil, err
	}
	filter := twinFilter(r.ChangeType, body)
	if filter == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.o.LookupTimeout)
	defer cancel()
	rows, err := a.all(ctx, searches[r.ChangeType], filter, r.Mask())
	if err != nil {
		return nil, err
	}
	var found []broker.Asset
	for _, row := range rows {
		if exists(row) && effects[r.ChangeType].same(body, row) {
			found = append(found, assetOf(row))
		}
	}
	return found, nil
}

// twinFilter narrows the search for twins to what the API can search by. nil
// means that it cannot search by anything that would tell.
func twinFilter(t broker.ChangeType, body any) []expression {
	switch t {
	case broker.ConnectionCreate:
		return firstOf(body, onSides("", []string{
			"serviceToken.uuid", "accessPoint.port.uuid", "accessPoint.router.uuid", "accessPoint.virtualDevice.uuid",
		}))
	case broker.ServiceTokenCreate:
		for _, side := range []string{"connection.aSide.", "connection.zSide."} {
			if uuid := fieldText(body, side+"accessPointSelectors.port.uuid"); uuid != "" {
				return []expression{match("/"+strings.ReplaceAll(side, ".", "/")+"accessPointSelectors/port/uuid", "=", uuid)}
			}
		}
		return firstOf(body, []string{"project.projectId"})
	case broker.NetworkCreate, broker.CloudRouterCreate:
		filter := []expression{match("/name", "=", fieldText(body, "name"))}
		return append(filter, firstOf(body, []string{"project.projectId"})...)
	}
	return nil
}

func firstOf(body any, fields []string) []expression {
	for _, f := range fields {
		if v := fieldText(body, f); v != "" {
			return []expression{match("/"+strings.ReplaceAll(f, ".", "/"), "=", v)}
		}
	}
	return nil
}

// gone are the states of assets that do nothing any more.
var gone = []string{"DEPROVISIONED", "DEPROVISIONING", "DELETED", "CANCELLED", "FAILED", "EXPIRED", "REJECTED", "DRAFT"}

func exists(row any) bool {
	return !slices.Contains(gone, strings.ToUpper(fieldText(row, "state"))) &&
		!slices.Contains(gone, strings.ToUpper(fieldText(row, "operation.equinixStatus")))
}

func assetOf(row any) broker.Asset {
	return broker.Asset{
		UUID: fieldText(row, "uuid"), Name: clean(fieldText(row, "name"), 200),
		State: clean(fieldText(row, "state"), 60), Href: clean(fieldText(row, "href"), 300),
		CreatedAt: clean(createdAt(row), 40),
	}
}

func createdAt(row any) string {
	if t := fieldText(row, "changeLog.createdDateTime"); t != "" {
		return t
	}
	return fieldText(row, "changelog.createdDateTime") // tokens spell it so
}

// before reports whether created is certainly before since. A time in a form
// that is not known excludes nothing.
func before(created string, since time.Time) bool {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05.999Z0700", "2006-01-02 15:04:05.999Z0700"} {
		if t, err := time.Parse(layout, created); err == nil {
			return t.Before(since)
		}
	}
	return false
}

// all returns every row of a search, from every page. A page that fails fails
// it all: from a part nothing can be concluded.
func (a *API) all(ctx context.Context, kind string, filter []expression, m broker.Mask) ([]any, error) {
	var rows []any
	for range findPages {
		c, err := pageCall(kind, filter, len(rows))
		if err != nil {
			return nil, err
		}
		c.mask = m // an error may echo the filter, which may name a service token
		v, err := a.document(ctx, c)
		if err != nil {
			return nil, err
		}
		if _, isList := v.([]any); !isList && object(v)["data"] == nil {
			return nil, broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "%s was answered without a list", c.name)
		}
		got, total := page(v)
		rows = append(rows, got...)
		if len(got) == 0 || len(rows) >= total {
			return rows, nil
		}
	}
	return nil, broker.Refuse(broker.ErrUpstreamUnavailable, "look for it on the provider's side", "the search for it has more than %d results", findLimit*findPages)
}

func pageCall(kind string, filter []expression, offset int) (call, error) {
	doc := map[string]any{
		"filter":     map[string]any{"and": filter},
		"pagination": map[string]any{"offset": offset, "limit": findLimit},
	}
	if kind != kindToken { // tokens cannot be sorted
		// In the order of creation new rows come last and shift no page.
		doc["sort"] = []any{map[string]any{"property": "/changeLog/createdDateTime", "direction": "ASC"}}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return call{}, fmt.Errorf("fabric: find: %w", err)
	}
	c := call{method: http.MethodPost, path: collections[kind] + "/search", body: body, limit: maxRead, name: "searching " + spoken(kind) + "s"}
	if kind == kindToken {
		c.query = url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(findLimit)}}
	}
	return c, nil
}
