package fabric

import (
	"context"
	"time"
)

// LogInRefused returns until when these credentials are not tried, because
// their last log-in was refused; zero while they are. It never logs in.
func (a *API) LogInRefused(ctx context.Context) (time.Time, error) {
	s := a.session
	until, err := a.o.Lockout.Until(ctx, s.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusedUntil.After(until) {
		until = s.refusedUntil
	}
	if !until.Round(0).After(a.o.Now().Round(0)) {
		until = time.Time{}
	}
	return until, err
}
