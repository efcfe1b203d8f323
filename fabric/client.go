package fabric

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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

// answer is what came back. A body that ended early or was too long is kept as
// far as it was read, with broken set.
type answer struct {
	status int
	header http.Header
	body   []byte
	broken bool
}

func (n answer) ok() bool { return n.status >= 200 && n.status < 300 }

// correlation is the API's own name of the exchange.
func (a *API) correlation(n answer, m broker.Mask) string {
	for _, k := range []string{"Correlationid", "Correlation-Id", "X-Correlation-Id"} {
		if s := clean(a.session.scrub(m.Text(n.header.Get(k))), 100); s != "" {
			return s
		}
	}
	return ""
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

// readAnswer reads a response and closes it.
func readAnswer(resp *http.Response, limit int64) answer {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	n := answer{status: resp.StatusCode, header: resp.Header, body: body, broken: err != nil}
	if int64(len(body)) > limit {
		n.body, n.broken = body[:limit], true
	}
	return n
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

// reason is an error of net/http in plain words. The error's own text has the
// whole address in it, and with it ids that are secrets.
func reason(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it took too long"
	case errors.Is(err, errLate):
		return "the time to send had passed"
	case isCertificate(err):
		return "the server's certificate is not trusted"
	case isDial(err):
		return "no connection could be made"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	default:
		return "the connection failed"
	}
}

// describe says in one line what an answer was that cannot be used: its status,
// type and beginning.
func (a *API) describe(n answer, m broker.Mask) string {
	kind, _, err := mime.ParseMediaType(n.header.Get("Content-Type"))
	if err != nil || kind == "" {
		kind = "no content type"
	}
	s := strconv.Itoa(n.status)
	if t := http.StatusText(n.status); t != "" {
		s += " " + t
	}
	s += " (" + clean(a.session.scrub(m.Text(kind)), 60) + ")"
	if n.broken {
		s += ", cut off"
	}
	if e := a.excerpt(n, m); e != "" {
		s += ": " + e
	} else {
		s += " with an empty body"
	}
	if id := a.correlation(n, m); id != "" {
		s += ", correlation " + broker.QuoteMax(id, 100)
	}
	return s
}

// excerpt is the beginning of a body, as quoted data without markup.
func (a *API) excerpt(n answer, m broker.Mask) string {
	s := string(n.body[:min(len(n.body), 8<<10)])
	if _, err := decodeJSON(n.body); err == nil {
		s = string(m.JSON(n.body)) // it knows secrets that are escaped, too
	} else if t := strings.TrimSpace(s); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		s = stripTags(s)
	}
	s = clean(a.session.scrub(m.Text(s)), 4<<10)
	if s == "" {
		return ""
	}
	return broker.QuoteMax(s, 200)
}

func stripTags(s string) string {
	var b strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<':
			depth++
			b.WriteByte(' ')
		case r == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}
