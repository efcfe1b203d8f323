package fabric

import (
	"context"
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
	// refusal is why the lockout stands, where this session was the one refused,
	// and refusedUntil how long: the lockout itself may have failed to note it.
	refusal      *broker.Refusal
	refusedUntil time.Time
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
