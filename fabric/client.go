package fabric

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"fabricbroker/broker"
)

const (
	maxRead   = 4 << 20
	maxCreate = 1 << 20
)

// call is one request to the API.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	limit        int64 // of the answer's bytes
	correlation  string
	// name is what messages and logs call it: a path may hold a secret. mask
	// knows that secret, and others that the answer may repeat.
	name string
	mask broker.Mask
}

// request builds c with exact bytes. GetBody stays nil, so that nothing in
// net/http can send the body a second time.
func (a *API) request(ctx context.Context, c call, bearer string) (*http.Request, error) {
	u := *a.base
	u.Path, u.RawQuery = c.path, c.query.Encode()
	req, err := http.NewRequestWithContext(ctx, c.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if c.body != nil {
		req.Body = io.NopCloser(bytes.NewReader(c.body))
		req.ContentLength = int64(len(c.body))
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", a.o.UserAgent)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if c.correlation != "" {
		req.Header.Set("X-Correlation-Id", c.correlation)
	}
	return req, nil
}

// fetch makes a read that may be repeated. A 401 is answered with one new log-in
// and one more try. Its errors are *broker.Refusals; every answer that arrived,
// whatever its status, is none.
func (a *API) fetch(ctx context.Context, c call) (answer, error) {
	return a.authorized(ctx, func(bearer string) (answer, error) {
		began := a.o.Now()
		req, err := a.request(ctx, c, bearer)
		if err != nil {
			return answer{}, err
		}
		again, err := retryablehttp.FromRequest(req)
		if err != nil {
			return answer{}, err
		}
		resp, err := a.reads.Do(again)
		if err != nil {
			if resp != nil {
				_ = resp.Body.Close()
			}
			a.logCall(ctx, c, began, "error", reason(err))
			return answer{}, unreachable(c, err)
		}
		n := readAnswer(resp, c.limit)
		a.logCall(ctx, c, began, "status", n.status)
		return n, nil
	})
}

// authorized calls send with a bearer token, and once more with a new one where
// the first was answered 401.
func (a *API) authorized(ctx context.Context, send func(bearer string) (answer, error)) (answer, error) {
	rejected := ""
	for {
		bearer, err := a.session.bearer(ctx, readMargin, rejected)
		if err != nil {
			return answer{}, err
		}
		n, err := send(bearer)
		if err != nil || n.status != http.StatusUnauthorized || rejected != "" || !a.session.renews() {
			return n, err
		}
		rejected = bearer
	}
}

// document makes a read and returns the JSON object or list that came.
func (a *API) document(ctx context.Context, c call) (any, error) {
	n, err := a.fetch(ctx, c)
	if err != nil {
		return nil, err
	}
	if !n.ok() {
		return nil, a.refused(c, n)
	}
	v, err := decodeJSON(n.body)
	if err != nil || n.broken {
		return nil, broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "%s was answered %s", c.name, a.describe(n, c.mask))
	}
	return v, nil
}

func (a *API) logCall(ctx context.Context, c call, began time.Time, key string, value any) {
	a.o.Log.DebugContext(ctx, "fabric call", "method", c.method, "call", c.name, key, value, "took", a.o.Now().Sub(began))
}

// unreachable says that no answer came.
func unreachable(c call, err error) *broker.Refusal {
	return broker.Refuse(broker.ErrUpstreamUnavailable,
		"try again in a moment; where it stays so, check the network and EQUINIX_API_ENDPOINT",
		"%s got no answer: %s", c.name, reason(err))
}
