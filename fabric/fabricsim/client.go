package fabricsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Client returns an HTTP client that calls the simulator without a socket,
// whatever host a request names. It follows no redirect.
func (s *Sim) Client() *http.Client {
	return &http.Client{
		Transport:     s.RoundTripper(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RoundTripper calls the handler in the goroutine of the request. It honours the
// request's context, also while a fault delays or hangs. A dropped connection is
// an error that wraps io.ErrUnexpectedEOF, before the answer or, where it was
// truncated, while reading the body. Make the Sim inside the synctest bubble
// that uses it.
func (s *Sim) RoundTripper() http.RoundTripper { return roundTripper{s} }

type roundTripper struct{ sim *Sim }

func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.RequestURI = req.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	w := &recorder{header: http.Header{}}
	dropped := t.serve(w, in)
	if err := req.Context().Err(); err != nil && (dropped || w.status == 0) {
		return nil, err
	}
	if dropped && w.status == 0 {
		return nil, fmt.Errorf("fabricsim: connection dropped: %w", io.ErrUnexpectedEOF)
	}
	length, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64)
	if err != nil {
		length = int64(w.body.Len())
	}
	return &http.Response{
		Status:     strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.header,
		Body:          &answerBody{Reader: bytes.NewReader(w.body.Bytes()), cut: dropped},
		ContentLength: length,
		Request:       req,
	}, nil
}

// serve reports whether the handler dropped the connection.
func (t roundTripper) serve(w http.ResponseWriter, r *http.Request) (dropped bool) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case isAbort(p):
			dropped = true
		default:
			panic(p)
		}
	}()
	t.sim.ServeHTTP(w, r)
	return false
}

func isAbort(p any) bool {
	err, ok := p.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// answerBody ends as a broken connection does where it was cut.
type answerBody struct {
	io.Reader
	cut bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) && b.cut {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *answerBody) Close() error { return nil }
