package fabric

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"fabricbroker/broker"
)

// refuser is a TLS server which tells every HTTP/2 request to come again, as
// Go's client then does without being asked. It answers HTTP/1.1 with a 201.
type refuser struct {
	// refuse ends stream id without an answer.
	refuse   func(f *http2.Framer, id uint32) error
	one, two atomic.Int64 // requests by HTTP version
}

func (s *refuser) serve(t *testing.T) (url string, roots *x509.CertPool) {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.one.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"uuid":"b7011bd7-a73b-5118-a556-5bda09c0d8bf"}`)
	}))
	srv.EnableHTTP2 = true
	srv.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { s.talk2(c) },
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots = x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return srv.URL, roots
}

func (s *refuser) talk2(c net.Conn) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	if f.WriteSettings() != nil {
		return
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		h, ok := frame.(*http2.HeadersFrame)
		if !ok {
			continue
		}
		end := s.refuse
		if s.two.Add(1) > 1 { // replayed: that is all there is to see
			end = func(f *http2.Framer, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeInternal) }
		}
		if end(f, h.StreamID) != nil {
			return
		}
	}
}

var goAgains = map[string]func(*http2.Framer, uint32) error{
	"REFUSED_STREAM": func(f *http2.Framer, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeRefusedStream) },
	"GOAWAY": func(f *http2.Framer, _ uint32) error {
		if err := f.WriteGoAway(0, http2.ErrCodeNo, nil); err != nil {
			return err
		}
		return io.EOF
	},
}

// I2: a server that says in HTTP/2 that it did not process a create, which Go's
// client takes as leave to send it again, never gets a second one: a create
// does not speak HTTP/2.
func TestCreateIsNotReplayedOverHTTP2(t *testing.T) {
	for name, refuse := range goAgains {
		t.Run(name, func(t *testing.T) {
			s := &refuser{refuse: refuse}
			url, roots := s.serve(t)
			a, err := New(Options{Endpoint: url, Token: broker.NewSecret("token-token")})
			if err != nil {
				t.Fatal(err)
			}
			a.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
			got := a.Create(t.Context(), someRequest, "p", time.Now().Add(time.Minute))
			if got.Outcome != broker.OutcomeCreated || s.one.Load() != 1 || s.two.Load() != 0 {
				t.Errorf("got %+v after %d requests of HTTP/1.1 and %d of HTTP/2", got, s.one.Load(), s.two.Load())
			}

			// The same server and an ordinary client: the danger is real.
			stock := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: a.tls.Clone(), ForceAttemptHTTP2: true}}
			defer stock.CloseIdleConnections()
			resp, err := stock.Post(url, "application/json", strings.NewReader(`{}`))
			if err == nil {
				_ = resp.Body.Close()
			}
			if s.two.Load() < 2 {
				t.Errorf("an ordinary client sent %d requests, so that this test shows nothing", s.two.Load())
			}
		})
	}
}
