package broker_test

import (
	"context"
	"sync"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger"
)

// faulty is a Memory that fails before a call has its effect, or after. It
// watches every step.
type faulty struct {
	*ledger.Memory

	mu            sync.Mutex
	before, after func(op string, s broker.Step) error
	gate          func(context.Context) // called without a lock
	asked         func(broker.Step)
	moved         func(was broker.State, now broker.Proposal)
}

func (l *faulty) set(before, after func(op string, s broker.Step) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func guarded[T any](l *faulty, op string, s broker.Step, do func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var zero T
	if l.before != nil {
		if err := l.before(op, s); err != nil {
			return zero, err
		}
	}
	v, err := do()
	if err == nil && l.after != nil {
		if err := l.after(op, s); err != nil {
			return zero, err
		}
	}
	return v, err
}

func (l *faulty) Add(ctx context.Context, p broker.Proposal, o broker.AddOptions) (broker.Added, error) {
	return guarded(l, "add", broker.Step{}, func() (broker.Added, error) { return l.Memory.Add(ctx, p, o) })
}

func (l *faulty) Load(ctx context.Context, id broker.ID) (broker.Proposal, error) {
	return guarded(l, "load", broker.Step{}, func() (broker.Proposal, error) { return l.Memory.Load(ctx, id) })
}

func (l *faulty) List(ctx context.Context, q broker.Query) ([]broker.Proposal, error) {
	return guarded(l, "list", broker.Step{}, func() ([]broker.Proposal, error) { return l.Memory.List(ctx, q) })
}

func (l *faulty) Move(ctx context.Context, s broker.Step) (broker.Moved, error) {
	if l.gate != nil {
		l.gate(ctx)
	}
	if l.asked != nil {
		l.asked(s)
	}
	return guarded(l, "move", s, func() (broker.Moved, error) {
		was, _ := l.Memory.Load(ctx, s.ID)
		m, err := l.Memory.Move(ctx, s)
		if err == nil && l.moved != nil {
			l.moved(was.State, m.Proposal)
		}
		return m, err
	})
}
