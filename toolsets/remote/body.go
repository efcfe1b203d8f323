package remote

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

const maxBody = 4 << 20

// bodyTimeout is how long a body may take. Tests shorten it.
var bodyTimeout = 30 * time.Second

// body reads the whole body of r within its size and time and puts it back, or
// answers the request and returns false. The deadline of reading ends with it:
// left standing, it would end a call that waits for a person.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, true
	}
	if r.ContentLength > maxBody {
		tooLarge(w)
		return nil, false
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // a test's writer has none
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		w.Header().Set("Connection", "close")
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			tooLarge(w)
		} else {
			http.Error(w, "the request body did not arrive whole in time", http.StatusRequestTimeout)
		}
		return nil, false
	}
	_ = rc.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(b))
	r.ContentLength = int64(len(b))
	return b, true
}

func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close") // the rest of it is not read
	http.Error(w, "the request body is larger than 4 MiB", http.StatusRequestEntityTooLarge)
}
