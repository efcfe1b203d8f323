package remote

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// writeTimeout is how long one write may take. It is set before each write, so
// that a stream may wait for ever and a reader may not. Tests shorten it.
var writeTimeout = 30 * time.Second

// stream is the response to one request. It keeps an event stream alive with
// comments while nothing else is written: proxies and clients give up on
// connections that are silent for long.
type stream struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	every time.Duration
	// sending is called with the header before it is sent.
	sending func(status int, h http.Header)
	// comments has comments written from the response's beginning on.
	comments bool

	// header is the handler's own. The real one is written at once when the
	// response begins, which a comment may have to do.
	header http.Header

	mu      sync.Mutex
	status  int // 0 before the response has begun
	events  bool
	inside  bool // an event has begun and not ended
	late    bool // an error came after a comment had begun the response
	last    time.Time
	waiting bool // comments are being written
	ended   bool
	stop    chan struct{}
}

func newStream(w http.ResponseWriter, every time.Duration, sending func(int, http.Header)) *stream {
	return &stream{
		w: w, rc: http.NewResponseController(w), every: every, sending: sending,
		header: http.Header{}, stop: make(chan struct{}),
	}
}

// Header implements http.ResponseWriter.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.begin(status, s.header)
		return
	}
	// The SDK answers some errors with a status of their own. Where a comment
	// was faster, the error has to become an event of the stream.
	s.late = s.late || s.events && status != http.StatusOK
}

// begin sends the header. mu is held.
func (s *stream) begin(status int, h http.Header) {
	maps.Copy(s.w.Header(), h)
	s.status = status
	s.events = isEvents(h)
	if s.events {
		s.w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the prompt to itself
	}
	if s.sending != nil {
		s.sending(status, s.w.Header())
	}
	s.deadline()
	s.w.WriteHeader(status)
	s.last = time.Now()
	if s.comments {
		s.start(h)
	}
}

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.begin(http.StatusOK, s.header)
	}
	given := len(p)
	p = withoutSecrets(p)
	if s.late {
		p = slices.Concat([]byte("event: message\ndata: "), bytes.TrimSpace(p), []byte("\n\n"))
	}
	s.deadline()
	n, err := s.w.Write(p)
	if n > 0 {
		s.inside = !bytes.HasSuffix(p, []byte("\n\n"))
		s.last = time.Now()
	}
	if err != nil {
		return min(n, given), err
	}
	return given, nil
}

// FlushError is what http.ResponseController calls.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline()
	return s.rc.Flush()
}

// deadline gives the next write its time. A writer that has none is a test's.
func (s *stream) deadline() { _ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)) }

func isEvents(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// end is called when the handler returns: nothing may be written after it. What
// is still buffered gets the time of one write.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	close(s.stop)
	s.deadline()
}
