package broker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// steps are what can happen to a wall clock. The machine's sleep looks like a
// clock that is set forward: timers and the clock that nobody sets stand still.
var steps = map[string]time.Duration{"set forward, or slept": time.Hour, "set back": -time.Hour}

// I2, I6: the clock jumps in each state of a proposal. What is over by the wall
// clock is not sent, and what was sent keeps its outcome.
func TestClockStepsInEachState(t *testing.T) {
	onMove := func(to broker.State) func(*world, func()) {
		return func(w *world, jump func()) {
			w.ledger.moved = func(was broker.State, p broker.Proposal) {
				w.watchMove(was, p)
				if p.State == to {
					jump()
				}
			}
		}
	}
	during := func(hook func(p *provider, jump func())) func(*world, func()) {
		return func(w *world, jump func()) { w.provider.set(func(p *provider) { hook(p, jump) }) }
	}
	for in, tc := range map[string]struct {
		// arm has jump called in the state, once the person has been asked;
		// nil is before that.
		arm           func(w *world, jump func())
		forward, back broker.State
		creates       [2]int
	}{
		"pending":           {nil, broker.Expired, broker.Created, [2]int{0, 1}},
		"asking":            {func(_ *world, jump func()) { jump() }, broker.TimedOut, broker.Created, [2]int{0, 1}},
		"approved":          {onMove(broker.Approved), broker.Expired, broker.Created, [2]int{0, 1}},
		"the last dry run":  {during(func(p *provider, jump func()) { p.validate = jumps(jump) }), broker.Expired, broker.Created, [2]int{0, 1}},
		"sending, unsent":   {onMove(broker.Sending), broker.NotSent, broker.Created, [2]int{0, 1}},
		"sending, sent":     {during(func(p *provider, jump func()) { p.create = jumpsAnd(jump, broker.OutcomeCreated) }), broker.Created, broker.Created, [2]int{1, 1}},
		"sending, and lost": {during(func(p *provider, jump func()) { p.create = jumpsAnd(jump, broker.OutcomeUnknown) }), broker.Unknown, broker.Unknown, [2]int{1, 1}},
	} {
		for n, step := range []string{"set forward, or slept", "set back"} {
			t.Run(in+"/"+step, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					jumped := false
					jump := func() {
						if !jumped {
							jumped = true
							w.clock.move(steps[step])
						}
					}
					p := w.propose(t)
					id := p.Proposal.ID
					if tc.arm == nil {
						jump()
					}
					if _, err := w.Begin(t.Context(), ada, p.Token); err == nil {
						w.show(broker.Question{Proposal: p.Proposal})
						if tc.arm != nil {
							tc.arm(w, jump)
						}
						_, _ = w.Complete(t.Context(), id, yes)
					}
					want := []broker.State{tc.forward, tc.back}[n]
					if got := w.in(t, id, want, true); got.State.Unresolved() != (w.intents.holder(p.Proposal.Hash) == id) {
						t.Errorf("the intent of what is %s is held by %q", got.State, w.intents.holder(p.Proposal.Hash))
					}
					w.creates(t, tc.creates[n])
					if !jumped {
						t.Error("the clock did not jump")
					}
				})
			})
		}
	}
}

func jumps(jump func()) func(context.Context, broker.Request) error {
	return func(context.Context, broker.Request) error { jump(); return nil }
}

func jumpsAnd(jump func(), o broker.Outcome) func(context.Context, broker.Request) broker.Result {
	return func(ctx context.Context, r broker.Request) broker.Result { jump(); return outcome(o, 0)(ctx, r) }
}

// I8: a young unknown does not become absent because a clock was set, and is
// looked for on time all the same.
func TestClockStepsWhileUnknown(t *testing.T) {
	for step, by := range steps {
		for _, late := range []bool{false, true} { // the search shows it after a minute, or never
			t.Run(step, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					go w.Run(ctx)
					lost := time.Now()
					w.provider.set(func(p *provider) {
						p.create = outcome(broker.OutcomeUnknown, 0)
						p.find = func() []broker.Asset {
							if late && time.Since(lost) > time.Minute {
								return []broker.Asset{{UUID: uuid, Name: "thing"}}
							}
							return nil
						}
					})
					p, _ := w.ask(t)
					id := p.Proposal.ID
					_, _ = w.Complete(t.Context(), id, yes)
					time.Sleep(time.Second)
					w.clock.move(by)
					time.Sleep(40 * time.Second)
					w.in(t, id, broker.Unknown, true)
					_, err := w.Propose(t.Context(), ada, broker.ConnectionCreate, spec)
					refused(t, err, broker.ErrSameRequestUnresolved)
					if _, _, err := w.Reconcile(t.Context(), id); err != nil { // somebody asks for its status
						t.Error(err)
					}
					w.in(t, id, broker.Unknown, true)
					want := broker.Absent
					if late {
						want = broker.Created
						time.Sleep(2 * time.Minute)
					} else {
						time.Sleep(15 * time.Minute)
					}
					synctest.Wait()
					w.in(t, id, want, true)
					w.creates(t, 1)
				})
			})
		}
	}
}
