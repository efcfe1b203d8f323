package fabric

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

// The kinds of asset that can be read.
const (
	kindConnection = "connection"
	kindNetwork    = "network"
	kindToken      = "service_token"
	kindRouter     = "cloud_router"
	kindPort       = "port"
	kindProfile    = "service_profile"
)

// collections are the paths of the kinds.
var collections = map[string]string{ //nolint:gosec // paths, no credentials
	kindConnection: "/fabric/v4/connections",
	kindNetwork:    "/fabric/v4/networks",
	kindToken:      "/fabric/v4/serviceTokens",
	kindRouter:     "/fabric/v4/routers",
	kindPort:       "/fabric/v4/ports",
	kindProfile:    "/fabric/v4/serviceProfiles",
}

// Kinds returns the kinds that [API.Search] and [API.Get] know.
func Kinds() []string {
	return []string{kindConnection, kindNetwork, kindToken, kindRouter, kindPort, kindProfile}
}

func spoken(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

func checkKind(kind string) error {
	if slices.Contains(Kinds(), kind) {
		return nil
	}
	return broker.Refuse(broker.ErrInvalidArguments, "pass one of these kinds: "+strings.Join(Kinds(), ", "), "kind %s is not known", broker.Quote(kind))
}

// isID reports whether s may become part of a path.
func isID(s string) bool {
	return len(s) >= 8 && len(s) <= 64 && onlyHas(s, "-")
}

// onlyHas reports whether s is letters, digits and others only.
func onlyHas(s, others string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte(others, c) >= 0:
		default:
			return false
		}
	}
	return true
}

// readCall reads one asset. The name of the call tells no token's id.
func readCall(kind, uuid string) call {
	c := call{
		method: http.MethodGet, path: collections[kind] + "/" + uuid, limit: maxRead,
		name: "reading " + spoken(kind) + " " + uuid,
	}
	if kind == kindToken {
		c.name = "reading " + spoken(kind) + " " + broker.MaskValue(uuid)
		c.mask = broker.NewMask([]byte(`["`+uuid+`"]`), []string{"/0"})
	}
	return c
}

// Get returns one asset as the API has it, with its secrets masked. Its errors
// are *broker.Refusals: invalid_arguments, not_found, the upstream codes.
func (a *API) Get(ctx context.Context, kind, uuid string) (map[string]any, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	if !isID(uuid) {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "pass the uuid as a search returns it", "the uuid is not one: 8 to 64 letters, digits and hyphens")
	}
	v, err := a.document(ctx, readCall(kind, uuid))
	if err != nil {
		return nil, err
	}
	o := object(v)
	if o == nil {
		return nil, broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "the answer is not an object")
	}
	return redact(kind, o), nil
}

// ListMetros returns the metros of Fabric, every page of them.
func (a *API) ListMetros(ctx context.Context) ([]map[string]any, error) {
	const limit, most = 100, 10
	items := []map[string]any{}
	for range most {
		v, err := a.document(ctx, call{
			method: http.MethodGet, path: "/fabric/v4/metros", limit: maxRead, name: "listing metros",
			query: url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(len(items))}},
		})
		if err != nil {
			return nil, err
		}
		rows, total := page(v)
		for _, m := range rows {
			items = append(items, metroItem(m))
		}
		if len(rows) == 0 || len(items) >= total {
			break
		}
	}
	return items, nil
}

// page returns the rows of an answer to a search and how many there are in all.
// Some answers are the bare list.
func page(v any) (rows []any, total int) {
	rows, ok := v.([]any)
	if !ok {
		rows = list(object(v)["data"])
	}
	n, ok := number(at(v, "pagination", "total"))
	if !ok || n < int64(len(rows)) || n > 1<<30 {
		n = int64(len(rows))
	}
	return rows, int(n)
}
