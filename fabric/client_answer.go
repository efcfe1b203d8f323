package fabric

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

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
