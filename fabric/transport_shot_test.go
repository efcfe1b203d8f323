package fabric

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
)

func tlsAPI(t *testing.T, h http.Handler, trust bool) (*API, *httptest.Server) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	a, err := New(Options{Endpoint: srv.URL, Token: broker.NewSecret("token-token")})
	if err != nil {
		t.Fatal(err)
	}
	if trust {
		roots := x509.NewCertPool()
		roots.AddCert(srv.Certificate())
		a.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		a.reads = a.readClient()
	}
	return a, srv
}

var someRequest = broker.Request{
	ChangeType: broker.NetworkCreate, Name: "n", Method: http.MethodPost, Path: "/fabric/v4/networks", Body: []byte(`{"name":"n","type":"EVPLAN"}`),
}

// HTTP/2 replays requests on its own, so that a create never speaks it, even to
// a server that would like to.
func TestCreateSpeaksHTTP1(t *testing.T) {
	var versions [2]atomic.Int64
	a, _ := tlsAPI(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			versions[0].Store(int64(r.ProtoMajor))
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"uuid":"b7011bd7-a73b-5118-a556-5bda09c0d8bf"}`))
			return
		}
		versions[1].Store(int64(r.ProtoMajor))
		_, _ = w.Write([]byte(`{}`))
	}), true)
	got := a.Create(t.Context(), someRequest, "p", time.Now().Add(time.Minute))
	_, err := a.Get(t.Context(), kindPort, "f768064f-9585-47ad-a39e-ed24c2c063fe")
	if got.Outcome != broker.OutcomeCreated || versions[0].Load() != 1 || versions[1].Load() != 2 || err != nil {
		t.Errorf("got %+v, %v, HTTP/%d and HTTP/%d", got, err, versions[0].Load(), versions[1].Load())
	}
}

// A TLS handshake writes bytes, but none of the request.
func TestTLSFailureIsNotSent(t *testing.T) {
	var requests atomic.Int64
	a, _ := tlsAPI(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }), false)
	got := a.Create(t.Context(), someRequest, "p", time.Now().Add(time.Minute))
	if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrUpstreamUnavailable || requests.Load() != 0 {
		t.Errorf("got %+v", got)
	}
}

// I6: the last moment is asked for when the first byte leaves, not before the
// dial.
func TestSendByHoldsAtTheFirstByte(t *testing.T) {
	var requests atomic.Int64
	a, _ := tlsAPI(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }), true)
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	var asked atomic.Int64
	a.o.Now = func() time.Time { return start.Add(time.Duration(asked.Add(1)) * time.Second) }
	got := a.Create(t.Context(), someRequest, "p", start.Add(3*time.Second))
	if got.Outcome != broker.OutcomeNotSent || got.Code != broker.ErrTokenExpired || requests.Load() != 0 {
		t.Errorf("got %+v after %d requests", got, requests.Load())
	}
}

// What was given up before it was written is never written afterwards.
func TestSealedShot(t *testing.T) {
	s := &shot{now: time.Now}
	if s.begin() != nil {
		t.Error("a handshake was held up")
	}
	s.arm()
	if s.seal() {
		t.Error("nothing was written yet")
	}
	if err := s.begin(); !errors.Is(err, errSealed) {
		t.Errorf("a write after the seal: %v", err)
	}
	if s := (&shot{now: time.Now, armed: true}); s.begin() != nil || !s.seal() || s.begin() != nil {
		t.Error("a write that began goes on")
	}
}

// A cancelled call that never got a connection sent nothing.
func TestCancelledDialIsNotSent(t *testing.T) {
	a, _ := tlsAPI(t, http.NotFoundHandler(), true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := a.Create(ctx, someRequest, "p", time.Now().Add(time.Minute)); got.Outcome != broker.OutcomeNotSent {
		t.Errorf("got %+v", got)
	}
}
