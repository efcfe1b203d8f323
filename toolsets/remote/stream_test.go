package remote

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// events is a stream whose handler has set its header and waits.
func events(t *testing.T) (*stream, *httptest.ResponseRecorder) {
	t.Helper()
	rec := httptest.NewRecorder()
	s := newStream(rec, 15*time.Second, nil)
	s.Header().Set("Content-Type", "text/event-stream")
	return s, rec
}

// pass lets the bubble's time pass and whatever is due then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// written is what has reached the client.
func written(s *stream, rec *httptest.ResponseRecorder) (text string, flushed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rec.Body.String(), rec.Flushed
}

const event = "event: message\ndata: {}\n\n"

func TestASilentStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rec := events(t)
		s.wait()
		pass(14 * time.Second)
		if got, flushed := written(s, rec); got != "" || flushed {
			t.Errorf("a comment came early: %q", got)
		}
		pass(32 * time.Second) // 46 s: three are due
		if got, flushed := written(s, rec); got != strings.Repeat(": waiting\n\n", 3) || !flushed {
			t.Errorf("after 46 s: %q", got)
		}
		if _, err := s.Write([]byte(event)); err != nil {
			t.Fatal(err)
		}
		s.end()
		pass(time.Minute)
		if got, _ := written(s, rec); !strings.HasSuffix(got, event) {
			t.Errorf("something was written after the end: %q", got)
		}
		if rec.Header().Get("X-Accel-Buffering") != "no" {
			t.Errorf("header %v", rec.Header())
		}
	})
}

func TestAStreamThatSaysSomethingNeedsNoComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rec := events(t)
		s.wait()
		for range 6 { // progress every 10 s
			pass(10 * time.Second)
			_, _ = s.Write([]byte(event))
		}
		s.end()
		if got, _ := written(s, rec); got != strings.Repeat(event, 6) {
			t.Errorf("%q", got)
		}
	})
}

func TestACommentNeverStandsInsideAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rec := events(t)
		s.wait()
		_, _ = s.Write([]byte("event: message\n"))
		pass(time.Minute)
		_, _ = s.Write([]byte("data: {}\n\n"))
		pass(16 * time.Second)
		s.end()
		if got, _ := written(s, rec); got != event+": waiting\n\n" {
			t.Errorf("%q", got)
		}
	})
}

// The SDK answers some errors with a status and without an event. After a
// comment there is no status any more.
func TestAnErrorAfterACommentIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rec := events(t)
		s.wait()
		pass(15 * time.Second)
		s.Header().Set("Content-Type", "application/json")
		s.WriteHeader(http.StatusBadRequest)
		_, _ = s.Write([]byte(`{"error":1}`))
		s.end()
		if got, _ := written(s, rec); got != ": waiting\n\nevent: message\ndata: {\"error\":1}\n\n" || rec.Code != 200 {
			t.Errorf("%d %q", rec.Code, got)
		}
	})
}

func TestOnlyEventStreamsGetComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		s := newStream(rec, 15*time.Second, nil)
		s.Header().Set("Content-Type", "application/json")
		s.wait()
		pass(time.Minute)
		s.end()
		if got, _ := written(s, rec); got != "" {
			t.Errorf("%q", got)
		}
	})
}

// On a socket: a call that waits, in both eras, and a stream that listens.
func TestCommentsReachTheClientWhileACallWaits(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.options.KeepAlive = 5 * time.Millisecond })
	session := w.open(nil)
	for rule, r := range map[string]*http.Request{
		"modern": w.request("POST", "/mcp", modernCall("wait", ""), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "wait"}),
		"legacy": w.request("POST", "/mcp", legacyCall("wait"), map[string]string{"Mcp-Session-Id": session}),
		"listen": w.request("GET", "/mcp", "", map[string]string{"Mcp-Session-Id": session}),
	} {
		t.Run(rule, func(t *testing.T) {
			res, err := client(t).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var got strings.Builder
			for buf := make([]byte, 256); strings.Count(got.String(), ": waiting\n\n") < 3; {
				n, err := res.Body.Read(buf)
				got.Write(buf[:n])
				if err != nil {
					t.Fatalf("%v after %q", err, got.String())
				}
			}
			if rule != "listen" {
				w.release <- struct{}{}
				rest := read(t, res)
				if rest.result()["waited"] != true {
					t.Errorf("the result: %s", rest.text)
				}
			}
		})
	}
}
