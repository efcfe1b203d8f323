package fabric

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fabricbroker/broker"
)

const (
	readMargin   = time.Minute     // what a token must have left for a read or a dry run
	createMargin = 5 * time.Minute // and for a create
	shortLife    = time.Minute     // of a token whose life cannot be read
	longestLife  = 24 * time.Hour
	loginTimeout = 15 * time.Second
	lockFor      = 30 * time.Minute // five refused log-ins lock the account for everyone
	maxLogin     = 64 << 10
	loginPath    = "/oauth2/v1/token"
)

// session has the bearer token. It logs in when one is needed, one log-in at a
// time, and never repeats one by itself.
type session struct {
	a   *API
	key string // of the credentials, for the lockout

	mu     sync.Mutex
	token  string
	former string // is still a secret
	until  time.Time
	life   time.Duration
	flight *flight
}

// flight is one log-in that several callers wait for.
type flight struct {
	done  chan struct{}
	token string
	err   error
}

func newSession(a *API) *session {
	return &session{a: a, key: digest("fabric credentials", a.base.String(), a.o.ClientID, a.o.ClientSecret.Reveal())}
}

// renews reports whether a token that was rejected can be replaced.
func (s *session) renews() bool { return s.a.o.Token.IsZero() }

// bearer returns a token that is good for margin more, or that was made just
// now. One that equals rejected is not used again. Its errors are
// *broker.Refusals.
func (s *session) bearer(ctx context.Context, margin time.Duration, rejected string) (string, error) {
	if !s.renews() {
		return s.a.o.Token.Reveal(), nil
	}
	if err := ctx.Err(); err != nil {
		return "", unreachable(loginCall(), err)
	}
	s.mu.Lock()
	if s.token != "" && s.token != rejected && s.left() >= s.margin(margin) {
		defer s.mu.Unlock()
		return s.token, nil
	}
	f := s.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flight = f
		// Detached: others wait for it too.
		go s.fly(context.WithoutCancel(ctx), f)
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return "", unreachable(loginCall(), ctx.Err())
	}
}

// left compares wall clocks: a laptop that slept has an older token than its
// monotonic clock says.
func (s *session) left() time.Duration { return s.until.Round(0).Sub(s.a.o.Now().Round(0)) }

// margin keeps a token that never had much to live from being renewed at every
// read. A create has no such leniency.
func (s *session) margin(want time.Duration) time.Duration {
	if want < createMargin {
		return min(want, s.life/2)
	}
	return want
}

func (s *session) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	token, life, err := s.guarded(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.former, s.token, s.life, s.until = s.token, token, life, s.a.o.Now().Round(0).Add(life)
	}
	f.token, f.err, s.flight = token, err, nil
	close(f.done)
}

// guarded logs in unless the lockout forbids it. Where the lockout can be held,
// no other process tries the same credentials meanwhile.
func (s *session) guarded(ctx context.Context) (string, time.Duration, error) {
	if h, ok := s.a.o.Lockout.(holder); ok {
		release, err := h.Hold(ctx, s.key)
		if err != nil {
			return "", 0, s.lockoutFailed(err)
		}
		defer release()
	}
	until, err := s.a.o.Lockout.Until(ctx, s.key)
	if err != nil {
		return "", 0, s.lockoutFailed(err)
	}
	if now := s.a.o.Now(); until.Round(0).After(now.Round(0)) {
		return "", 0, broker.Refuse(broker.ErrUpstreamUnauthorized,
			"correct EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET; other credentials are tried at once",
			"the last log-in with these credentials was refused; they are not tried again before %s, because five refused log-ins lock the account",
			until.UTC().Format(time.RFC3339))
	}
	return s.logIn(ctx)
}

func (s *session) lockoutFailed(err error) *broker.Refusal {
	s.a.o.Log.Error("the record of refused log-ins cannot be used", "error", err)
	return broker.Refuse(broker.ErrUpstreamUnauthorized, "make the state directory readable and writable for this user",
		"it cannot be told whether these credentials were refused before, so no log-in is made")
}

func loginCall() call {
	return call{method: http.MethodPost, path: loginPath, limit: maxLogin, name: "the log-in"}
}

// logIn makes one attempt.
func (s *session) logIn(ctx context.Context) (string, time.Duration, error) {
	c := loginCall()
	var err error
	c.body, err = json.Marshal(map[string]string{
		"grant_type": "client_credentials", "client_id": s.a.o.ClientID, "client_secret": s.a.o.ClientSecret.Reveal(),
	})
	if err != nil {
		return "", 0, err
	}
	n, sent, err := s.a.fire(ctx, c, "", time.Time{})
	if err != nil {
		r := unreachable(c, err)
		if sent {
			r.Code = broker.ErrUpstreamUnauthorized
		}
		return "", 0, r
	}
	v, err := decodeJSON(n.body)
	if token := text(at(v, "access_token")); n.ok() && err == nil && !n.broken && isToken(token) {
		return token, tokenLife(text(at(v, "token_timeout"))), nil
	}
	return "", 0, s.failed(ctx, n, err == nil)
}

// failed says why a log-in failed, and remembers a definite refusal: one of the
// API itself, which a gateway's page with status 403 is not.
func (s *session) failed(ctx context.Context, n answer, readable bool) *broker.Refusal {
	r := broker.Refuse(broker.ErrUpstreamUnauthorized, "try again in a moment", "the log-in was answered %s", s.a.describe(n, broker.Mask{}))
	if n.ok() {
		// What came may be a token that cannot be read: none of it is shown.
		r.Message = "the log-in was answered " + strconv.Itoa(n.status) + " without a usable access token"
		return r
	}
	r.Upstream = s.a.scrubErrors(decodeErrors(n.body), broker.Mask{})
	if len(r.Upstream) > 0 {
		r.Message = "the log-in was refused with status " + strconv.Itoa(n.status) + ": " + listErrors(r.Upstream)
	}
	definite := n.status == http.StatusBadRequest || n.status == http.StatusUnauthorized || n.status == http.StatusForbidden && readable
	if !definite {
		return r
	}
	r.NextStep = "correct EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET and restart; these credentials are not tried again for 30 minutes, because five refused log-ins lock the account"
	if err := s.a.o.Lockout.Set(ctx, s.key, s.a.o.Now().Round(0).Add(lockFor)); err != nil {
		s.a.o.Log.Error("a refused log-in could not be remembered", "error", err)
	}
	return r
}

// isToken keeps what cannot stand in a header out of one.
func isToken(s string) bool {
	if s == "" || len(s) > 16<<10 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// tokenLife reads seconds, as a number, a text or a text that goes on.
func tokenLife(s string) time.Duration {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || n <= 0 {
		return shortLife
	}
	return min(time.Duration(min(n, 1<<30))*time.Second, longestLife)
}

// scrub removes every secret of the session from s.
func (s *session) scrub(t string) string {
	s.mu.Lock()
	token, former := s.token, s.former
	s.mu.Unlock()
	for _, secret := range []string{token, former, s.a.o.ClientSecret.Reveal(), s.a.o.Token.Reveal()} {
		if len(secret) >= 6 {
			t = strings.ReplaceAll(t, secret, "[redacted]")
		}
	}
	return t
}
