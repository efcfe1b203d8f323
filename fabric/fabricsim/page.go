package fabricsim

import (
	"fmt"
	"net/http"
	"strconv"
)

const (
	pageDefault = 20
	pageMax     = 100
	// The examples page through ports by the thousand.
	pageMaxPorts = 1000
)

// queryPage pages a list by the offset and limit of the query.
func (c *call) queryPage(rows []any) response {
	q := c.r.URL.Query()
	offset, limit := 0, pageDefault
	for _, p := range []struct {
		name string
		to   *int
		min  int
	}{{"offset", &offset, 0}, {"limit", &limit, 1}} {
		if v := q.Get(p.name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < p.min || p.name == "limit" && n > pageMaxPorts {
				return c.badRequest(outOfPage(plain("EQ-3000035", "Invalid request body"), p.name))
			}
			*p.to = n
		}
	}
	return reply(http.StatusOK, page(rows, offset, limit, c.r.URL.Path))
}

// page cuts rows; next and previous are relative URLs, as the API has them.
func page(rows []any, offset, limit int, path string) doc {
	total := len(rows)
	pagination := doc{"offset": offset, "limit": limit, "total": total}
	if offset+limit < total {
		pagination["next"] = fmt.Sprintf("%s?offset=%d&limit=%d", path, offset+limit, limit)
	}
	if offset > 0 {
		pagination["previous"] = fmt.Sprintf("%s?offset=%d&limit=%d", path, max(offset-limit, 0), limit)
	}
	from := min(offset, total)
	return doc{"pagination": pagination, "data": rows[from:min(from+limit, total)]}
}

func outOfPage(e apiError, name string) apiError {
	bound := map[string]string{"offset": "must be greater than or equal to 0", "limit": "must be between 1 and 100"}[name]
	e.Info = []errorInfo{{Property: "pagination." + name, Reason: bound}}
	return e
}
