package fabric

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// errLate ends a request whose first byte would have left too late.
var errLate = errors.New("fabric: the time to send had passed")

var errSealed = errors.New("fabric: the request was given up before it was sent")

// shot is one request on a connection of its own that nobody else uses: HTTP/1.1,
// sent once, whatever happens. It knows whether a byte of it can have left.
type shot struct {
	now    func() time.Time
	sendBy time.Time // zero = any time

	mu      sync.Mutex
	armed   bool  // the connection stands: what is written now is the request
	written bool  // a write of the request was begun
	sealed  error // no write may begin any more
}

// fire sends c once. sent is false only if no byte of the request can have left;
// then err says why. A nil err means that an answer came.
func (a *API) fire(ctx context.Context, c call, bearer string, sendBy time.Time) (n answer, sent bool, err error) {
	s := &shot{now: a.o.Now, sendBy: sendBy}
	if s.late() {
		return answer{}, false, errLate
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.arm() }})
	req, err := a.request(ctx, c, bearer)
	if err != nil {
		return answer{}, false, err
	}
	t, done := a.shotTransport(s)
	defer done()
	began := a.o.Now()
	if err := ctx.Err(); err != nil {
		return answer{}, false, err
	}
	// No http.Client: there is nothing to follow, no cookie to keep.
	resp, err := t.RoundTrip(req) //nolint:bodyclose // readAnswer closes it
	if err != nil {
		sent = s.seal()
		switch {
		case errors.Is(s.sealed, errLate):
			err = errLate // net/http wraps it in words of its own
		case a.o.Transport != nil:
			sent = !isDial(err)
		}
		a.logCall(ctx, c, began, "error", reason(err))
		return answer{}, sent, err
	}
	n = readAnswer(resp, c.limit)
	a.logCall(ctx, c, began, "status", n.status)
	return n, true, nil
}

// shotTransport returns a transport for one request. A transport that is used
// once has no second connection to replay a request on.
func (a *API) shotTransport(s *shot) (http.RoundTripper, func()) {
	if a.o.Transport != nil {
		return a.o.Transport, func() {}
	}
	only1 := new(http.Protocols)
	only1.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: dialTimeout}
	t := &http.Transport{
		// Beyond loopback the API is https, so that a proxy only ever sees a
		// tunnel: it can neither read a create nor repeat it.
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &shotConn{Conn: conn, s: s}, nil
		},
		TLSClientConfig:        a.tls,
		TLSHandshakeTimeout:    dialTimeout,
		Protocols:              only1,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return t, t.CloseIdleConnections
}

// late compares wall clocks: a monotonic clock stands still while a laptop sleeps.
func (s *shot) late() bool {
	return !s.sendBy.IsZero() && s.now().Round(0).After(s.sendBy.Round(0))
}

func (s *shot) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = true
}

// begin decides whether a write may begin. Handshakes always may.
func (s *shot) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sealed != nil:
		return s.sealed
	case !s.armed || s.written:
		return nil
	case s.late():
		s.sealed = errLate
		return errLate
	}
	s.written = true
	return nil
}

// seal reports whether a write of the request was begun, and if not, makes sure
// that none ever is.
func (s *shot) seal() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.written && s.sealed == nil {
		s.sealed = errSealed
	}
	return s.written
}

// shotConn asks its shot before each write.
type shotConn struct {
	net.Conn
	s *shot
}

func (c *shotConn) Write(p []byte) (int, error) {
	if err := c.s.begin(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
