package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

func TestCompleteCreatesOnceAfterAnApproval(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
		if err != nil || !c.Recorded || c.Proposal.State != broker.Created || c.Proposal.ShownUUID() != uuid {
			t.Fatalf("got %+v, %v", c, err)
		}
		if diff := cmp.Diff(checks(true, true, true, true, true), c.Checks); diff != "" {
			t.Errorf("checks (-want +got)\n%s", diff)
		}
		w.creates(t, 1)
		if w.intents.holder(p.Proposal.Hash) != "" {
			t.Error("a settled create is still held")
		}
		// I2: whoever answers again gets what the first answer came to.
		for _, a := range []broker.Answer{yes, no} {
			again, err := w.Complete(t.Context(), p.Proposal.ID, a)
			if err != nil || again.Proposal.State != broker.Created || again.Proposal.ShownUUID() != uuid {
				t.Errorf("got %+v, %v", again, err)
			}
		}
		w.creates(t, 1)
	})
}

// I3: nothing but an approval creates.
func TestI3NoOtherAnswerCreates(t *testing.T) {
	for s := range outcomes {
		if s == broker.Approved {
			continue
		}
		t.Run(string(s), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				c, _ := w.Complete(t.Context(), p.Proposal.ID, broker.Answer{State: s, Status: string(s), Channel: "form"})
				want := s
				if !broker.Asking.CanBecome(s) {
					want = broker.Asking // what cannot follow a question is no answer
				}
				if c.Proposal.State != want {
					t.Errorf("got %s, want %s", c.Proposal.State, want)
				}
				w.in(t, p.Proposal.ID, want, true)
				w.creates(t, 0)
			})
		})
	}
}

// I3: an approval counts only for a proposal whose question was asked.
func TestI3AnApprovalOfWhatWasNotAskedCreatesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		if c, _ := w.Complete(t.Context(), p.Proposal.ID, yes); c.Proposal.State != broker.Pending {
			t.Errorf("got %s", c.Proposal.State)
		}
		_, err := w.Complete(t.Context(), uuidOf(99), yes)
		refused(t, err, broker.ErrProposalUnknown)
		w.creates(t, 0)
	})
}

func TestDeadlinesDecideBeforeAnswers(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		after  time.Duration
		answer broker.Answer
		asking time.Duration
		want   broker.State
		code   broker.Code
	}{
		{"at the asking deadline an approval counts", 5 * time.Minute, yes, 0, broker.Created, ""},
		{"after the asking deadline", 5*time.Minute + 1, yes, 0, broker.TimedOut, ""},
		{"after the asking deadline a no is late too", 5*time.Minute + 1, no, 0, broker.TimedOut, ""},
		{"after both deadlines", 11 * time.Minute, yes, 0, broker.TimedOut, ""},
		{"just before the expiry", 10*time.Minute - 1, yes, time.Hour, broker.Created, ""},
		{"refuses/expired while asking", 10 * time.Minute, yes, time.Hour, broker.Expired, broker.ErrTokenExpired},
		{"a no after the expiry is a no", 10 * time.Minute, no, time.Hour, broker.Declined, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				w.clock.move(tc.after)
				c, err := w.Complete(t.Context(), p.Proposal.ID, tc.answer)
				if c.Proposal.State != tc.want {
					t.Errorf("got %s, want %s", c.Proposal.State, tc.want)
				}
				if tc.code == "" && err != nil {
					t.Errorf("got %v", err)
				}
				if tc.code != "" {
					r := refused(t, err, tc.code) // I6
					if r.Checks == nil || r.Checks.NotExpired == nil || *r.Checks.NotExpired || !r.Spent {
						t.Errorf("checks %+v, spent %v", r.Checks, r.Spent)
					}
				}
				want := 0
				if tc.want == broker.Created {
					want = 1
				}
				w.creates(t, want)
			}, func(o *broker.Options) { o.AskTimeout = max(tc.asking, 5*time.Minute) })
		})
	}
}

func TestACallThatIsCancelledBeforeSending(t *testing.T) {
	t.Run("before the answer", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p, _ := w.ask(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			c, err := w.Complete(ctx, p.Proposal.ID, yes)
			if err != nil || c.Proposal.State != broker.CallCancelled || c.Proposal.Answer.Status != "call_cancelled" {
				t.Errorf("got %+v, %v", c.Proposal, err)
			}
			w.creates(t, 0)
		})
	})
	t.Run("during the last dry run", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p, _ := w.ask(t)
			w.provider.set(func(f *provider) { f.validate = sleeps(30 * time.Second) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c, err := w.Complete(ctx, p.Proposal.ID, yes)
			if err != nil || c.Proposal.State != broker.CallCancelled || w.intents.holder(p.Proposal.Hash) != "" {
				t.Errorf("got %+v, %v", c.Proposal, err)
			}
			w.creates(t, 0)
		})
	})
	t.Run("too late once it is sending", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p, _ := w.ask(t)
			w.provider.set(func(f *provider) { f.create = outcome(broker.OutcomeCreated, 30*time.Second) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c, err := w.Complete(ctx, p.Proposal.ID, yes)
			if err != nil || c.Proposal.State != broker.Created {
				t.Errorf("got %+v, %v", c.Proposal, err)
			}
			w.creates(t, 1)
		})
	})
}

func TestWhatTheProviderSays(t *testing.T) {
	for rule, tc := range map[string]struct {
		create func(context.Context, broker.Request) broker.Result
		want   broker.State
		code   broker.Code
	}{
		"rejected":          {result(broker.OutcomeRejected, broker.ErrUpstreamRejected), broker.Rejected, broker.ErrUpstreamRejected},
		"not sent":          {result(broker.OutcomeNotSent, broker.ErrUpstreamUnavailable), broker.NotSent, broker.ErrUpstreamUnavailable},
		"unknown":           {outcome(broker.OutcomeUnknown, 0), broker.Unknown, ""},
		"nothing at all":    {outcome("", 0), broker.Unknown, ""},
		"absent is no":      {outcome(broker.OutcomeAbsent, 0), broker.Unknown, ""},
		"panics":            {func(context.Context, broker.Request) broker.Result { panic("x") }, broker.Unknown, ""},
		"hangs":             {outcome(broker.OutcomeCreated, time.Hour), broker.Unknown, ""},
		"a nil dereference": {func(context.Context, broker.Request) broker.Result { var r *broker.Result; return *r }, broker.Unknown, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				w.provider.set(func(f *provider) { f.create = tc.create })
				begin := w.clock.now()
				c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
				if c.Proposal.State != tc.want {
					t.Errorf("got %s, want %s", c.Proposal.State, tc.want)
				}
				if took := w.clock.now().Sub(begin); took > time.Minute {
					t.Errorf("took %s", took)
				}
				if tc.code != "" {
					refused(t, err, tc.code)
				} else if err != nil { // I8: unknown is no error
					t.Errorf("got %v", err)
				}
				unknown := tc.want == broker.Unknown
				if held := w.intents.holder(p.Proposal.Hash) != ""; held != unknown {
					t.Errorf("held %v", held)
				}
				// I8: the same request is refused while it is unknown, for anybody.
				_, err = w.Propose(t.Context(), bob, broker.ConnectionCreate, spec)
				if unknown {
					refused(t, err, broker.ErrSameRequestUnresolved)
				} else if err != nil {
					t.Errorf("got %v", err)
				}
				w.creates(t, 1)
			})
		})
	}
}

func result(o broker.Outcome, c broker.Code) func(context.Context, broker.Request) broker.Result {
	return func(context.Context, broker.Request) broker.Result {
		return broker.Result{Outcome: o, Code: c, Detail: "the provider said no"}
	}
}
