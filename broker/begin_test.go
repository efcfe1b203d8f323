package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
)

func TestBeginAsks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, q := w.ask(t)
		got := w.in(t, p.Proposal.ID, broker.Asking, true)
		if !got.AskUntil.Equal(w.clock.now().Add(5*time.Minute)) || q.Account != account || q.Proposal.Payload == nil {
			t.Errorf("asks until %s with %+v", got.AskUntil, q)
		}
		// I4: what is shown is what is bound.
		if want := broker.HashRequest(broker.ConnectionCreate, spec); q.Proposal.Hash != want || p.Request.Hash != want {
			t.Errorf("shows %s, want %s", q.Proposal.Hash, want)
		}
		if w.recorder.count(broker.EventAsked, p.Proposal.ID) != 1 {
			t.Error("asked without a record")
		}
	})
}

// refusal is one way in which a confirm is refused.
type refusal struct {
	rule    string
	options func(*broker.Options)
	// before happens between propose and begin and may replace what begin gets.
	before func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret)
	code   broker.Code
	checks broker.Checks
	state  broker.State
	spent  bool
}

func token(p broker.Proposed) (broker.Caller, broker.Secret) { return ada, p.Token }

func TestI5RefusalsThatSpendNothing(t *testing.T) {
	none := checks(nil, nil, nil, nil, nil)
	reached := checks(true, true, true, nil, nil)
	for _, tc := range []refusal{
		{
			rule: "no token", code: broker.ErrTokenMissing, checks: none,
			before: func(*testing.T, *world, broker.Proposed) (broker.Caller, broker.Secret) { return ada, broker.Secret{} },
		},
		{
			rule: "no shape", code: broker.ErrTokenMalformed, checks: none,
			before: func(*testing.T, *world, broker.Proposed) (broker.Caller, broker.Secret) {
				return ada, broker.NewSecret("chg-x")
			},
		},
		{
			rule: "another key", code: broker.ErrTokenUnknown, checks: none,
			before: func(t *testing.T, _ *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				s, err := seal.Ephemeral().Mint(p.Proposal, confirmTool)
				if err != nil {
					t.Fatal(err)
				}
				return ada, s
			},
		},
		{
			rule: "another account", code: broker.ErrTokenForged, checks: none,
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				q := p.Proposal
				q.Account = "account-2"
				s, err := w.options.Tokens.Mint(q, confirmTool)
				if err != nil {
					t.Fatal(err)
				}
				return ada, s
			},
		},
		{
			rule: "another tool", code: broker.ErrWrongTool, checks: none,
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				s, err := w.options.Tokens.Mint(p.Proposal, "another_tool")
				if err != nil {
					t.Fatal(err)
				}
				return ada, s
			},
		},
		{rule: "another principal", code: broker.ErrWrongPrincipal, checks: none, // I10
			before: func(_ *testing.T, _ *world, p broker.Proposed) (broker.Caller, broker.Secret) { return bob, p.Token }},
		{rule: "nobody", code: broker.ErrWrongPrincipal, checks: none, // I10
			before: func(_ *testing.T, _ *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				return broker.Caller{}, p.Token
			}},
		{
			rule: "preview", code: broker.ErrPreviewMode, checks: reached,
			options: func(o *broker.Options) { o.Preview = true },
			before:  func(_ *testing.T, _ *world, p broker.Proposed) (broker.Caller, broker.Secret) { return token(p) },
		},
		{
			rule: "halted", code: broker.ErrHalted, checks: reached,
			before: func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.halt.reason = "stop"
				return token(p)
			},
		},
		{
			rule: "a halt switch that cannot be read", code: broker.ErrHalted, checks: reached,
			before: func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.halt.err = errFault
				return token(p)
			},
		},
		{
			rule: "a ledger that cannot be read", code: broker.ErrLedgerUnavailable, checks: none,
			before: func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.ledger.set(failOp("load"), nil)
				return token(p)
			},
		},
		{
			rule: "withdrawn", code: broker.ErrNotPending, checks: checks(true, true, nil, nil, nil), state: broker.Withdrawn,
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				if _, err := w.Withdraw(t.Context(), ada, p.Proposal.ID); err != nil {
					t.Fatal(err)
				}
				return token(p)
			},
		},
		{
			rule: "evicted", code: broker.ErrTokenEvicted, checks: checks(true, false, nil, nil, nil), state: broker.Evicted,
			options: func(o *broker.Options) { o.MaxPending = 1 },
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.propose(t)
				return token(p)
			},
		},
	} {
		t.Run("refuses/"+tc.rule, func(t *testing.T) { tc.run(t) })
	}
}

func TestI5RefusalsThatSpend(t *testing.T) {
	later := func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
		w.clock.move(10 * time.Minute)
		return token(p)
	}
	for _, tc := range []refusal{
		{
			rule: "expired", code: broker.ErrTokenExpired, checks: checks(true, true, true, false, nil),
			before: later, state: broker.Expired, spent: true,
		},
		{
			rule: "expired, and somebody had looked", code: broker.ErrTokenExpired, checks: checks(true, true, true, false, nil),
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.clock.move(10 * time.Minute)
				w.state(t, p.Proposal.ID)
				return token(p)
			}, state: broker.Expired, spent: true,
		},
		{
			rule: "the request compiles to something else", code: broker.ErrRequestChanged, // I4
			checks: checks(true, true, true, true, false), state: broker.Stopped, spent: true,
			before: func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.provider.set(func(f *provider) { f.drift = " " })
				return token(p)
			},
		},
		{
			rule: "the question cannot be recorded", code: broker.ErrAuditUnavailable, // I11
			checks: checks(true, true, true, true, true), state: broker.Stopped, spent: true,
			before: func(_ *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.recorder.setFail(func(broker.EventKind) error { return errFault })
				return token(p)
			},
		},
		{
			rule: "used while asking", code: broker.ErrTokenReplayed,
			checks: checks(true, true, false, nil, nil), state: broker.Asking, spent: true,
			before: func(t *testing.T, w *world, p broker.Proposed) (broker.Caller, broker.Secret) {
				w.begin(t, ada, p)
				return token(p)
			},
		},
	} {
		t.Run("refuses/"+tc.rule, func(t *testing.T) { tc.run(t) })
	}
}

func (tc refusal) run(t *testing.T) {
	t.Helper()
	var set []func(*broker.Options)
	if tc.options != nil {
		set = append(set, tc.options)
	}
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		c, secret := tc.before(t, w, p)
		_, err := w.Begin(t.Context(), c, secret)
		r := refused(t, err, tc.code)
		if r.Checks == nil {
			t.Fatal("a confirm refused without checks")
		}
		if diff := cmp.Diff(tc.checks, *r.Checks); diff != "" {
			t.Errorf("checks (-want +got)\n%s", diff)
		}
		if r.Spent != tc.spent {
			t.Errorf("says spent %v, want %v", r.Spent, tc.spent)
		}
		if tc.state == "" {
			tc.state = broker.Pending
		}
		w.in(t, p.Proposal.ID, tc.state, tc.spent)
		w.creates(t, 0)
	}, set...)
}

func TestI5ACallCancelledBeforeItBeganSpendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Begin(ctx, ada, p.Token)
		refused(t, err, broker.ErrNotPending)
		w.in(t, p.Proposal.ID, broker.Pending, false)
	})
}

func TestAnAuthenticTokenOfANewProcessIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		w.restart()
		_, err := w.Begin(t.Context(), ada, p.Token)
		r := refused(t, err, broker.ErrTokenUnknown)
		if diff := cmp.Diff(checks(false, nil, nil, nil, nil), *r.Checks); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A forged token never reaches the ledger.
func TestAForgedTokenReachesNoLedger(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		w.ledger.set(func(op string, _ broker.Step) error { t.Errorf("the ledger was asked to %s", op); return nil }, nil)
		text := []byte(p.Token.Reveal())
		for i := range text {
			forged := append([]byte{}, text...)
			forged[i] ^= 1
			if _, err := w.Begin(t.Context(), ada, broker.NewSecret(string(forged))); err == nil {
				t.Errorf("character %d can be changed", i)
			}
		}
	})
}

func failOp(ops ...string) func(string, broker.Step) error {
	return func(op string, s broker.Step) error {
		for _, o := range ops {
			if op == o || op == "move" && "move to "+string(s.To) == o {
				return errFault
			}
		}
		return nil
	}
}

func TestI11ALedgerThatFailsAtBeginCreatesNothing(t *testing.T) {
	for _, after := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			p := w.propose(t)
			if fail := failOp("move"); after {
				w.ledger.set(nil, fail)
			} else {
				w.ledger.set(fail, nil)
			}
			_, err := w.Begin(t.Context(), ada, p.Token)
			refused(t, err, broker.ErrLedgerUnavailable)
			w.creates(t, 0)
		})
	}
}
