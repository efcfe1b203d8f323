package fabric

import (
	"context"
	"errors"
	"sync"
	"time"
)

// keepFor is how long a read is good for the other half of the same proposal:
// the look-ups and the price ask for the same assets at the same time.
const keepFor = 2 * time.Second

// cache makes one read of all that are asked for the same thing within keepFor.
// A failed read is kept for nobody.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*entry
}

type entry struct {
	done  chan struct{}
	value any
	err   error
	at    time.Time // when it arrived
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, entries: map[string]*entry{}}
}

// get returns what is cached for key, joins a read that is under way, or reads.
// The read outlives the caller who began it, since others may wait for it: read
// must end by itself.
func (c *cache) get(ctx context.Context, key string, read func(context.Context) (any, error)) (any, error) {
	c.mu.Lock()
	c.drop()
	e := c.entries[key]
	if e == nil {
		e = &entry{done: make(chan struct{})}
		c.entries[key] = e
		go c.fill(context.WithoutCancel(ctx), key, e, read)
	}
	c.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *cache) fill(ctx context.Context, key string, e *entry, read func(context.Context) (any, error)) {
	// Nobody above this goroutine could recover what an odd answer sets off.
	e.err = errPanicked
	defer func() {
		_ = recover()
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.err != nil {
			delete(c.entries, key)
		}
		e.at = c.now()
		close(e.done)
	}()
	e.value, e.err = read(ctx)
}

var errPanicked = errors.New("fabric: a read panicked")

// drop forgets what is too old; the caller holds the lock.
func (c *cache) drop() {
	now := c.now().Round(0)
	for key, e := range c.entries {
		if age := now.Sub(e.at.Round(0)); !e.at.IsZero() && (age >= keepFor || age < 0) {
			delete(c.entries, key)
		}
	}
}
