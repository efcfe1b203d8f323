package fabricsim

import (
	"bytes"
	"net/http"
	"strconv"
)

const errorPage = `<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><p>The upstream server did not answer.</p></body></html>
`

// enact answers as the fault says.
func (s *Sim) enact(w http.ResponseWriter, c *call, do Action) {
	switch do.Kind {
	case FaultStatus:
		s.write(w, c, do.response(http.StatusOK))
	case FaultReset:
		s.drop(w)
	case FaultCommitThenReset:
		s.answer(c)
		s.drop(w)
	case FaultCommitThenHang:
		s.answer(c)
		select {
		case <-c.r.Context().Done():
		case <-s.closed:
		}
		s.drop(w)
	case FaultCommitThenStatus:
		s.answer(c)
		s.write(w, c, do.response(http.StatusGatewayTimeout))
	case FaultEmptyBody:
		r := s.answerWithout(c, do)
		r.body, r.header = nil, nil
		s.write(w, c, r)
	case FaultHTML:
		if do.Status == 0 {
			do.Status = http.StatusBadGateway
		}
		r := s.answerWithout(c, do)
		r.body, r.header = []byte(errorPage), http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		s.write(w, c, r)
	case FaultTruncated:
		s.truncate(w, c, s.answerWithout(c, do), do.Bytes)
	case FaultUnknownState:
		s.write(w, c, withState(s.answer(c), do.State))
	case FaultIgnoreDryRun:
		c.dryRun = false
		s.write(w, c, s.answer(c))
	case FaultRedirect:
		to := do.Location
		if to == "" {
			to = c.r.URL.Path
		}
		r := do.response(http.StatusTemporaryRedirect)
		r.header.Set("Location", to)
		s.write(w, c, r)
	case FaultDelay, FaultSlowIndex:
		panic("fabricsim: " + string(do.Kind) + " ends no request")
	}
}

// answerWithout is the answer of a request that is carried out only where the
// fault commits.
func (s *Sim) answerWithout(c *call, do Action) response {
	c.discard = !do.Commit
	r := s.answer(c)
	if do.Status != 0 {
		r.status = do.Status
	}
	return r
}

// truncate announces all of r and stops after n bytes.
func (s *Sim) truncate(w http.ResponseWriter, c *call, r response, n int) {
	s.head(w, c, r)
	whole := len(r.body)
	if n >= whole {
		whole = n + 1 // also then the announced end must not come
	}
	w.Header().Set("Content-Length", strconv.Itoa(whole))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body[:min(n, len(r.body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// drop ends the connection without an answer: with a TCP reset where there is a
// socket.
func (s *Sim) drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// withState puts another word where the answer has a state.
func withState(r response, state string) response {
	v, err := parseJSON(r.body)
	if err != nil || r.status >= http.StatusMultipleChoices {
		return r
	}
	d, ok := v.(doc)
	if !ok {
		return r
	}
	if _, isList := d["data"].([]any); isList {
		for _, e := range list(d, "data") {
			if row, ok := e.(doc); ok {
				row["state"] = state
			}
		}
	} else {
		d["state"] = state
	}
	r.body = bytes.Clone(encode(d))
	return r
}
