package pgledger

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

// The contract's races, over the pools of three replicas.
func TestReplicasRace(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	replicas := []*Ledger{open(t, s.DSN(schema)), open(t, s.DSN(schema)), open(t, s.DSN(schema))}
	of := func(i int) *Ledger { return replicas[i%3] }
	lost := func(t *testing.T, errs []error, state broker.State) {
		t.Helper()
		for _, err := range errs {
			if l, ok := errors.AsType[*broker.LostError](err); err != nil && (!ok || l.Proposal.State != state) {
				t.Errorf("got %v", err)
			}
		}
	}
	for _, tc := range []struct{ from, to broker.State }{
		{broker.Pending, broker.Asking},    // I5
		{broker.Asking, broker.Approved},   // the first answer
		{broker.Approved, broker.Sending},  // I2
		{broker.Sending, broker.Unknown},   // a take-over
		{broker.Unknown, broker.Absent},    // a look
		{broker.Pending, broker.Withdrawn}, // a withdrawal
	} {
		t.Run(fmt.Sprintf("one of eight makes the step from %s to %s", tc.from, tc.to), func(t *testing.T) {
			for n := range 5 {
				id := at(t, of(n), proposal(ada, fmt.Sprint(t.Name(), n)), tc.from)
				won, errs := race(func(i int) error { _, err := of(i).Move(t.Context(), step(id, tc.from, tc.to)); return err })
				if won != 1 {
					t.Errorf("%d won", won)
				}
				lost(t, errs, tc.to)
				if tc.to == broker.Asking { // five may wait
					mustMove(t, of(n), step(id, broker.Asking, broker.Withdrawn))
				}
			}
		})
	}
	t.Run("I12: of eight equal requests one is claimed", func(t *testing.T) {
		var ps []broker.Proposal
		for i := range 8 {
			p := proposal(broker.Principal{Kind: "jwt", Subject: fmt.Sprint(i)}, "claimed")
			at(t, of(i), p, broker.Approved)
			ps = append(ps, p)
		}
		won, errs := race(func(i int) error { return of(i).Intents().Claim(t.Context(), intent(ps[i])) })
		if won != 1 {
			t.Errorf("%d won", won)
		}
		for i, err := range errs {
			if err != nil && !errors.Is(err, broker.ErrSameRequestUnresolved) {
				t.Error(err)
			}
			_, moved := of(i+1).Move(t.Context(), step(ps[i].ID, broker.Approved, broker.Sending))
			if (moved == nil) != (err == nil) {
				t.Errorf("claim: %v, sending: %v", err, moved)
			}
		}
	})
	t.Run("of many creates no more are sent than the ceiling allows", func(t *testing.T) {
		before := value[int](t, s, schema, `SELECT count(*) FROM proposals WHERE sent_at IS NOT NULL`)
		var ids []broker.ID
		for i := range 8 {
			ids = append(ids, at(t, of(i), proposal(broker.Principal{Kind: "jwt", Subject: fmt.Sprint(i)}, fmt.Sprint("ceiling", i)), broker.Approved))
		}
		won, errs := race(func(i int) error {
			s := step(ids[i], broker.Approved, broker.Sending)
			s.MaxCreates = before + 3
			_, err := of(i).Move(t.Context(), s)
			return err
		})
		if won != 3 {
			t.Errorf("%d won", won)
		}
		for _, err := range errs {
			if err != nil && !errors.Is(err, broker.ErrDailyCeiling) {
				t.Error(err)
			}
		}
	})
	t.Run("adding never leaves more pending than allowed", func(t *testing.T) {
		bob := broker.Principal{Kind: "jwt", Subject: "bob"}
		for range 3 {
			won, errs := race(func(i int) error {
				_, err := of(i).Add(t.Context(), proposal(bob, "x"), broker.AddOptions{Lifetime: 1e12, MaxPending: 2})
				return err
			})
			if won != 8 {
				t.Error(errs)
			}
		}
		ps, err := of(0).List(t.Context(), broker.Query{Principal: bob, States: []broker.State{broker.Pending}})
		if err != nil || len(ps) != 2 {
			t.Errorf("%d pending, %v", len(ps), err)
		}
	})
	t.Run("the stop switch stops the step to sending on every replica", func(t *testing.T) {
		id := at(t, of(0), proposal(ada, "halted"), broker.Approved)
		if err := of(1).Halt().Set(t.Context(), "a dry run\ncreated u1"); err != nil {
			t.Fatal(err)
		}
		if why, err := of(2).Halt().Halted(t.Context()); why != "a dry run created u1" || err != nil {
			t.Errorf("%q, %v", why, err)
		}
		if _, err := of(2).Move(t.Context(), step(id, broker.Approved, broker.Sending)); !errors.Is(err, broker.ErrHalted) {
			t.Errorf("got %v", err)
		}
		if err := of(0).Halt().Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustMove(t, of(2), step(id, broker.Approved, broker.Sending))
	})
}

func TestOpenersRaceToMigrate(t *testing.T) {
	s := sharedServer(t)
	for range 3 {
		schema := s.schema(t)
		won, errs := race(func(int) error {
			l, err := Open(t.Context(), Options{DSN: broker.NewSecret(s.DSN(schema)), Keyring: keyring})
			if err == nil {
				err = l.Ping(t.Context())
				l.Close()
			}
			return err
		})
		if won != 8 {
			t.Error(errs)
		}
		if n := value[int](t, s, schema, `SELECT count(*) FROM migrations`); n != 1 {
			t.Errorf("%d migrations", n)
		}
	}
}

func TestAsItIsMigratesNothing(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	o := Options{DSN: broker.NewSecret(s.DSN(schema)), Keyring: keyring, AsItIs: true}
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrBehind) {
		t.Errorf("got %v", err)
	}
	if n := value[int](t, s, schema, `SELECT count(*) FROM pg_tables WHERE schemaname = '`+schema+`'`); n != 0 {
		t.Errorf("%d tables were made", n)
	}
	open(t, s.DSN(schema))
	l, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	open(t, s.DSN(schema))
	s.exec(t, schema, `INSERT INTO migrations (version, name) VALUES (2, 'later')`)
	_, err := Open(t.Context(), Options{DSN: broker.NewSecret(s.DSN(schema)), Keyring: keyring})
	if err == nil || errors.Is(err, broker.ErrLedgerUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAnOrdinaryRoleIsEnough(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	s.exec(t, schema, `DROP ROLE IF EXISTS plain`)
	s.exec(t, schema, `CREATE ROLE plain LOGIN`)
	s.exec(t, schema, `GRANT ALL ON SCHEMA `+schema+` TO plain`)
	cfg, err := pgx.ParseConfig(s.DSN(schema))
	if err != nil {
		t.Fatal(err)
	}
	dsn := fmt.Sprintf("postgres://plain@127.0.0.1:%d/postgres?sslmode=disable&search_path=%s", cfg.Port, schema)
	l := open(t, dsn)
	at(t, l, proposal(ada, "a"), broker.Unknown)
}
