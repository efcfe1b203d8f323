package broker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pollEvery is how often a waiter looks at the ledger although nobody woke it:
// another process may have made the step.
const pollEvery = 500 * time.Millisecond

// waits wakes those who wait for a proposal to move. The zero value is ready.
type waits struct {
	mu sync.Mutex
	ch map[ID]chan struct{}
}

// of returns a channel that is closed at the next step of id in this process.
func (w *waits) of(id ID) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = map[ID]chan struct{}{}
	}
	if w.ch[id] == nil {
		w.ch[id] = make(chan struct{})
	}
	return w.ch[id]
}

func (w *waits) wake(id ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.ch[id]; c != nil {
		close(c)
		delete(w.ch, id)
	}
}

// Wait returns the proposal as soon as its state is none of while, or when ctx
// ends with the error of ctx. A proposal that is unknown is ErrProposalUnknown.
func (b *Broker) Wait(ctx context.Context, id ID, while ...State) (Proposal, error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		moved := b.waits.of(id) // before the look: no step falls in between
		p, err := b.o.Ledger.Load(ctx, id)
		if err != nil {
			return p, b.ledgerFailed(ctx, err)
		}
		if !slices.Contains(while, p.State) {
			b.waits.wake(id) // nobody needs this channel for an ended proposal
			return p, nil
		}
		select {
		case <-moved:
		case <-tick.C:
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
}
