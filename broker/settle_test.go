package broker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// logged is a log that tests read.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// I11: after the first byte nothing turns the answer into "not sent".
func TestI11AnOutcomeIsRecordedUntilItStands(t *testing.T) {
	recordFails := func(w *world, kind broker.EventKind) {
		w.recorder.setFail(func(k broker.EventKind) error {
			if k == kind {
				return errFault
			}
			return nil
		})
	}
	for rule, tc := range map[string]struct {
		outcome broker.Outcome
		fault   func(w *world)
		// stands: the first try is enough all the same.
		stands bool
	}{
		"created/the ledger fails":              {broker.OutcomeCreated, func(w *world) { w.ledger.set(failOp("move to created"), nil) }, false},
		"created/the ledger is gone":            {broker.OutcomeCreated, func(w *world) { w.ledger.set(failOp("move", "load", "list"), nil) }, false},
		"created/the ledger says no and did it": {broker.OutcomeCreated, func(w *world) { w.ledger.set(nil, failOp("move to created")) }, true},
		"created/the record fails":              {broker.OutcomeCreated, func(w *world) { recordFails(w, broker.EventCreated) }, false},
		"rejected/the ledger fails":             {broker.OutcomeRejected, func(w *world) { w.ledger.set(failOp("move to rejected"), nil) }, false},
		"unknown/the ledger fails":              {broker.OutcomeUnknown, func(w *world) { w.ledger.set(failOp("move to unknown"), nil) }, false},
		"unknown/the record fails":              {broker.OutcomeUnknown, func(w *world) { recordFails(w, broker.EventUnknown) }, false},
	} {
		t.Run(rule, func(t *testing.T) {
			log := &logged{}
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				id := p.Proposal.ID
				w.provider.set(func(f *provider) {
					f.create = func(ctx context.Context, r broker.Request) broker.Result {
						tc.fault(w)
						return outcome(tc.outcome, 0)(ctx, r)
					}
				})
				c, err := w.Complete(t.Context(), id, yes)
				if c.Recorded != tc.stands || c.Proposal.State.Outcome() != tc.outcome || c.Proposal.ID != id {
					t.Errorf("got %s, recorded %v, %v", c.Proposal.State, c.Recorded, err)
				}
				if created := tc.outcome == broker.OutcomeCreated; created && (err != nil || c.Proposal.ShownUUID() != uuid) {
					t.Errorf("got %q, %v", c.Proposal.ShownUUID(), err)
				} else if created && !tc.stands && !strings.Contains(log.String(), uuid) {
					t.Error("the uuid is not in the log")
				}
				if !tc.stands && w.intents.holder(p.Proposal.Hash) != id { // I7: the intent stays till the record stands
					t.Error("the intent is gone before the record stands")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if err := w.Drain(ctx); tc.stands != (err == nil) {
					t.Errorf("drained with %v", err)
				}
				w.ledger.set(nil, nil)
				w.recorder.setFail(nil)
				if err := w.Drain(t.Context()); err != nil { // recording went on
					t.Error(err)
				}
				if got := w.in(t, id, broker.State(tc.outcome), true); tc.outcome == broker.OutcomeCreated && got.Result.UUID != uuid {
					t.Errorf("on record is %+v", got.Result)
				}
				if n := w.recorder.count(broker.EventKind(tc.outcome), id); n != 1 {
					t.Errorf("%d records", n)
				}
				if held := w.intents.holder(p.Proposal.Hash) != ""; held != (tc.outcome == broker.OutcomeUnknown) { // I8
					t.Errorf("held %v", held)
				}
				w.creates(t, 1) // I2
			}, func(o *broker.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
		})
	}
}

// I11: recording ends where the record can never take the outcome, and what
// another process has found out meanwhile is what the caller learns. Otherwise
// the process could not end.
func TestI11AnOutcomeThatNeedsNoRecordOrCanHaveNone(t *testing.T) {
	elsewhere := func(w *world, id broker.ID, states ...broker.State) {
		for from := broker.Sending; len(states) > 0; from, states = states[0], states[1:] {
			_, err := w.ledger.Move(t.Context(), broker.Step{
				ID: id, From: []broker.State{from}, To: states[0], Result: &broker.Result{Outcome: states[0].Outcome(), UUID: uuid},
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	gone := func(op string, _ broker.Step) error {
		if strings.HasPrefix(op, "move") || op == "load" {
			return broker.ErrProposalUnknown
		}
		return nil
	}
	for rule, tc := range map[string]struct {
		outcome  broker.Outcome // the sender's
		fault    func(w *world, id broker.ID)
		want     broker.Outcome
		recorded bool
	}{
		"found by another":             {broker.OutcomeUnknown, func(w *world, id broker.ID) { elsewhere(w, id, broker.Unknown, broker.Created) }, broker.OutcomeCreated, true},
		"given up by another":          {broker.OutcomeUnknown, func(w *world, id broker.ID) { elsewhere(w, id, broker.Unknown, broker.Absent) }, broker.OutcomeAbsent, true},
		"taken over by another":        {broker.OutcomeUnknown, func(w *world, id broker.ID) { elsewhere(w, id, broker.Unknown) }, broker.OutcomeUnknown, true},
		"something else was found":     {broker.OutcomeRejected, func(w *world, id broker.ID) { elsewhere(w, id, broker.Unknown, broker.Created) }, broker.OutcomeRejected, false},
		"its row is gone":              {broker.OutcomeCreated, func(w *world, _ broker.ID) { w.ledger.set(gone, nil) }, broker.OutcomeCreated, false},
		"its row is gone, and unknown": {broker.OutcomeUnknown, func(w *world, _ broker.ID) { w.ledger.set(gone, nil) }, broker.OutcomeUnknown, false},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				w.provider.set(func(f *provider) {
					f.create = func(ctx context.Context, r broker.Request) broker.Result {
						tc.fault(w, p.Proposal.ID)
						return outcome(tc.outcome, 0)(ctx, r)
					}
				})
				c, _ := w.Complete(t.Context(), p.Proposal.ID, yes)
				if c.Proposal.State.Outcome() != tc.want || c.Recorded != tc.recorded {
					t.Errorf("got %s, recorded %v; want %s, %v", c.Proposal.State, c.Recorded, tc.want, tc.recorded)
				}
				if tc.want == broker.OutcomeCreated && c.Proposal.ShownUUID() != uuid {
					t.Errorf("got %q", c.Proposal.ShownUUID())
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := w.Drain(ctx); err != nil {
					t.Error(err)
				}
				w.creates(t, 1)
			})
		})
	}
}

// A claim that cannot be given up keeps the request refused, and nothing else,
// until it can.
func TestASettleThatFailsKeepsTheRequestRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		w.intents.setFail(func(op string) error {
			if op == "settle" {
				return errFault
			}
			return nil
		})
		c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
		if err != nil || c.Proposal.State != broker.Created {
			t.Errorf("got %s, %v", c.Proposal.State, err)
		}
		_, err = w.Propose(t.Context(), ada, broker.ConnectionCreate, spec)
		refused(t, err, broker.ErrSameRequestUnresolved)

		w.intents.setFail(nil)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go w.Run(ctx)
		synctest.Wait()
		if _, err = w.Propose(t.Context(), ada, broker.ConnectionCreate, spec); err != nil {
			t.Errorf("once the claim can be given up: %v", err)
		}
	})
}

// I9: the log never has a service token's uuid.
func TestI9ALogWithoutServiceTokens(t *testing.T) {
	log := &logged{}
	bubble(t, func(t *testing.T, w *world) {
		p, err := w.Propose(t.Context(), ada, broker.ServiceTokenCreate, spec)
		if err != nil {
			t.Fatal(err)
		}
		w.begin(t, ada, p)
		w.ledger.set(failOp("move to created"), nil)
		c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
		if err != nil || c.Proposal.Result.UUID != uuid || c.Proposal.ShownUUID() != "..."+uuid[len(uuid)-4:] {
			t.Errorf("got %+v, %v", c.Proposal.Result, err)
		}
		w.ledger.set(nil, nil)
		if err := w.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = w.Begin(t.Context(), ada, p.Token)
		if r := refused(t, err, broker.ErrTokenReplayed); strings.Contains(r.Previous.UUID, uuid) {
			t.Errorf("a replay shows %s", r.Previous.UUID)
		}
		if out := log.String(); strings.Contains(out, uuid) || !strings.Contains(out, uuid[len(uuid)-4:]) {
			t.Errorf("got %s", out)
		}
	}, func(o *broker.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
}

// A record that cannot be made does not keep the process for ever.
func TestDrainGivesUpOnARecord(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		w.provider.set(func(f *provider) {
			f.create = func(ctx context.Context, r broker.Request) broker.Result {
				w.recorder.setFail(func(broker.EventKind) error { return errFault })
				return outcome(broker.OutcomeCreated, 0)(ctx, r)
			}
		})
		if c, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || c.Recorded || c.Proposal.ShownUUID() != uuid {
			t.Errorf("got %+v, %v", c, err)
		}
		began := time.Now()
		if err := w.Drain(t.Context()); err == nil || time.Since(began) > 20*time.Second {
			t.Errorf("drained with %v after %s", err, time.Since(began))
		}
		if w.intents.holder(p.Proposal.Hash) != p.Proposal.ID { // I8
			t.Error("the intent is gone")
		}
		w.recorder.setFail(nil)
		if err := w.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDrainWaitsForACreateInFlight(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if err := w.Drain(t.Context()); err != nil {
			t.Errorf("nothing is in flight, and draining fails: %v", err)
		}
		p, _ := w.ask(t)
		w.provider.set(func(f *provider) { f.create = outcome(broker.OutcomeCreated, 30*time.Second) })
		go func() { _, _ = w.Complete(t.Context(), p.Proposal.ID, yes) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := w.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		w.in(t, p.Proposal.ID, broker.Created, true)
	})
}
