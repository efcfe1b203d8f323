package fabricsim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/google/uuid"
)

// response is a whole answer, before a fault gets at it.
type response struct {
	status int
	header http.Header
	body   []byte
}

func reply(status int, v any) response {
	return response{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: encode(v)}
}

// encode panics only for a bug of ours: documents hold nothing that JSON cannot.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("fabricsim: a document that does not encode: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// write sends r. The history knows the status before the client does, so that a
// test that has its answer finds it there.
func (s *Sim) write(w http.ResponseWriter, c *call, r response) {
	s.head(w, c, r)
	w.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // a client that is gone is no failure of the server's
}

func (s *Sim) head(w http.ResponseWriter, c *call, r response) {
	s.conclude(c, r.status)
	h := w.Header()
	h.Set("Date", c.now.UTC().Format(http.TimeFormat))
	h.Set("Correlationid", c.correlation)
	if id := c.r.Header.Get("X-Correlation-Id"); id != "" {
		h.Set("X-Correlation-Id", id)
	}
	for k, v := range r.header {
		h[k] = v
	}
}

func correlation(r *http.Request) string {
	if id := r.Header.Get("X-Correlation-Id"); id != "" {
		return id
	}
	return uuid.NewString()
}
