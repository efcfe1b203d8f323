package pgledger

import (
	"context"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/ledgertest"
	"fabricbroker/broker/seal"
)

var keyring = func() *seal.Keyring {
	keys, err := seal.ParseSecrets(seal.Generate())
	if err != nil {
		panic(err)
	}
	k, err := seal.New(keys)
	if err != nil {
		panic(err)
	}
	return k
}()

// open opens a ledger and closes it at the end of the test.
func open(t testing.TB, dsn string, change ...func(*Options)) *Ledger {
	t.Helper()
	o := Options{DSN: broker.NewSecret(dsn), Keyring: keyring}
	for _, f := range change {
		f(&o)
	}
	l, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// movable gives a schema a clock_timestamp() of its own, which stands still.
func (s *server) movable(t testing.TB, schema string, at time.Time) {
	t.Helper()
	s.exec(t, schema, `CREATE TABLE test_clock (at timestamptz NOT NULL)`)
	s.exec(t, schema, `INSERT INTO test_clock VALUES ($1)`, at)
	s.exec(t, schema, `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT at FROM test_clock $$`)
}

// clocked has the database's clock follow the test's.
type clocked struct {
	*Ledger
	now func() time.Time

	mu sync.Mutex
	at time.Time
}

func (c *clocked) sync(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.now(); !t.Equal(c.at) {
		if _, err := c.pool.Exec(ctx, `UPDATE test_clock SET at = $1`, t); err != nil {
			panic(err)
		}
		c.at = t
	}
}

func (c *clocked) Add(ctx context.Context, p broker.Proposal, o broker.AddOptions) (broker.Added, error) {
	c.sync(ctx)
	return c.Ledger.Add(ctx, p, o)
}

func (c *clocked) Load(ctx context.Context, id broker.ID) (broker.Proposal, error) {
	c.sync(ctx)
	return c.Ledger.Load(ctx, id)
}

func (c *clocked) List(ctx context.Context, q broker.Query) ([]broker.Proposal, error) {
	c.sync(ctx)
	return c.Ledger.List(ctx, q)
}

func (c *clocked) Move(ctx context.Context, s broker.Step) (broker.Moved, error) {
	c.sync(ctx)
	return c.Ledger.Move(ctx, s)
}

func TestLedger(t *testing.T) {
	s := sharedServer(t)
	ledgertest.Run(t, func(t *testing.T, now func() time.Time) broker.Ledger {
		schema := s.schema(t)
		s.movable(t, schema, now())
		return &clocked{Ledger: open(t, s.DSN(schema), func(o *Options) { o.Now = now }), now: now}
	})
}
