package broker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// lookAt is when a lost create is looked for, counted from the loss. New assets
// reach the provider's search late, so one empty search proves nothing; after
// the last one the asset counts as absent, which is not final.
var lookAt = []time.Duration{0, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, finalLook}

const (
	finalLook   = 15 * time.Minute
	lookTimeout = 30 * time.Second
	// skew is what the provider's clock and its search may be behind.
	skew = time.Minute
)

// looks are the searches under way in this process.
type looks struct {
	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // the life of Run, which starts and ends every look
	active map[ID]bool
	// fresh are creations that were found after their answer was lost and that
	// no status has reported yet.
	fresh map[ID]bool
	seen  map[ID]sight
	wg    sync.WaitGroup
}

// sight is when in its life this process first saw a create as unknown, and how
// long it had been that by then. From there on the clock counts that nobody sets:
// a wall clock that is set forward must not make a young unknown an absent one.
type sight struct{ at, age time.Duration }

// unknownFor returns for how long p has been unknown.
func (b *Broker) unknownFor(p Proposal) time.Duration {
	l := &b.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[p.ID]
	if !ok {
		s = sight{at: b.o.Uptime(), age: max(b.now().Sub(p.Since), 0)}
		if l.seen == nil {
			l.seen = map[ID]sight{}
		}
		l.seen[p.ID] = s
	}
	return s.age + b.o.Uptime() - s.at
}

// known forgets what is unknown no longer.
func (l *looks) known(id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, id)
}

// found notes that a lost create was found.
func (l *looks) found(id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh == nil {
		l.fresh = map[ID]bool{}
	}
	l.fresh[id] = true
}

// first reports, once, that a found create was not reported before.
func (l *looks) first(id ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer delete(l.fresh, id)
	return l.fresh[id]
}

// look starts to look for what became of p, unless that is under way.
func (b *Broker) look(p Proposal) {
	b.unknownFor(p) // counts from now
	l := &b.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil || l.ctx.Err() != nil || l.active[p.ID] {
		return
	}
	l.active[p.ID] = true
	l.wg.Go(func() {
		b.lookUntil(l.ctx, p)
		l.mu.Lock()
		delete(l.active, p.ID)
		l.mu.Unlock()
	})
}

// lookUntil looks on the schedule until p is no longer unknown. What several
// assets leave undecided is looked at again every finalLook.
func (b *Broker) lookUntil(ctx context.Context, p Proposal) {
	at := func(n int) time.Duration {
		if n < len(lookAt) {
			return lookAt[n]
		}
		return finalLook * time.Duration(n-len(lookAt)+2)
	}
	for n := 0; ; n++ {
		age := b.unknownFor(p)
		if age > at(n+1) {
			continue // taken over late: one look makes up for all that were missed
		}
		select {
		case <-time.After(max(at(n)-age, 0)):
		case <-ctx.Done():
			return
		}
		now, _, err := b.Reconcile(ctx, p.ID)
		if err == nil && now.State != Unknown || errors.Is(err, ErrProposalUnknown) {
			return
		}
	}
}
