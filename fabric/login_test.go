package fabric_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

const loginPath = "/oauth2/v1/token"

func wrongSecret(o *fabric.Options) { o.ClientSecret = broker.NewSecret("wrong-secret-marker") }

// Five refused log-ins lock the account for everyone: whoever shares a directory
// makes one.
func TestLockoutIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := newRig(t)
	var wg sync.WaitGroup
	for range 2 {
		api := r.client(wrongSecret, func(o *fabric.Options) { o.Lockout = fabric.FileLockout(dir) })
		for range 4 {
			wg.Go(func() {
				_, err := api.Get(context.Background(), "port", portDC)
				if refusal(t, err).Code != broker.ErrUpstreamUnauthorized {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	wg.Wait()
	if n := r.count("POST", loginPath); n != 1 {
		t.Errorf("%d attempts with bad credentials, want 1", n)
	}
	// Other credentials are free at once.
	good := r.client(func(o *fabric.Options) { o.Lockout = fabric.FileLockout(dir) })
	if _, err := good.Get(t.Context(), "port", portDC); err != nil {
		t.Error(err)
	}
	// And the bad ones after 30 minutes.
	later := r.client(wrongSecret, func(o *fabric.Options) {
		o.Lockout = fabric.FileLockout(dir)
		o.Now = func() time.Time { return time.Now().Add(31 * time.Minute) }
	})
	_, _ = later.Get(t.Context(), "port", portDC)
	if n := r.count("POST", loginPath); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 || strings.Contains(e.Name(), "tmp") {
			t.Errorf("%s is %s", e.Name(), info.Mode())
		}
	}
}

func TestLockoutFailsClosed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "occupied")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *fabric.Options) { o.Lockout = fabric.FileLockout(file) })
	_, err := r.api.Get(t.Context(), "port", portDC)
	if refusal(t, err).Code != broker.ErrUpstreamUnauthorized || len(r.sim.History()) != 0 {
		t.Errorf("got %v after %d requests", err, len(r.sim.History()))
	}
}

func TestFailedLogIns(t *testing.T) {
	rows := map[string]struct {
		do       fabricsim.Action
		code     broker.Code
		attempts int // of two reads: 1 where the credentials are locked out
		mention  []string
	}{
		"refused 401":     {status(401, `{"errorDomain":"apps-prod","errorTitle":"Login Failure","errorCode":"S1006","developerMessage":"Login Failure"}`), broker.ErrUpstreamUnauthorized, 1, []string{"S1006", "EQUINIX_API_CLIENTID"}},
		"refused 400":     {status(400, `{"error_code":"400004","error_message":"Invalid client credentials"}`), broker.ErrUpstreamUnauthorized, 1, []string{"400004"}},
		"refused 403":     {status(403, `{"error_code":"1"}`), broker.ErrUpstreamUnauthorized, 1, nil},
		"gateway 403":     {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 403}, broker.ErrUpstreamUnauthorized, 2, []string{"403", "text/html"}},
		"server error":    {status(500, `"oops"`), broker.ErrUpstreamUnauthorized, 2, []string{"500"}},
		"rate limited":    {status(429, ``), broker.ErrUpstreamUnauthorized, 2, nil},
		"page":            {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 200}, broker.ErrUpstreamUnauthorized, 2, nil},
		"no token":        {status(200, `{"access_token":""}`), broker.ErrUpstreamUnauthorized, 2, nil},
		"token with line": {status(200, `{"access_token":"a\nb"}`), broker.ErrUpstreamUnauthorized, 2, nil},
		"reset":           {fabricsim.Action{Kind: fabricsim.FaultReset}, broker.ErrUpstreamUnauthorized, 2, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fail("POST", loginPath, nil, row.do, 0)
			for range 2 {
				_, err := r.api.Get(t.Context(), "port", portDC)
				got := refusal(t, err)
				if got.Code != row.code {
					t.Errorf("got %v", err)
				}
				mentions(t, got, row.mention...) // whoever asks later, too
			}
			if n := r.count("POST", loginPath); n != row.attempts {
				t.Errorf("%d attempts, want %d", n, row.attempts)
			}
			if n := len(r.sim.History()); n != row.attempts {
				t.Errorf("%d requests, want no other than the log-ins", n)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		_, err := newAPI(t, "http://127.0.0.1:1").Get(t.Context(), "port", portDC)
		if refusal(t, err).Code != broker.ErrUpstreamUnavailable {
			t.Errorf("got %v", err)
		}
	})
}

func TestTokenLives(t *testing.T) {
	for timeout, life := range map[string]time.Duration{
		`"3599"`: 3599 * time.Second, `3599`: 3599 * time.Second, `"3599 (60 minutes)"`: 3599 * time.Second,
		`"soon"`: time.Minute, `null`: time.Minute, `-5`: time.Minute, `"99999999999999999999"`: time.Minute, `1e3`: time.Second,
	} {
		t.Run(timeout, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := &fabricsim.Sim{}
				defer sim.Close()
				sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Path: loginPath}, Do: fabricsim.Action{
					Kind: fabricsim.FaultStatus, Status: 200,
					Body: json.RawMessage(fmt.Sprintf(`{"access_token":%q,"token_timeout":%s}`, fabricsim.StaticToken, timeout)),
				}})
				api := newAPI(t, "https://api.sim.example", func(o *fabric.Options) { o.Transport = sim.RoundTripper() })
				logIns := func() (n int) {
					for _, e := range sim.History() {
						if e.Path == loginPath {
							n++
						}
					}
					return n
				}
				read := func() {
					if _, err := api.Get(t.Context(), "port", portDC); err != nil {
						t.Error(err)
					}
				}
				read()
				time.Sleep(life - min(life/2, time.Minute) - time.Millisecond)
				read()
				if logIns() != 1 {
					t.Errorf("%d log-ins while the token was good, want 1", logIns())
				}
				time.Sleep(2 * time.Millisecond)
				read()
				if logIns() != 2 {
					t.Errorf("%d log-ins after its time, want 2", logIns())
				}
			})
		})
	}
}

func TestLogInAfter401(t *testing.T) {
	r := newRig(t)
	unauthorized := status(401, `[{"errorCode":"EQ-3000039","errorMessage":"User not found in request or invalid."}]`)
	req := compiled(t, r.api, broker.NetworkCreate, netSpec("n-1"))
	t.Run("once more for a read and a dry run", func(t *testing.T) {
		r.fail("GET", "/fabric/v4/ports/*", nil, unauthorized, 1)
		r.fail("POST", "/fabric/v4/networks", dry, unauthorized, 1)
		if _, err := r.api.Get(t.Context(), "port", portDC); err != nil {
			t.Error(err)
		}
		if _, err := r.api.Validate(t.Context(), req); err != nil {
			t.Error(err)
		}
		if n := r.count("POST", loginPath); n != 3 {
			t.Errorf("%d log-ins, want 3", n)
		}
	})
	t.Run("refuses/the second time", func(t *testing.T) {
		r.fail("POST", "/fabric/v4/networks", dry, unauthorized, 0)
		_, err := r.api.Validate(t.Context(), req)
		if refusal(t, err).Code != broker.ErrUpstreamUnauthorized || r.count("POST", "/fabric/v4/networks?dryRun=true") != 4 {
			t.Errorf("got %v after %d dry runs", err, r.count("POST", "/fabric/v4/networks?dryRun=true"))
		}
	})
	t.Run("never a create", func(t *testing.T) {
		r.fail("POST", "/fabric/v4/networks", forReal, unauthorized, 1)
		got := r.api.Create(t.Context(), req, "p", soon())
		if got.Outcome != broker.OutcomeRejected || got.Code != broker.ErrUpstreamUnauthorized || r.count("POST", "/fabric/v4/networks") != 1 {
			t.Errorf("got %+v after %d creates", got, r.count("POST", "/fabric/v4/networks"))
		}
	})
	t.Run("never with a token from elsewhere", func(t *testing.T) {
		r := newRig(t, func(o *fabric.Options) { o.Token = broker.NewSecret("expired-token") })
		_, err := r.api.Get(t.Context(), "port", portDC)
		if refusal(t, err).Code != broker.ErrUpstreamUnauthorized || len(r.sim.History()) != 1 {
			t.Errorf("got %v after %d requests", err, len(r.sim.History()))
		}
	})
}

func TestOneLogInForMany(t *testing.T) {
	r := newRig(t)
	r.fail("POST", loginPath, nil, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 50}, 1)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := r.api.Get(context.Background(), "port", portDC); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.count("POST", loginPath); n != 1 {
		t.Errorf("%d log-ins, want 1", n)
	}
}

type forgetful struct{}

func (forgetful) Until(context.Context, string) (time.Time, error) { return time.Time{}, nil }
func (forgetful) Set(context.Context, string, time.Time) error     { return errors.New("disk full") }

// A lockout that cannot be written still holds in the process that was refused.
func TestLockoutThatForgets(t *testing.T) {
	r := newRig(t, wrongSecret, func(o *fabric.Options) { o.Lockout = forgetful{} })
	for range 3 {
		if _, err := r.api.Get(t.Context(), "port", portDC); refusal(t, err).Code != broker.ErrUpstreamUnauthorized {
			t.Errorf("got %v", err)
		}
	}
	if n := r.count("POST", loginPath); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
}
