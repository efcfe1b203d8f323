package broker_test

import (
	"fmt"
	"testing"
	"time"

	"fabricbroker/broker"
)

func TestSixHundredConfirmsAMinute(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.propose(t)
		for range 600 { // whatever they are, and whoever made the token
			_, err := w.Begin(t.Context(), ada, broker.NewSecret("chg-x"))
			refused(t, err, broker.ErrTokenMalformed)
		}
		events := len(w.recorder.events)
		_, err := w.Begin(t.Context(), ada, p.Token)
		if r := refused(t, err, broker.ErrRateLimited); r.Spent {
			t.Error("says that it is spent")
		}
		if len(w.recorder.events) != events {
			t.Error("a confirm too many is logged one by one")
		}
		w.in(t, p.Proposal.ID, broker.Pending, false) // I5
		w.begin(t, bob, w.proposeAs(t, bob, spec))    // I10: nobody else is held up
		time.Sleep(time.Minute)
		w.begin(t, ada, p)
	})
}

func TestTheMinuteSurvivesAClockThatIsSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for range 601 {
			_, _ = w.Begin(t.Context(), ada, broker.NewSecret("chg-x"))
		}
		w.clock.move(-time.Hour)
		w.begin(t, ada, w.propose(t))
	})
}

func spread(w *world, t *testing.T, c broker.Caller, n int) []broker.Proposed {
	t.Helper()
	var out []broker.Proposed
	for i := range n {
		out = append(out, w.proposeAs(t, c, fmt.Appendf(nil, `{"name":"thing-%d"}`, i)))
	}
	return out
}

func TestFivePromptsWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ps := spread(w, t, ada, 6)
		for _, p := range ps[:5] {
			w.begin(t, ada, p)
		}
		_, err := w.Begin(t.Context(), ada, ps[5].Token)
		if r := refused(t, err, broker.ErrRateLimited); r.Spent || r.Checks == nil {
			t.Errorf("spent %v, checks %v", r.Spent, r.Checks)
		}
		w.in(t, ps[5].Proposal.ID, broker.Pending, false) // I5
		w.begin(t, bob, w.proposeAs(t, bob, spec))        // I10
		if _, err := w.Complete(t.Context(), ps[0].Proposal.ID, no); err != nil {
			t.Fatal(err)
		}
		w.begin(t, ada, ps[5])
	})
}

func TestAPromptPastItsDeadlineWaitsForNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ps := spread(w, t, ada, 6)
		for _, p := range ps[:5] {
			w.begin(t, ada, p)
		}
		time.Sleep(5*time.Minute + time.Second)
		w.begin(t, ada, ps[5])
	})
}

func TestThreeNoesPause(t *testing.T) {
	for _, s := range []broker.State{broker.Declined, broker.Cancelled} {
		t.Run(string(s), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				for range 3 {
					p, _ := w.ask(t)
					if _, err := w.Complete(t.Context(), p.Proposal.ID, broker.Answer{State: s, Status: string(s)}); err != nil {
						t.Fatal(err)
					}
				}
				p := w.propose(t) // proposing is possible
				_, err := w.Begin(t.Context(), ada, p.Token)
				if r := refused(t, err, broker.ErrCoolingDown); r.Spent {
					t.Error("says that it is spent")
				}
				w.in(t, p.Proposal.ID, broker.Pending, false) // I5
				w.begin(t, bob, w.proposeAs(t, bob, spec))    // I10
				time.Sleep(10*time.Minute - time.Second)
				p = w.propose(t)
				_, err = w.Begin(t.Context(), ada, p.Token)
				refused(t, err, broker.ErrCoolingDown)
				time.Sleep(time.Second)
				w.begin(t, ada, p)
			})
		})
	}
}

func TestWhatIsNoNo(t *testing.T) {
	for rule, f := range map[string]func(w *world, t *testing.T, n int){
		"answers that are no decision": func(w *world, t *testing.T, _ int) {
			for _, s := range []broker.State{broker.TimedOut, broker.Failed, broker.CallCancelled, broker.UnsupportedByClient} {
				p, _ := w.ask(t)
				_, _ = w.Complete(t.Context(), p.Proposal.ID, broker.Answer{State: s, Status: string(s)})
			}
		},
		"noes more than ten minutes apart": func(w *world, t *testing.T, _ int) {
			p, _ := w.ask(t)
			_, _ = w.Complete(t.Context(), p.Proposal.ID, no)
			time.Sleep(5 * time.Minute)
		},
		"the same no twice": func(w *world, t *testing.T, n int) {
			if n > 0 {
				return
			}
			p, _ := w.ask(t)
			for range 4 {
				_, _ = w.Complete(t.Context(), p.Proposal.ID, no)
			}
		},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				for n := range 4 {
					f(w, t, n)
				}
				w.ask(t)
			})
		})
	}
}
