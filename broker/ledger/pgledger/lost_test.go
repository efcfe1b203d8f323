package pgledger

import (
	"errors"
	"testing"
	"time"

	"fabricbroker/broker"
)

// I2, I7: the answer of each COMMIT is lost once. What stands is told as done,
// what does not as a failure, and nothing is done twice.
func TestALostCommitIsReadBack(t *testing.T) {
	s := sharedServer(t)
	p := newProxy(t, s)
	for _, lose := range []string{"answer", "request"} {
		t.Run(lose, func(t *testing.T) {
			schema := s.schema(t)
			direct, l := open(t, s.DSN(schema)), open(t, p.dsn(s, schema))
			a := proposal(ada, "a")
			states := []broker.State{broker.Pending, broker.Asking, broker.Approved, broker.Sending, broker.Unknown, broker.Created}
			for i, to := range states {
				do := func() error {
					if i == 0 {
						got, err := l.Add(t.Context(), a, broker.AddOptions{Lifetime: time.Hour, MaxPending: 20})
						if err == nil && got.Proposal.ID != a.ID {
							t.Errorf("added %s", got.Proposal.ID)
						}
						return err
					}
					m, err := l.Move(t.Context(), step(a.ID, states[i-1], to))
					if err == nil && m.Proposal.State != to {
						t.Errorf("moved to %s", m.Proposal.State)
					}
					return err
				}
				p.lose(lose)
				err := do()
				if p.losses() != 1 {
					t.Fatalf("%s: %d COMMITs were lost", to, p.losses())
				}
				if lose == "request" {
					if !errors.Is(err, broker.ErrLedgerUnavailable) {
						t.Errorf("%s: got %v", to, err)
					}
					if i > 0 {
						is(t, direct, a.ID, states[i-1])
					}
					err = do()
				}
				if err != nil {
					t.Fatalf("%s: %v", to, err)
				}
				is(t, direct, a.ID, to)
			}
			if n := value[int](t, s, schema, `SELECT cardinality(attempts) FROM proposals`); n != len(states) {
				t.Errorf("%d steps on record, want %d", n, len(states))
			}
			t.Run("intents and the switch", func(t *testing.T) {
				b := proposal(ada, "b")
				at(t, direct, b, broker.Approved)
				for what, do := range map[string]func() error{
					"claim": func() error { return l.Intents().Claim(t.Context(), intent(b)) },
					"halt":  func() error { return l.Halt().Set(t.Context(), "x") },
				} {
					p.lose(lose)
					if err := do(); err != nil || p.losses() != 1 {
						t.Errorf("%s: %v", what, err)
					}
				}
				p.lose(lose)
				if err := l.Intents().Settle(t.Context(), b.Account, b.Hash, b.ID); err != nil {
					t.Error(err)
				}
				if list, err := direct.Intents().List(t.Context()); err != nil || len(list) != 0 {
					t.Errorf("%v, %v", list, err)
				}
			})
		})
	}
}

// Whom a step has superseded is told although its answer was lost.
func TestALostCommitTellsWhomItSuperseded(t *testing.T) {
	s := sharedServer(t)
	p := newProxy(t, s)
	l := open(t, p.dsn(s, s.schema(t)))
	first, second := proposal(ada, "a"), proposal(ada, "a")
	at(t, l, first, broker.Asking)
	add(t, l, second)
	p.lose("answer")
	m, err := l.Move(t.Context(), step(second.ID, broker.Pending, broker.Asking))
	if err != nil || p.losses() != 1 || len(m.Superseded) != 1 || m.Superseded[0].ID != first.ID {
		t.Errorf("superseded %v, %d answers lost, %v", m.Superseded, p.losses(), err)
	}
}

// An answer that is lost after somebody else has made the next step is found all
// the same: each step leaves its name.
func TestALostCommitIsReadBackPastTheNextStep(t *testing.T) {
	s := sharedServer(t)
	l := open(t, s.DSN(s.schema(t)))
	a := proposal(ada, "a")
	add(t, l, a)
	m := &move{l: l, s: step(a.ID, broker.Pending, broker.Asking), attempt: "ours"}
	if err := l.change(t.Context(), "move", m.run, m.stood); err != nil {
		t.Fatal(err)
	}
	mustMove(t, l, step(a.ID, broker.Asking, broker.Withdrawn))
	if stood, err := m.stood(t.Context(), l.pool); !stood || err != nil {
		t.Errorf("%t, %v", stood, err)
	}
}

func TestI7ADatabaseThatIsAway(t *testing.T) {
	s := sharedServer(t)
	p := newProxy(t, s)
	schema := s.schema(t)
	direct, l := open(t, s.DSN(schema)), open(t, p.dsn(s, schema))
	a := proposal(ada, "a")
	at(t, l, a, broker.Approved)
	send := step(a.ID, broker.Approved, broker.Sending)
	calls := map[string]func() error{
		"move": func() error { _, err := l.Move(t.Context(), send); return err },
		"add": func() error {
			_, err := l.Add(t.Context(), proposal(ada, "b"), broker.AddOptions{Lifetime: 1e12})
			return err
		},
		"load":  func() error { _, err := l.Load(t.Context(), a.ID); return err },
		"claim": func() error { return l.Intents().Claim(t.Context(), intent(a)) },
		"halt":  func() error { _, err := l.Halt().Halted(t.Context()); return err },
		"ping":  func() error { return l.Ping(t.Context()) },
	}
	away := func(t *testing.T) {
		t.Helper()
		for what, call := range calls {
			start := time.Now()
			if err := call(); !errors.Is(err, broker.ErrLedgerUnavailable) {
				t.Errorf("%s: got %v", what, err)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("%s took %s", what, d)
			}
		}
		is(t, direct, a.ID, broker.Approved)
	}
	t.Run("silent", func(t *testing.T) {
		p.silence(true)
		away(t)
		p.silence(false)
	})
	t.Run("recovers by itself", func(t *testing.T) {
		for start := time.Now(); l.Ping(t.Context()) != nil; {
			if time.Since(start) > 20*time.Second {
				t.Fatal("it did not")
			}
		}
	})
	t.Run("locked by somebody else", func(t *testing.T) {
		tx, err := direct.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(), `SELECT FROM proposals WHERE id = $1 FOR UPDATE`, a.ID); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := l.Move(t.Context(), send); !errors.Is(err, broker.ErrLedgerUnavailable) || time.Since(start) > 2*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
	t.Run("read-only", func(t *testing.T) {
		ro := open(t, s.DSN(schema)+"&default_transaction_read_only=on")
		if _, err := ro.Move(t.Context(), send); !errors.Is(err, broker.ErrLedgerUnavailable) {
			t.Errorf("got %v", err)
		}
		if err := ro.Ping(t.Context()); !errors.Is(err, broker.ErrLedgerUnavailable) {
			t.Errorf("got %v", err)
		}
		is(t, ro, a.ID, broker.Approved)
	})
	mustMove(t, l, send)
}
