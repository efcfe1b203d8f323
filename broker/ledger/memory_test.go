package ledger

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	ledgertest.Run(t, func(_ *testing.T, now func() time.Time) broker.Ledger {
		return NewMemory(Options{Now: now})
	})
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func who(n int) broker.Principal {
	return broker.Principal{Kind: "jwt", Subject: fmt.Sprint("user ", n)}
}

func proposal(n int, p broker.Principal) broker.Proposal {
	id := broker.ID(fmt.Sprintf("01950000-0000-7000-8000-%012x", n))
	return broker.Proposal{
		ID: id, Hash: broker.HashRequest(broker.ConnectionCreate, []byte(id)), Account: "account-1",
		Caller: broker.Caller{Principal: p}, Payload: &broker.Payload{Body: []byte("{}")},
	}
}

func add(t testing.TB, m *Memory, n int, p broker.Principal) broker.ID {
	t.Helper()
	a, err := m.Add(t.Context(), proposal(n, p), broker.AddOptions{Lifetime: 10 * time.Minute, MaxPending: 20})
	if err != nil {
		t.Fatal(err)
	}
	return a.Proposal.ID
}

func TestI6ExpiredWhenEitherClockSaysSo(t *testing.T) {
	for _, tc := range []struct {
		name      string
		wall, run time.Duration
		want      broker.State
	}{
		{"neither", 9 * time.Minute, 9 * time.Minute, broker.Pending},
		{"the laptop slept", 10 * time.Minute, time.Second, broker.Expired},
		{"the clock was set back", -time.Hour, 10 * time.Minute, broker.Expired},
		{"the clock was set back a little", 9 * time.Minute, 10 * time.Minute, broker.Expired},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMemory(Options{})
			now := reading{wall: start, run: time.Hour}
			m.read = func() reading { return now }
			id := add(t, m, 1, who(1))
			now = reading{wall: start.Add(tc.wall), run: time.Hour + tc.run}
			p, err := m.Load(t.Context(), id)
			if err != nil || p.State != tc.want {
				t.Fatalf("%s, %v, want %s", p.State, err, tc.want)
			}
			if p.Since.After(now.wall) {
				t.Errorf("since %s, which is to come", p.Since)
			}
		})
	}
}

func TestMemoryReadsTheRealClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(Options{})
		id := add(t, m, 1, who(1))
		p, err := m.Load(t.Context(), id)
		if err != nil || p.ExpiresAt != time.Now().Round(0).Add(10*time.Minute) {
			t.Fatalf("expires at %s, %v", p.ExpiresAt, err)
		}
		<-time.After(10 * time.Minute)
		if p, _ = m.Load(t.Context(), id); p.State != broker.Expired {
			t.Error(p.State)
		}
	})
}

func TestFull(t *testing.T) {
	type world struct {
		*Memory
		now time.Time
		n   int
	}
	build := func(*testing.T) *world {
		w := &world{now: start}
		w.Memory = NewMemory(Options{Now: func() time.Time { return w.now }, MaxAll: 3})
		return w
	}
	next := func(t *testing.T, w *world) broker.ID {
		t.Helper()
		w.n++
		w.now = w.now.Add(time.Second)
		return add(t, w.Memory, w.n, who(w.n))
	}
	to := func(t *testing.T, w *world, id broker.ID, states ...broker.State) {
		t.Helper()
		from := broker.Pending
		for _, s := range states {
			if _, err := w.Move(t.Context(), broker.Step{ID: id, From: []broker.State{from}, To: s, Spend: from == broker.Pending && s == broker.Asking}); err != nil {
				t.Fatal(err)
			}
			from = s
		}
	}
	full := func(t *testing.T, w *world) {
		t.Helper()
		_, err := w.Add(t.Context(), proposal(1000, who(1000)), broker.AddOptions{Lifetime: time.Minute, MaxPending: 20})
		if !errors.Is(err, broker.ErrRateLimited) {
			t.Errorf("got %v, want %s", err, broker.ErrRateLimited)
		}
		if len(w.rows) != 3 {
			t.Errorf("%d rows", len(w.rows))
		}
	}
	t.Run("refuses when all are pending, and evicts nobody", func(t *testing.T) {
		w := build(t)
		for range 3 {
			next(t, w)
		}
		full(t, w)
		// Not even the principal's own: a refusal changes nothing.
		_, err := w.Add(t.Context(), proposal(1000, who(1)), broker.AddOptions{Lifetime: time.Minute, MaxPending: 1})
		if !errors.Is(err, broker.ErrRateLimited) || len(w.open[who(1)]) != 1 {
			t.Errorf("%v, open %d", err, len(w.open[who(1)]))
		}
	})
	t.Run("drops nothing spent or unresolved to make room", func(t *testing.T) {
		w := build(t)
		to(t, w, next(t, w), broker.Asking, broker.Declined)
		to(t, w, next(t, w), broker.Asking, broker.Approved, broker.Sending)
		to(t, w, next(t, w), broker.Asking, broker.Approved, broker.Sending, broker.Unknown)
		full(t, w)
		w.now = w.now.Add(time.Hour)
		full(t, w)
	})
	t.Run("drops what ended longest ago and was never spent", func(t *testing.T) {
		w := build(t)
		pending, second, first := next(t, w), next(t, w), next(t, w)
		to(t, w, first, broker.Withdrawn)
		w.now = w.now.Add(time.Second)
		to(t, w, second, broker.Withdrawn)
		next(t, w)
		for id, want := range map[broker.ID]bool{pending: true, second: true, first: false} {
			if _, err := w.Load(t.Context(), id); (err == nil) != want {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
	t.Run("finds room when pending ones have expired", func(t *testing.T) {
		w := build(t)
		for range 3 {
			next(t, w)
		}
		w.now = w.now.Add(10 * time.Minute)
		next(t, w)
	})
}

// The indexes hold exactly what the rows say: else memory leaks, or a free
// request is refused for ever.
func TestIndexesFollowTheRows(t *testing.T) {
	now := start
	m := NewMemory(Options{Now: func() time.Time { return now }})
	check := func() {
		t.Helper()
		open, live := 0, 0
		for _, r := range m.rows {
			if isOpen(r.p.State) {
				open++
			}
			if r.p.State.Unresolved() {
				live++
				if m.live[r.binding()] != r {
					t.Fatalf("%s is %s and not live", r.p.ID, r.p.State)
				}
			}
		}
		for p, rows := range m.open {
			if len(rows) == 0 {
				t.Fatalf("%v has an empty list", p)
			}
			open -= len(rows)
		}
		if open != 0 || live != len(m.live) {
			t.Fatalf("open off by %d, live %d, want %d", open, len(m.live), live)
		}
	}
	steps := []broker.State{broker.Asking, broker.Approved, broker.Sending, broker.Unknown, broker.Absent, broker.Created}
	for n := range 400 {
		now = now.Add(time.Minute)
		p := proposal(n, who(n%5))
		if _, err := m.Add(t.Context(), p, broker.AddOptions{Lifetime: 10 * time.Minute, MaxPending: 3}); err != nil {
			t.Fatal(err)
		}
		check()
		for from, i := broker.Pending, 0; i < n%(len(steps)+1); i++ {
			if _, err := m.Move(t.Context(), broker.Step{ID: p.ID, From: []broker.State{from}, To: steps[i], Spend: i == 0}); err != nil {
				t.Fatal(err)
			}
			from = steps[i]
			check()
		}
		if n%60 == 0 {
			now = now.Add(49 * time.Hour)
			for _, r := range m.rows {
				if r.p.State.Unresolved() {
					if _, err := m.Move(t.Context(), broker.Step{ID: r.p.ID, From: []broker.State{broker.Sending, broker.Unknown}, To: broker.Rejected}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func TestARestoredEndedProposalIsReadAndHoldsNobody(t *testing.T) {
	m := NewMemory(Options{Now: func() time.Time { return start }})
	ended := proposal(1, who(1))
	ended.State, ended.Spent, ended.Since = broker.Created, true, start
	m.Restore(ended)
	p, err := m.Load(t.Context(), ended.ID)
	if err != nil || p.State != broker.Created || p.Payload != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	if len(m.live) != 0 {
		t.Fatal("an ended proposal holds its equals")
	}
}

func TestI12ARestoredProposalHoldsItsEqual(t *testing.T) {
	m := NewMemory(Options{Now: func() time.Time { return start }})
	lost := proposal(1, who(1))
	lost.State, lost.Spent = broker.Unknown, true
	m.Restore(lost)
	m.Restore(lost)
	open := proposal(3, who(1))
	open.State = broker.Asking
	m.Restore(open)
	if len(m.rows) != 1 {
		t.Fatalf("%d rows", len(m.rows))
	}
	lost.Payload.Body[0] = 'X'
	if p, err := m.Load(t.Context(), lost.ID); err != nil || p.State != broker.Unknown || string(p.Payload.Body) != "{}" {
		t.Fatalf("%+v, %v", p, err)
	}

	equal := proposal(2, who(2))
	equal.Hash = lost.Hash
	if _, err := m.Add(t.Context(), equal, broker.AddOptions{Lifetime: time.Minute, MaxPending: 20}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []broker.Step{step(equal.ID, broker.Pending, broker.Asking), step(equal.ID, broker.Asking, broker.Approved)} {
		if _, err := m.Move(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	send := step(equal.ID, broker.Approved, broker.Sending)
	if _, err := m.Move(t.Context(), send); !errors.Is(err, broker.ErrSameRequestUnresolved) {
		t.Fatalf("got %v", err)
	}
	if _, err := m.Move(t.Context(), step(lost.ID, broker.Unknown, broker.Created)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Move(t.Context(), send); err != nil {
		t.Fatal(err)
	}
}

func step(id broker.ID, from, to broker.State) broker.Step {
	return broker.Step{ID: id, From: []broker.State{from}, To: to}
}

// BenchmarkAddMove adds a proposal and ends it. In a full ledger each Add looks
// at every row for the one to drop.
func BenchmarkAddMove(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		for _, full := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%d/full=%t", n, full), func(b *testing.B) {
				m := NewMemory(Options{Now: func() time.Time { return start }, MaxAll: n})
				one := func(p broker.Proposal) {
					if _, err := m.Add(b.Context(), p, broker.AddOptions{Lifetime: time.Minute, MaxPending: 20}); err != nil {
						b.Fatal(err)
					}
					if _, err := m.Move(b.Context(), step(p.ID, broker.Pending, broker.Withdrawn)); err != nil {
						b.Fatal(err)
					}
				}
				for i := range n {
					one(proposal(i, who(i%500)))
				}
				if !full {
					m.maxAll++
				}
				p := proposal(n, who(1))
				for i := n; b.Loop(); i++ {
					p.ID = broker.ID(fmt.Sprint(i))
					one(p)
					if !full {
						m.drop(p.ID)
					}
				}
			})
		}
	}
}

func TestCounts(t *testing.T) {
	m := NewMemory(Options{})
	now := reading{wall: start}
	m.read = func() reading { return now }
	add(t, m, 1, who(1))
	now.wall = start.Add(10 * time.Minute) // the first has expired, unseen
	add(t, m, 2, who(1))
	add(t, m, 3, who(2))
	for n, s := range map[int]broker.State{4: broker.Unknown, 5: broker.Sending, 6: broker.Created} {
		p := proposal(n, who(1))
		p.State = s
		m.Restore(p)
	}
	if pending, unknown, err := m.Counts(t.Context()); pending != 2 || unknown != 1 || err != nil {
		t.Errorf("%d pending, %d unknown, %v", pending, unknown, err)
	}
}
