package fabric_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

func withToken(o *fabric.Options) {
	o.ClientID, o.ClientSecret, o.Token = "", broker.Secret{}, broker.NewSecret(fabricsim.StaticToken)
}

// rawServer accepts connections and hands each to serve.
func rawServer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return "http://" + l.Addr().String()
}

// A server that keeps connections alive, takes the whole second request on one
// and resets: where a transport reuses connections it is in doubt what the
// client may repeat. Ours never does (I2).
func TestOnePostThoughTheConnectionDies(t *testing.T) {
	var posts, conns atomic.Int64
	url := rawServer(t, func(c net.Conn) {
		conns.Add(1)
		br := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(br)
			if err != nil {
				_ = c.Close()
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if req.Method == http.MethodPost && req.URL.RawQuery == "" {
				posts.Add(1)
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
				return
			}
			_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
	api := newAPI(t, url, withToken)
	for range 3 {
		_, _ = api.Get(t.Context(), "port", portDC)
	}
	before := conns.Load()
	got := api.Create(t.Context(), compiled(t, api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
	if got.Outcome != broker.OutcomeUnknown || posts.Load() != 1 || conns.Load() != before+1 {
		t.Errorf("got %+v after %d creates on %d new connections", got, posts.Load(), conns.Load()-before)
	}
}

// A connection that dies after any number of bytes of the request is an unknown
// outcome and one attempt. Where not even one byte was read it still may have
// been: the kernel took it.
func TestResetAtAnyByte(t *testing.T) {
	for _, limit := range []int64{0, 1, 17, 300, 420, 1 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			var attempts atomic.Int64
			url := rawServer(t, func(c net.Conn) {
				attempts.Add(1)
				_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				_, _ = io.CopyN(io.Discard, c, limit)
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			})
			api := newAPI(t, url, withToken)
			got := api.Create(t.Context(), compiled(t, api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
			if got.Outcome == broker.OutcomeCreated || got.Outcome == broker.OutcomeRejected || limit > 0 && got.Outcome != broker.OutcomeUnknown {
				t.Errorf("got %+v", got)
			}
			if attempts.Load() != 1 {
				t.Errorf("%d attempts, want 1", attempts.Load())
			}
		})
	}
}

// No redirect is followed, by any kind of call: it may lead elsewhere with the
// body and the credentials, or drop the query that makes a dry run one.
func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"", other.URL + "/fabric/v4/networks"} {
			t.Run(fmt.Sprintf("%d to %q", code, to), func(t *testing.T) {
				r := newRig(t)
				req := compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))
				do := fabricsim.Action{Kind: fabricsim.FaultRedirect, Status: code, Location: to}
				r.fail("POST", "/oauth2/v1/token", nil, do, 1)
				if _, err := r.api.Get(t.Context(), "port", portDC); refusal(t, err).Code != broker.ErrUpstreamUnauthorized {
					t.Errorf("log-in: %v", err)
				}
				r.fail("POST", "/fabric/v4/networks", nil, do, 0)
				r.fail("GET", "/fabric/v4/ports/*", nil, do, 0)
				if _, err := r.api.Validate(t.Context(), req); refusal(t, err).Code != broker.ErrDryRunUnclear {
					t.Errorf("dry run: %v", err)
				}
				if got := r.api.Create(t.Context(), req, "p", soon()); got.Outcome != broker.OutcomeUnknown {
					t.Errorf("create: %+v", got)
				}
				if _, err := r.api.Get(t.Context(), "port", portDC); refusal(t, err).Code != broker.ErrUpstreamUnavailable {
					t.Errorf("read: %v", err)
				}
				if a, b, c := r.count("POST", "/fabric/v4/networks"), r.count("POST", "/fabric/v4/networks?dryRun=true"), r.count("GET", "/fabric/v4/networks*"); a != 1 || b != 1 || c != 0 {
					t.Errorf("%d creates, %d dry runs, %d reads of the collection", a, b, c)
				}
				if len(r.sim.Assets(fabricsim.KindNetwork)) != len((&fabricsim.Sim{}).Assets(fabricsim.KindNetwork)) {
					t.Error("something was created")
				}
			})
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests went elsewhere", elsewhere.Load())
	}
}

// Answers are read up to a bound, headers too.
func TestHugeAnswers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"uuid":"b7011bd7-a73b-5118-a556-5bda09c0d8bf","x":"`)
		for range 80 {
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, `"}`)
	}))
	defer srv.Close()
	api := newAPI(t, srv.URL, withToken)
	got := api.Create(t.Context(), compiled(t, api, broker.NetworkCreate, netSpec("n-1")), "p", soon())
	if got.Outcome != broker.OutcomeUnknown || len(got.Detail) > 1000 {
		t.Errorf("got %s with %d bytes of detail", got.Outcome, len(got.Detail))
	}
	if _, err := api.Get(t.Context(), "port", portDC); refusal(t, err).Code != broker.ErrUpstreamUnavailable {
		t.Errorf("got %v", err)
	}
}
