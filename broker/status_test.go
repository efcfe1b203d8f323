package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fabricbroker/broker"
)

// I10: another's proposal does not exist.
func TestI10NobodyElseSeesAProposal(t *testing.T) {
	for rule, c := range map[string]broker.Caller{"another": bob, "nobody": {}} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				id := p.Proposal.ID
				_, err := w.Status(t.Context(), c, id, 0)
				mine := refused(t, err, broker.ErrProposalUnknown)
				_, err = w.Status(t.Context(), c, uuidOf(99), 0)
				if none := refused(t, err, broker.ErrProposalUnknown); none.Message != mine.Message || none.NextStep != mine.NextStep {
					t.Errorf("%q and %q tell apart what exists", mine.Message, none.Message)
				}
				_, err = w.Withdraw(t.Context(), c, id)
				refused(t, err, broker.ErrProposalUnknown)
				_, err = w.Question(t.Context(), c, id)
				refused(t, err, broker.ErrProposalUnknown)
				if all, err := w.Status(t.Context(), c, "", 0); err != nil || len(all) != 0 {
					t.Errorf("sees %+v, %v", all, err)
				}
				w.in(t, id, broker.Asking, true)
			})
		})
	}
}

func TestStatusListsTheNewestFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var ids []broker.ID
		for range 3 {
			ids = append(ids, w.propose(t).Proposal.ID)
			time.Sleep(time.Second)
		}
		all, err := w.Status(t.Context(), ada, "", 2)
		if err != nil || len(all) != 2 || all[0].Proposal.ID != ids[2] || all[1].Proposal.ID != ids[1] {
			t.Errorf("got %+v, %v", all, err)
		}
		one, err := w.Status(t.Context(), ada, ids[0], 0)
		if err != nil || len(one) != 1 || one[0].Proposal.ID != ids[0] {
			t.Errorf("got %+v, %v", one, err)
		}
		w.ledger.set(failOp("load", "list"), nil)
		for _, id := range []broker.ID{"", ids[0]} {
			_, err := w.Status(t.Context(), ada, id, 0)
			refused(t, err, broker.ErrLedgerUnavailable)
		}
	})
}

func TestWithdraw(t *testing.T) {
	t.Run("a pending one stays unspent", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p := w.propose(t)
			if _, err := w.Withdraw(t.Context(), ada, p.Proposal.ID); err != nil {
				t.Error(err)
			}
			got := w.in(t, p.Proposal.ID, broker.Withdrawn, false)
			if status, _ := got.Confirmation(); status != "" {
				t.Errorf("nobody was asked, and it says %q", status)
			}
		})
	})
	t.Run("a question that is asked ends", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p, _ := w.ask(t)
			if _, err := w.Withdraw(t.Context(), ada, p.Proposal.ID); err != nil {
				t.Error(err)
			}
			got := w.in(t, p.Proposal.ID, broker.Withdrawn, true)
			if status, detail := got.Confirmation(); status != "withdrawn" || detail == "" {
				t.Errorf("got %q, %q", status, detail)
			}
			if c, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || c.Proposal.State != broker.Withdrawn {
				t.Errorf("got %s, %v", c.Proposal.State, err)
			}
			w.creates(t, 0)
		})
	})
	t.Run("refuses/decided", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			p, _ := w.ask(t)
			_, _ = w.Complete(t.Context(), p.Proposal.ID, yes)
			_, err := w.Withdraw(t.Context(), ada, p.Proposal.ID)
			if r := refused(t, err, broker.ErrNotPending); r.Previous == nil || r.Previous.UUID != uuid || !r.Spent {
				t.Errorf("got %+v", r)
			}
		})
	})
}

// An authentic token always gets what is recorded for its proposal.
func TestEveryReplayTellsThePreviousOutcome(t *testing.T) {
	for rule, tc := range map[string]struct {
		answer   broker.Answer
		create   func(context.Context, broker.Request) broker.Result
		want     broker.Outcome
		uuid     string
		mayExist bool
	}{
		"created":  {yes, nil, broker.OutcomeCreated, uuid, true},
		"rejected": {yes, result(broker.OutcomeRejected, broker.ErrUpstreamRejected), broker.OutcomeRejected, "", false},
		"unknown":  {yes, outcome(broker.OutcomeUnknown, 0), broker.OutcomeUnknown, "", true},
		"declined": {no, nil, broker.OutcomeNotSent, "", false},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p, _ := w.ask(t)
				w.provider.set(func(f *provider) { f.create = tc.create })
				_, _ = w.Complete(t.Context(), p.Proposal.ID, tc.answer)
				at := w.clock.now().UTC().Format(time.RFC3339)
				for range 3 { // at once, after its expiry, and later on
					_, err := w.Begin(t.Context(), ada, p.Token)
					r := refused(t, err, broker.ErrTokenReplayed)
					want := broker.Previous{ProposalID: p.Proposal.ID, State: w.state(t, p.Proposal.ID).State, Outcome: tc.want, UUID: tc.uuid, At: at}
					if r.Previous == nil || *r.Previous != want || !r.Spent {
						t.Errorf("got %+v, want %+v", r.Previous, want)
					}
					if warns := len(r.NextStep) > 20 && r.NextStep[:20] == "do not propose again"; warns != tc.mayExist {
						t.Errorf("next step: %s", r.NextStep)
					}
					time.Sleep(time.Hour)
				}
				w.creates(t, min(len(w.provider.log()), 1)) // I2
			})
		})
	}
}

// I6: asking again moves no deadline.
func TestI6QuestionMovesNoDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, q := w.ask(t)
		time.Sleep(4 * time.Minute)
		again, err := w.Question(t.Context(), ada, p.Proposal.ID)
		if err != nil || !again.Proposal.AskUntil.Equal(q.Proposal.AskUntil) || !again.Proposal.ExpiresAt.Equal(q.Proposal.ExpiresAt) ||
			again.Proposal.Hash != q.Proposal.Hash || again.Code != q.Code {
			t.Errorf("got %+v, %v; first %+v", again, err, q)
		}
		_, _ = w.Complete(t.Context(), p.Proposal.ID, no)
		_, err = w.Question(t.Context(), ada, p.Proposal.ID)
		if lost, ok := errors.AsType[*broker.LostError](err); !ok || lost.Proposal.State != broker.Declined {
			t.Errorf("got %v", err)
		}
	})
}

func TestWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		id := p.Proposal.ID
		begin := time.Now()
		time.AfterFunc(time.Second, func() { _, _ = w.Complete(context.Background(), id, no) })
		got, err := w.Wait(t.Context(), id, broker.Asking)
		if took := time.Since(begin); err != nil || got.State != broker.Declined || took != time.Second {
			t.Errorf("got %s, %v after %s: woken late", got.State, err, took)
		}
		if got, err := w.Wait(t.Context(), id, broker.Asking); err != nil || got.State != broker.Declined {
			t.Errorf("got %s, %v", got.State, err)
		}
		_, err = w.Wait(t.Context(), uuidOf(99), broker.Asking)
		refused(t, err, broker.ErrProposalUnknown)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := w.Wait(ctx, id, broker.Declined); !errors.Is(err, context.DeadlineExceeded) || got.ID != id {
			t.Errorf("got %s, %v", got.ID, err)
		}
	})
}

func TestWaitSeesTheStepsOfOtherProcesses(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.ask(t)
		other := broker.New(w.options) // the same ledger
		time.AfterFunc(time.Second, func() { _, _ = other.Withdraw(context.Background(), ada, p.Proposal.ID) })
		begin := time.Now()
		got, err := w.Wait(t.Context(), p.Proposal.ID, broker.Asking)
		if took := time.Since(begin); err != nil || got.State != broker.Withdrawn || took > 2*time.Second {
			t.Errorf("got %s, %v after %s", got.State, err, took)
		}
	})
}
