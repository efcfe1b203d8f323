package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// What stops an approved request before anything has left.
func TestApprovedAndStopped(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		set    func(*broker.Options)
		before func(t *testing.T, w *world, p broker.Proposed)
		state  broker.State
		code   broker.Code
	}{
		{rule: "the request compiles to something else", code: broker.ErrRequestChanged, // I4
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.provider.set(func(p *provider) { p.drift = " " })
			}},
		{
			rule: "halted", code: broker.ErrHalted,
			before: func(_ *testing.T, w *world, _ broker.Proposed) { w.halt.reason = "stop" },
		},
		{
			rule: "halted during the last dry run", code: broker.ErrHalted,
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.provider.set(func(p *provider) {
					p.validate = func(ctx context.Context, _ broker.Request) error { return w.halt.Set(ctx, "stop") }
				})
			},
		},
		{rule: "the claim fails", code: broker.ErrAuditUnavailable, // I7
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.intents.setFail(func(string) error { return errFault })
			}},
		{rule: "the claim fails with its ledger", code: broker.ErrLedgerUnavailable, // I7
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.intents.setFail(func(string) error {
					return fmt.Errorf("%w: %w", broker.ErrAuditUnavailable, broker.ErrLedgerUnavailable)
				})
			}},
		{rule: "the claim is taken", code: broker.ErrSameRequestUnresolved, // I12
			before: func(t *testing.T, w *world, p broker.Proposed) {
				if err := w.intents.Claim(t.Context(), broker.Intent{Account: account.Identity, Hash: p.Proposal.Hash, ProposalID: "other"}); err != nil {
					t.Fatal(err)
				}
			}},
		{rule: "the sending cannot be recorded", state: broker.NotSent, code: broker.ErrAuditUnavailable, // I7
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.recorder.setFail(func(k broker.EventKind) error {
					if k == broker.EventSending {
						return errFault
					}
					return nil
				})
			}},
		{rule: "the last dry run is rejected", code: broker.ErrDryRunRejected, // I1
			before: lastDryRun(dryRun(broker.ErrDryRunRejected))},
		{rule: "the last dry run is unclear", code: broker.ErrDryRunUnclear, before: lastDryRun(dryRun(broker.ErrDryRunUnclear))},
		{
			rule: "the last dry run fails", code: broker.ErrInternal,
			before: lastDryRun(func(context.Context, broker.Request) error { return errFault }),
		},
		{
			rule: "the last dry run panics", code: broker.ErrInternal,
			before: lastDryRun(func(context.Context, broker.Request) error { panic("x") }),
		},
		{rule: "the last dry run hangs", code: broker.ErrUpstreamUnavailable, before: lastDryRun(sleeps(time.Hour))},
		{rule: "expired during the last dry run", state: broker.Expired, code: broker.ErrTokenExpired, // I6
			before: func(t *testing.T, w *world, p broker.Proposed) {
				w.clock.move(9*time.Minute + 50*time.Second)
				lastDryRun(sleeps(20*time.Second))(t, w, p)
			}, set: func(o *broker.Options) { o.AskTimeout = time.Hour }},
		{rule: "the price moved", code: broker.ErrPriceChanged, before: newPrice(monthly("10.01"))},
		{
			rule: "the dry run would change something now", code: broker.ErrDryRunUnclear,
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.provider.set(func(p *provider) {
					p.differs = []broker.Difference{{Path: "bandwidth_mbps", Sent: "50", Returned: "500"}}
				})
			},
		},
		{
			rule: "one of the same effect has turned up", code: broker.ErrPreflightFailed,
			before: func(_ *testing.T, w *world, _ broker.Proposed) {
				w.provider.set(func(p *provider) { p.twins = []broker.Asset{{UUID: uuid}} })
			},
		},
		{
			rule: "one of the same effect was made since", code: broker.ErrPreflightFailed,
			before: func(t *testing.T, w *world, _ broker.Proposed) {
				time.Sleep(time.Second)
				w.settleAs(t, broker.OutcomeCreated, `{"name":"other"}`)
			}, set: sameEffect,
		},
		{
			rule: "one of the same effect was lost since", code: broker.ErrPreflightFailed,
			before: func(t *testing.T, w *world, _ broker.Proposed) {
				time.Sleep(time.Second)
				w.settleAs(t, broker.OutcomeUnknown, `{"name":"other"}`)
			}, set: sameEffect,
		},
		{
			rule: "the daily ceiling", code: broker.ErrDailyCeiling,
			before: func(t *testing.T, w *world, _ broker.Proposed) {
				other := w.proposeAs(t, ada, []byte(`{"name":"other"}`))
				w.begin(t, ada, other)
				if _, err := w.Complete(t.Context(), other.Proposal.ID, yes); err != nil {
					t.Fatal(err)
				}
			}, set: func(o *broker.Options) { o.MaxCreates = 1 },
		},
	} {
		t.Run("refuses/"+tc.rule, func(t *testing.T) {
			set := tc.set
			if set == nil {
				set = func(*broker.Options) {}
			}
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				tc.before(t, w, p)
				before, held := len(w.provider.log()), w.intents.holder(p.Proposal.Hash)
				c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
				r := refused(t, err, tc.code)
				want := tc.state
				if want == "" {
					want = broker.Stopped
				}
				if c.Proposal.State != want || !r.Spent || !c.Recorded {
					t.Errorf("got %s, spent %v, recorded %v; want %s", c.Proposal.State, r.Spent, c.Recorded, want)
				}
				w.creates(t, before)
				w.intents.setFail(nil)
				if now := w.intents.holder(p.Proposal.Hash); now != held {
					t.Errorf("the request is held by %q, and was by %q", now, held)
				}
				// A re-sent retry reads the same.
				_, err = w.Complete(t.Context(), p.Proposal.ID, yes)
				if again := refused(t, err, tc.code); want == broker.Stopped && again.Message != r.Message {
					t.Errorf("first %q, then %q", r.Message, again.Message)
				}
			}, set)
		})
	}
}

// sameEffect has whatever is proposed have the same effect.
func sameEffect(o *broker.Options) {
	o.Provider.(*provider).twin = "effect" //nolint:forcetypeassert // a fake of the test
}

// What the person was told of stops nothing, nor what costs nothing.
func TestATwinThatStopsNothing(t *testing.T) {
	asset := []broker.Asset{{UUID: uuid}}
	for rule, tc := range map[string]struct {
		before, asked func(w *world, t *testing.T)
	}{
		"told as an asset": {before: func(w *world, _ *testing.T) { w.provider.set(func(p *provider) { p.twins = asset }) }},
		"told as a create": {
			before: func(w *world, t *testing.T) { w.settleAs(t, broker.OutcomeCreated, `{"name":"other"}`) },
			asked:  func(w *world, _ *testing.T) { w.provider.set(func(p *provider) { p.twins = asset }) },
		},
		"of what costs nothing": {
			before: func(w *world, _ *testing.T) { w.provider.set(func(p *provider) { p.brief.Billable = false }) },
			asked:  func(w *world, _ *testing.T) { w.provider.set(func(p *provider) { p.twins = asset }) },
		},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				tc.before(w, t)
				time.Sleep(time.Second)
				p, _ := w.ask(t)
				if tc.asked != nil {
					tc.asked(w, t)
				}
				if c, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Created {
					t.Errorf("got %s, %v", c.Proposal.State, err)
				}
			}, sameEffect)
		})
	}
}

func lastDryRun(f func(context.Context, broker.Request) error) func(*testing.T, *world, broker.Proposed) {
	return func(_ *testing.T, w *world, _ broker.Proposed) { w.provider.set(func(p *provider) { p.validate = f }) }
}

func newPrice(q pricing.Quote) func(*testing.T, *world, broker.Proposed) {
	return func(_ *testing.T, w *world, _ broker.Proposed) { w.quoter.set(func() pricing.Quote { return q }) }
}

// I11: a price that cannot be had changes nothing.
func TestI11APriceThatIsGoneStopsNothing(t *testing.T) {
	for rule, f := range map[string]func() pricing.Quote{
		"unpriced": func() pricing.Quote { return pricing.Unpriced("gone") },
		"panics":   func() pricing.Quote { panic("x") },
		"the same": func() pricing.Quote { return monthly("10.0") },
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				w.quoter.set(f)
				if c, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Created {
					t.Errorf("got %s, %v", c.Proposal.State, err)
				}
			})
		})
	}
}

func TestRecheckOffAsksNobodyAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		w.quoter.set(func() pricing.Quote { return monthly("99") })
		if c, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Created || w.provider.asked != 1 {
			t.Errorf("got %s, %v after %d dry runs", c.Proposal.State, err, w.provider.asked)
		}
	}, func(o *broker.Options) { o.Recheck = false })
}

// A last dry run that creates counts as the create, and everything halts.
func TestTheLastDryRunCreates(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		w.provider.set(func(f *provider) { f.validate = dryRun(broker.ErrDryRunCreated) })
		c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
		refused(t, err, broker.ErrDryRunCreated)
		if c.Proposal.State != broker.Created || c.Proposal.ShownUUID() != uuid {
			t.Errorf("got %+v", c.Proposal)
		}
		w.creates(t, 0)
		_, err = w.Propose(t.Context(), ada, broker.ConnectionCreate, []byte(`{}`))
		refused(t, err, broker.ErrHalted)
		if w.provider.asked != 2 {
			t.Errorf("%d dry runs", w.provider.asked)
		}
	})
}

// A dry run that creates at propose halts everything; its uuid is told.
func TestADryRunCreatesAtPropose(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.provider.set(func(f *provider) { f.validate = dryRun(broker.ErrDryRunCreated) })
		_, err := w.Propose(t.Context(), ada, broker.ConnectionCreate, spec)
		if r := refused(t, err, broker.ErrDryRunCreated); r.Result == nil || r.Result.UUID != uuid {
			t.Errorf("got %+v", r.Result)
		}
		if reason, _ := w.halt.Halted(t.Context()); reason == "" || w.recorder.count(broker.EventHalted, "") != 1 {
			t.Errorf("halted because of %q", reason)
		}
		w.creates(t, 0)
	})
}

// Nothing is created by a process in preview, whoever asked the person.
func TestPreviewSendsNothingThatAnotherProcessAsked(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		o := w.options
		o.Preview = true
		c, err := broker.New(o).Complete(t.Context(), p.Proposal.ID, yes)
		refused(t, err, broker.ErrPreviewMode)
		if c.Proposal.State != broker.Stopped || w.intents.holder(p.Proposal.Hash) != "" {
			t.Errorf("got %s", c.Proposal.State)
		}
		w.creates(t, 0)
	})
}

func TestARefusalIsItsCode(t *testing.T) {
	if !errors.Is(broker.Refuse(broker.ErrHalted, "n", "m %d", 1), broker.ErrHalted) {
		t.Error("a refusal is not its code")
	}
	if got := broker.Refuse(broker.ErrHalted, "n", "m %d", 1).Error(); got != "halted: m 1" {
		t.Errorf("got %q", got)
	}
}

// I3, I4: an approval holds for the request that was shown, and for no other.
func TestAnApprovalOfAnotherHashSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		a := yes
		a.Hash = broker.HashRequest(broker.ConnectionCreate, []byte("what was shown"))
		c, err := w.Complete(t.Context(), p.Proposal.ID, a)
		refused(t, err, broker.ErrRequestChanged)
		if c.Proposal.State != broker.Stopped {
			t.Errorf("it is %s", c.Proposal.State)
		}
		w.creates(t, 0)
	})
}
