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

// spied has the ledger of a world watched.
func spied(s *worldSetup) {
	s.ledger = func(below broker.Ledger) broker.Ledger { return &spyLedger{Ledger: below} }
}

// spy is the watched ledger.
func (w *world) spy() *spyLedger { return w.parts.options.Ledger.(*spyLedger) }

// The stored spec is altered below the broker: before the question (I4, I5), and
// after it.
func TestChangedBelowTheBroker(t *testing.T) {
	fifty, hundred := []byte(`"bandwidth_mbps":50`), []byte(`"bandwidth_mbps":100`)
	alter := func(p *broker.Proposal) {
		p.Payload.Spec = []byte(strings.Replace(string(p.Payload.Spec), string(fifty), string(hundred), 1))
	}
	t.Run("before the question", func(t *testing.T) {
		flows(t, eras, func(t *testing.T, w *world, p *peer) {
			proposed := p.propose(connectionSpec("dc-aws-01", 1017))
			w.spy().set(alter, false)
			refused("request_changed", "spent", "ttttf").check(t, p.confirm(proposed))
			w.wantCreates(0)
		}, spied)
	})
	t.Run("after the question", func(t *testing.T) {
		flows(t, eras, func(t *testing.T, w *world, p *peer) {
			q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
			w.spy().set(alter, false)
			want := refused("request_changed", "spent", "ttttf")
			want.Status = "accepted"
			want.check(t, q.answer(saysYes))
			w.wantCreates(0)
		}, spied)
	})
}

// A handler that panics ends its own call: the process and the session go on
// (CLIENTS.md 40).
func TestPanicEndsOneCall(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		w.spy().set(nil, true)
		m := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": proposed["confirm_token"]}).wait()
		if m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.Error.Message, "a bug") {
			t.Errorf("got %+v, want -32603", m)
		}
		pass(time.Second)
		createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
		w.wantCreates(1)
	}, spied)
}
