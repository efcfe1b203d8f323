package broker

import (
	"context"
	"sync"
)

// inflight counts work that must be finished before the process ends. Unlike a
// sync.WaitGroup it may be entered while somebody waits. The zero value is
// ready.
type inflight struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n reaches 0; nil while nobody waits
}

// enter counts one piece of work until the returned function is called, once.
func (f *inflight) enter() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.n--
		if f.n == 0 && f.idle != nil {
			close(f.idle)
			f.idle = nil
		}
	}
}

// wait returns when nothing is in flight, or with the error of ctx.
func (f *inflight) wait(ctx context.Context) error {
	f.mu.Lock()
	if f.n == 0 {
		f.mu.Unlock()
		return nil
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	idle := f.idle
	f.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
