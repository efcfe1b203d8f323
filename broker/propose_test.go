package broker_test

import (
	"context"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

func TestProposeStoresWhatPassedItsDryRun(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		before := w.clock.now()
		w.provider.set(func(p *provider) { p.validate = sleeps(3 * time.Second) })
		p := w.propose(t)
		got := w.in(t, p.Proposal.ID, broker.Pending, false)
		// The life counts from before the dry run.
		if !got.MintedAt.Equal(before) || !got.ExpiresAt.Equal(before.Add(10*time.Minute)) {
			t.Errorf("minted %s, expires %s, want %s and ten minutes more", got.MintedAt, got.ExpiresAt, before)
		}
		if got.Caller != ada || got.Account != account.Identity || got.Hash != p.Request.Hash || p.Token.IsZero() {
			t.Errorf("got %+v", got)
		}
		if w.recorder.count(broker.EventProposed, got.ID) != 1 {
			t.Error("no record")
		}
		w.creates(t, 0)
	})
}

func TestProposeRefusesAndStoresNothing(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		before func(w *world)
		spec   string
		code   broker.Code
		// asked: the dry run was sent.
		asked bool
	}{
		{"a spec that does not compile", func(*world) {}, "", broker.ErrInvalidSpec, false},
		{"halted", func(w *world) { w.halt.reason = "stop" }, "{}", broker.ErrHalted, false},
		{"unresolved creates that cannot be listed", func(w *world) { w.intents.setFail(func(string) error { return errFault }) }, "{}", broker.ErrAuditUnavailable, false},
		{"a ledger that cannot be read", func(w *world) { w.ledger.set(failOp("list"), nil) }, "{}", broker.ErrLedgerUnavailable, false},
		{"a ledger that cannot be written", func(w *world) { w.ledger.set(failOp("add"), nil) }, "{}", broker.ErrLedgerUnavailable, true},
		{"a record that cannot be made", func(w *world) { w.recorder.setFail(func(broker.EventKind) error { return errFault }) }, "{}", broker.ErrAuditUnavailable, true},
		{"a dry run that is rejected", validates(dryRun(broker.ErrDryRunRejected)), "{}", broker.ErrDryRunRejected, true}, // I1
		{"a dry run that is unclear", validates(dryRun(broker.ErrDryRunUnclear)), "{}", broker.ErrDryRunUnclear, true},
		{"a dry run that fails", validates(func(context.Context, broker.Request) error { return errFault }), "{}", broker.ErrInternal, true},
		{"a dry run that panics", validates(func(context.Context, broker.Request) error { panic("x") }), "{}", broker.ErrInternal, true},
		{"a dry run that takes a proposal's life", validates(sleeps(10 * time.Minute)), "{}", broker.ErrUpstreamUnavailable, true},
	} {
		t.Run("refuses/"+tc.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				tc.before(w)
				p, err := w.Propose(t.Context(), ada, broker.ConnectionCreate, []byte(tc.spec))
				refused(t, err, tc.code)
				if !p.Token.IsZero() {
					t.Error("there is a token") // I1
				}
				if asked := w.provider.asked > 0; asked != tc.asked {
					t.Errorf("a dry run was sent: %v", asked)
				}
				if all, _ := w.ledger.Memory.List(t.Context(), broker.Query{}); len(all) > 0 {
					t.Errorf("stores %+v", all)
				}
				w.creates(t, 0)
			})
		})
	}
}

func validates(f func(context.Context, broker.Request) error) func(*world) {
	return func(w *world) { w.provider.set(func(p *provider) { p.validate = f }) }
}

// I11: no price fails a proposal.
func TestI11ProposeWithoutAPrice(t *testing.T) {
	for rule, f := range map[string]func() pricing.Quote{
		"unpriced": func() pricing.Quote { return pricing.Unpriced("gone") },
		"nothing":  func() pricing.Quote { return pricing.Quote{} },
		"panics":   func() pricing.Quote { panic("x") },
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.quoter.set(f)
				if p := w.propose(t); p.Proposal.Quote.Priced {
					t.Errorf("got %s", p.Proposal.Quote)
				}
			})
		})
	}
}

// I9: what is stored for people has no secret.
func TestI9ProposeMasksTheBody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.provider.set(func(p *provider) { p.secrets = []string{"/key"} })
		p := w.proposeAs(t, ada, []byte(`{"key":"`+hush+`"}`))
		if got := string(p.Proposal.Payload.Body); got != `{"key":"...8058"}` {
			t.Errorf("got %s", got)
		}
	})
}

// I10: one more evicts the principal's own oldest, whose token says so.
func TestI10OneMoreEvictsTheOwnOldest(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		his := w.proposeAs(t, bob, spec)
		time.Sleep(time.Second)
		first := w.propose(t)
		time.Sleep(time.Second)
		second := w.propose(t)
		third := w.propose(t)
		if len(second.Evicted) != 0 || len(third.Evicted) != 1 || third.Evicted[0].ID != first.Proposal.ID {
			t.Errorf("evicted %+v, then %+v", second.Evicted, third.Evicted)
		}
		_, err := w.Begin(t.Context(), ada, first.Token)
		refused(t, err, broker.ErrTokenEvicted)
		w.in(t, first.Proposal.ID, broker.Evicted, false)
		w.begin(t, ada, second)
		w.begin(t, bob, his)
		if w.recorder.count(broker.EventEvicted, first.Proposal.ID) != 1 {
			t.Error("no record")
		}
	}, func(o *broker.Options) { o.MaxPending = 2 })
}

// I12: beginning one ends the same principal's equal one that is asking.
func TestI12AnEqualPromptIsSuperseded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		first, _ := w.ask(t)
		his := w.proposeAs(t, bob, spec)
		w.begin(t, bob, his)
		other := w.proposeAs(t, ada, []byte(`{"name":"other"}`))
		w.begin(t, ada, other)
		told := make(chan broker.Confirmed, 1)
		go func() { c, _ := w.Outcome(t.Context(), first.Proposal.ID); told <- c }()
		second, _ := w.ask(t)
		if c := <-told; c.Proposal.State != broker.Superseded {
			t.Errorf("who waits for the first is told %s", c.Proposal.State)
		}
		if status, detail := w.state(t, first.Proposal.ID).Confirmation(); status != "superseded" || detail == "" {
			t.Errorf("got %q, %q", status, detail)
		}
		w.in(t, his.Proposal.ID, broker.Asking, true)   // I10
		w.in(t, other.Proposal.ID, broker.Asking, true) // another request
		if c, err := w.Complete(t.Context(), first.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Superseded {
			t.Errorf("got %s, %v", c.Proposal.State, err)
		}
		if c, err := w.Complete(t.Context(), second.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Created {
			t.Errorf("got %s, %v", c.Proposal.State, err)
		}
		w.creates(t, 1)
	})
}
