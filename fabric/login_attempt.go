package fabric

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fabricbroker/broker"
)

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
	s.mu.Lock()
	if s.refusedUntil.After(until) {
		until = s.refusedUntil
	}
	s.mu.Unlock()
	if now := s.a.o.Now(); until.Round(0).After(now.Round(0)) {
		return "", 0, s.lockedOut(until)
	}
	return s.logIn(ctx)
}

// lockedOut says what the API said when it refused, where that is known: most
// callers come after the one that was refused.
func (s *session) lockedOut(until time.Time) *broker.Refusal {
	r := broker.Refuse(broker.ErrUpstreamUnauthorized,
		"correct EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET; other credentials are tried at once",
		"the last log-in with these credentials was refused; they are not tried again before %s, because five refused log-ins lock the account",
		until.UTC().Format(time.RFC3339))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		r.Message = s.refusal.Message + "; these credentials are not tried again before " + until.UTC().Format(time.RFC3339)
		r.Upstream = s.refusal.Upstream
	}
	return r
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
	r.Upstream = s.a.scrubErrors(decodeErrors(n.body, s.scrub), broker.Mask{})
	if len(r.Upstream) > 0 {
		r.Message = "the log-in was refused with status " + strconv.Itoa(n.status) + ": " + listErrors(r.Upstream)
	}
	definite := n.status == http.StatusBadRequest || n.status == http.StatusUnauthorized || n.status == http.StatusForbidden && readable
	if !definite {
		return r
	}
	r.NextStep = "correct EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET and restart; these credentials are not tried again for 30 minutes, because five refused log-ins lock the account"
	until := s.a.o.Now().Round(0).Add(lockFor)
	s.mu.Lock()
	s.refusal, s.refusedUntil = r, until
	s.mu.Unlock()
	if err := s.a.o.Lockout.Set(ctx, s.key, until); err != nil {
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
