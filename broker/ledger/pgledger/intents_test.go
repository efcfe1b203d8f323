package pgledger

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

// later is a ledger whose database's clock the test moves, with its own clock.
type later struct {
	*Ledger
	t      *testing.T
	s      *server
	schema string
	at     time.Time
}

func newLater(t *testing.T) *later {
	s := sharedServer(t)
	w := &later{t: t, s: s, schema: s.schema(t), at: time.Now().Truncate(time.Microsecond)}
	s.movable(t, w.schema, w.at)
	w.Ledger = open(t, s.DSN(w.schema), func(o *Options) { o.Now = func() time.Time { return w.at } })
	return w
}

func (w *later) pass(d time.Duration) {
	w.at = w.at.Add(d)
	w.s.exec(w.t, w.schema, `UPDATE test_clock SET at = $1`, w.at)
}

func (w *later) listed(want ...broker.ID) []broker.Intent {
	w.t.Helper()
	list, err := w.Intents().List(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var got []broker.ID
	for _, i := range list {
		got = append(got, i.ProposalID)
	}
	if !cmp.Equal(got, want) {
		w.t.Errorf("listed %v, want %v", got, want)
	}
	return list
}

func (w *later) adopt(id broker.ID, want bool) {
	w.t.Helper()
	if got, err := w.Intents().Adopt(w.t.Context(), broker.Intent{ProposalID: id}); got != want || err != nil {
		w.t.Errorf("adopted %t, %v", got, err)
	}
}

func TestIntents(t *testing.T) {
	t.Run("a claim is listed as it was made, until it is settled", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		i := intent(p)
		i.MintedAt, i.ClaimedAt, i.SendBy = w.at, w.at, w.at.Add(time.Minute)
		if err := w.Intents().Claim(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(i, w.listed(p.ID)[0]); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if err := w.Intents().Claim(t.Context(), i); !errors.Is(err, broker.ErrSameRequestUnresolved) {
			t.Errorf("a second claim: %v", err)
		}
		if err := w.Intents().Settle(t.Context(), p.Account, p.Hash, "another"); err != nil {
			t.Error(err)
		}
		w.listed(p.ID)
		for range 2 {
			if err := w.Intents().Settle(t.Context(), p.Account, p.Hash, p.ID); err != nil {
				t.Error(err)
			}
		}
		w.listed()
	})
	t.Run("I8: it cannot be settled while the proposal is sending or unknown", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		settle := func() error { return w.Intents().Settle(t.Context(), p.Account, p.Hash, p.ID) }
		if err := w.Intents().Claim(t.Context(), intent(p)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []broker.State{broker.Sending, broker.Unknown} {
			mustMove(t, w.Ledger, step(p.ID, map[broker.State]broker.State{broker.Sending: broker.Approved, broker.Unknown: broker.Sending}[s], s))
			if err := settle(); !errors.Is(err, broker.ErrAuditUnavailable) {
				t.Errorf("%s: %v", s, err)
			}
		}
		mustMove(t, w.Ledger, step(p.ID, broker.Unknown, broker.Created))
		if err := settle(); err != nil {
			t.Error(err)
		}
		w.listed()
	})
	t.Run("I12: a claim holds up equal creates of other proposals", func(t *testing.T) {
		w := newLater(t)
		p, q := proposal(ada, "a"), proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		at(t, w.Ledger, q, broker.Approved)
		if err := w.Intents().Claim(t.Context(), intent(p)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Move(t.Context(), step(q.ID, broker.Approved, broker.Sending)); !errors.Is(err, broker.ErrSameRequestUnresolved) {
			t.Errorf("got %v", err)
		}
		mustMove(t, w.Ledger, step(p.ID, broker.Approved, broker.Sending))
	})
	t.Run("sending is taken over a minute after its deadline, by the database's clock, once", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		i := intent(p)
		// The replica's clock is an hour behind: only the length counts.
		i.ClaimedAt, i.SendBy = i.ClaimedAt.Add(-time.Hour), i.SendBy.Add(-time.Hour)
		if err := w.Intents().Claim(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		mustMove(t, w.Ledger, step(p.ID, broker.Approved, broker.Sending))
		w.pass(105*time.Second + 60*time.Second)
		w.adopt(p.ID, false)
		is(t, w.Ledger, p.ID, broker.Sending)
		w.pass(time.Microsecond)
		w.adopt(p.ID, true)
		w.adopt(p.ID, false)
		got := load(t, w.Ledger, p.ID)
		if got.State != broker.Unknown || got.Result == nil || got.Result.Outcome != broker.OutcomeUnknown || got.Payload == nil || got.Answer == nil {
			t.Errorf("%+v", got)
		}
		w.listed(p.ID)
		// The sender lives after all.
		late := step(p.ID, broker.Sending, broker.Created)
		late.From = append(late.From, broker.Unknown, broker.Absent)
		mustMove(t, w.Ledger, late)
	})
	t.Run("a proposal that is sending without a claim is listed and taken over", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		s := step(p.ID, broker.Approved, broker.Sending)
		s.SendBy = w.at.Add(time.Minute)
		mustMove(t, w.Ledger, s)
		i := w.listed(p.ID)[0]
		if i.Hash != p.Hash || string(i.Request) != string(p.Payload.Body) || !i.SendBy.Equal(s.SendBy) || i.Principal != ada {
			t.Errorf("%+v", i)
		}
		w.pass(2 * time.Minute)
		w.adopt(p.ID, false)
		w.pass(time.Second)
		w.adopt(p.ID, true)
	})
	t.Run("what a proposal left behind that was never sent goes, not before its time", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		if err := w.Intents().Claim(t.Context(), intent(p)); err != nil {
			t.Fatal(err)
		}
		w.adopt(p.ID, false)
		w.listed(p.ID)
		w.pass(time.Hour)
		w.adopt(p.ID, false)
		w.listed()
		s := step(p.ID, broker.Approved, broker.Sending)
		if _, err := w.Move(t.Context(), s); !errors.Is(err, broker.ErrTokenExpired) {
			t.Errorf("it is sent all the same: %v", err)
		}
	})
	t.Run("I6: a step to sending after its own deadline is refused", func(t *testing.T) {
		w := newLater(t)
		id := at(t, w.Ledger, proposal(ada, "a"), broker.Approved)
		s := step(id, broker.Approved, broker.Sending)
		s.SendBy = w.at
		if _, err := w.Move(t.Context(), s); !errors.Is(err, broker.ErrTokenExpired) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a person's verdict stands in the list, the last one counts", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Unknown)
		for _, why := range []string{"looked", "looked again"} {
			v := broker.Verdict{Reason: why, At: w.at}
			if err := w.Intents().Judge(t.Context(), p.ID, v); err != nil {
				t.Fatal(err)
			}
			if got := w.listed(p.ID)[0].Verdict; got == nil || !cmp.Equal(*got, v) {
				t.Errorf("%+v", got)
			}
		}
		mustMove(t, w.Ledger, step(p.ID, broker.Unknown, broker.Absent))
		for _, id := range []broker.ID{p.ID, "never", "\x00", ""} {
			if err := w.Intents().Judge(t.Context(), id, broker.Verdict{}); !errors.Is(err, broker.ErrProposalUnknown) {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
	t.Run("a verdict frees a claim whose proposal is gone", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		if err := w.Intents().Claim(t.Context(), intent(p)); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		w.adopt(p.ID, false)
		w.listed(p.ID)
		if err := w.Intents().Judge(t.Context(), p.ID, broker.Verdict{Reason: "looked"}); err != nil {
			t.Fatal(err)
		}
		w.listed()
	})
	t.Run("one that was altered holds its request", func(t *testing.T) {
		w := newLater(t)
		p := proposal(ada, "a")
		at(t, w.Ledger, p, broker.Approved)
		if err := w.Intents().Claim(t.Context(), intent(p)); err != nil {
			t.Fatal(err)
		}
		w.s.exec(t, w.schema, `UPDATE intents SET proposal_id = 'mine'`)
		i := w.listed("")[0]
		if i.Hash != p.Hash || i.Account != p.Account {
			t.Errorf("%+v", i)
		}
	})
}

func TestAnyTextMayBeAskedFor(t *testing.T) {
	w := newLater(t)
	for _, id := range []broker.ID{"", "\x00", "a\xff", "'; DROP TABLE proposals; --"} {
		if _, err := w.Load(t.Context(), id); !errors.Is(err, broker.ErrProposalUnknown) {
			t.Errorf("load %q: %v", id, err)
		}
		if _, err := w.Move(t.Context(), step(id, broker.Pending, broker.Withdrawn)); !errors.Is(err, broker.ErrProposalUnknown) {
			t.Errorf("move %q: %v", id, err)
		}
	}
	p := proposal(ada, "a\x00\xff")
	p.Twin = "t"
	p.Caller.ClientName = "\x00\xff'"
	add(t, w.Ledger, p)
	if _, err := w.Add(t.Context(), proposal(broker.Principal{Subject: "\xff"}, "b"), broker.AddOptions{}); err == nil {
		t.Error("a principal that is no text was taken")
	}
}
