package remote

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"fabricbroker/broker"
)

// usage is what one principal has under way.
type usage struct {
	running   atomic.Int32
	requests  atomic.Int32 // HTTP, its streams among them
	holders   int          // who has it in hand; guarded by usages.mu
	proposals *rate.Limiter
}

// usages are those of all principals.
type usages struct {
	perMinute int

	mu sync.Mutex
	m  map[broker.Principal]*usage
}

// of returns the usage of p. done must follow.
func (s *usages) of(p broker.Principal) *usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[broker.Principal]*usage{}
	}
	u := s.m[p]
	if u == nil {
		u = &usage{proposals: rate.NewLimiter(rate.Every(time.Minute/time.Duration(s.perMinute)), s.perMinute)}
		s.m[p] = u
	}
	u.holders++
	return u
}

// done forgets principals of whom nothing has to be remembered: an issuer may
// name very many.
func (s *usages) done(p broker.Principal, u *usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.holders--
	if u.holders == 0 && u.proposals.Tokens() >= float64(s.perMinute) {
		delete(s.m, p)
	}
}
