package broker

import (
	"fmt"
	"sync"
	"time"
)

// What one principal may do. They protect people from being worn out by
// prompts, so they count confirms and not calls.
const (
	maxAsking      = 5   // prompts that wait at the same time
	maxConfirms    = 600 // confirms looked at in a minute
	maxNoes        = 3   // declined or cancelled in noWindow, then a pause
	noWindow       = 10 * time.Minute
	coolingPause   = 10 * time.Minute
	confirmsWindow = time.Minute
	maxUsers       = 10_000 // principals counted before idle ones are forgotten
)

// limits counts per principal, in this process. The zero value is ready.
type limits struct {
	mu    sync.Mutex
	users map[Principal]*usage
}

type usage struct {
	window   time.Time // start of the minute that is counted
	confirms int
	noes     []time.Time
	pause    time.Time // until when confirming is paused
}

func (l *limits) of(p Principal, now time.Time) *usage {
	if l.users == nil {
		l.users = map[Principal]*usage{}
	}
	u := l.users[p]
	if u == nil {
		if len(l.users) >= maxUsers {
			l.forget(now)
		}
		u = &usage{}
		l.users[p] = u
	}
	return u
}

// forget drops whom nothing is counted against any more.
func (l *limits) forget(now time.Time) {
	for p, u := range l.users {
		if now.Sub(u.window) > noWindow && now.After(u.pause) {
			delete(l.users, p)
		}
	}
}

// look counts a confirm. It refuses one that comes too often.
func (l *limits) look(p Principal, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(p, now)
	if now.Sub(u.window) >= confirmsWindow || now.Before(u.window) {
		u.window, u.confirms = now, 0
	}
	u.confirms++
	if u.confirms > maxConfirms {
		return Refuse(ErrRateLimited, fmt.Sprintf("wait %s, then confirm again; the token is not spent", round(u.window.Add(confirmsWindow).Sub(now))),
			"more than %d confirms in a minute", maxConfirms)
	}
	return nil
}

// cooling refuses while confirming is paused.
func (l *limits) cooling(p Principal, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u := l.of(p, now); now.Before(u.pause) {
		return Refuse(ErrCoolingDown,
			fmt.Sprintf("ask the person what they want before proposing again; confirming is possible in %s, and this token is not spent", round(u.pause.Sub(now))),
			"the person said no %d times in %s", maxNoes, noWindow)
	}
	return nil
}

// no counts a declined or cancelled prompt.
func (l *limits) no(p Principal, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(p, now)
	recent := u.noes[:0]
	for _, t := range u.noes {
		if now.Sub(t) < noWindow {
			recent = append(recent, t)
		}
	}
	u.noes = append(recent, now)
	if len(u.noes) >= maxNoes {
		u.pause, u.noes = now.Add(coolingPause), nil
	}
}

func round(d time.Duration) time.Duration { return max(d, time.Second).Round(time.Second) }
