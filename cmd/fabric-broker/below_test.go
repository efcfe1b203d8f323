package main

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/toolsets/mutate"
)

// spyLedger counts what reaches the ledger, changes what comes out of it, and
// panics when told.
type spyLedger struct {
	broker.Ledger
	calls  atomic.Int64
	mu     sync.Mutex
	change func(*broker.Proposal)
	panics bool
}

func (l *spyLedger) set(change func(*broker.Proposal), panics bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change, l.panics = change, panics
}

func (l *spyLedger) seen(p *broker.Proposal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.Add(1)
	if l.panics {
		l.panics = false
		panic("a bug")
	}
	if l.change != nil && p.Payload != nil {
		l.change(p)
	}
}

func (l *spyLedger) Load(ctx context.Context, id broker.ID) (broker.Proposal, error) {
	p, err := l.Ledger.Load(ctx, id)
	l.seen(&p)
	return p, err
}

func (l *spyLedger) Move(ctx context.Context, s broker.Step) (broker.Moved, error) {
	m, err := l.Ledger.Move(ctx, s)
	l.seen(&m.Proposal)
	return m, err
}

// spied is a world in a bubble whose ledger is watched.
func spied(t *testing.T, f func(w *world, l *spyLedger)) {
	t.Helper()
	l := &spyLedger{}
	inBubble(t, func(w *world) {
		f(w, l)
	}, func(s *worldSetup) {
		s.ledger = func(below broker.Ledger) broker.Ledger { l.Ledger = below; return l }
	})
}

// The stored spec is altered below the broker: before the question (I4, I5), and
// after it.
func TestChangedBelowTheBroker(t *testing.T) {
	fifty, hundred := []byte(`"bandwidth_mbps":50`), []byte(`"bandwidth_mbps":100`)
	alter := func(p *broker.Proposal) {
		p.Payload.Spec = []byte(strings.Replace(string(p.Payload.Spec), string(fifty), string(hundred), 1))
	}
	for _, era := range eras {
		t.Run(era+"/before the question", func(t *testing.T) {
			spied(t, func(w *world, l *spyLedger) {
				p := w.peer(era, canAsk)
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				l.set(alter, false)
				refused("request_changed", "spent", "ttttf").check(t, p.confirm(proposed))
				w.wantCreates(0)
			})
		})
		t.Run(era+"/after the question", func(t *testing.T) {
			spied(t, func(w *world, l *spyLedger) {
				p := w.peer(era, canAsk)
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				l.set(alter, false)
				want := refused("request_changed", "spent", "ttttf")
				want.Status = "accepted"
				want.check(t, q.answer(saysYes))
				w.wantCreates(0)
			})
		})
	}
}

// A handler that panics ends its own call: the process and the session go on
// (mcp.md C row 40).
func TestPanicEndsOneCall(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			spied(t, func(w *world, l *spyLedger) {
				p := w.peer(era, canAsk)
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				l.set(nil, true)
				m := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": proposed["confirm_token"]}).wait()
				if m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.Error.Message, "a bug") {
					t.Errorf("got %+v, want -32603", m)
				}
				pass(time.Second)
				createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
				w.wantCreates(1)
			})
		})
	}
}
