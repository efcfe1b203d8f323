package pgledger

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

// An index cannot find what is older than a volatile function, and a statement
// that reads every row gets slower with each proposal.
func TestOldRowsAreFoundByIndex(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	open(t, s.DSN(schema))
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.DSN(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, `SET enable_seqscan = off`); err != nil { // the table is empty
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		sweepSQL: "Index Cond: (since <",
		sendSQL:  "Index Cond: (sent_at >",
	} {
		name := fmt.Sprintf("q%d", len(sql))
		if err := c.PgConn().Exec(ctx, "PREPARE "+name+" AS "+sql).Close(); err != nil {
			t.Fatal(err)
		}
		args := "1000"
		if want == "Index Cond: (sent_at >" {
			args = `'x','{approved}','sending',false,'',NULL,NULL,NULL,true,NULL,'a',true,10,'h','acc'`
		}
		rows, err := c.Query(ctx, "EXPLAIN EXECUTE "+name+"("+args+")", pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(plan, "\n"); !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// A call is mostly the way to the server and back: it is made no oftener than it
// must be.
func TestRoundTrips(t *testing.T) {
	s := sharedServer(t)
	p := newProxy(t, s)
	l := open(t, p.dsn(s, s.schema(t)), func(o *Options) { o.MaxConns = 1 })
	trips := func(do func()) int {
		p.mu.Lock()
		before := p.trips
		p.mu.Unlock()
		do()
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.trips - before
	}
	var got [7]int
	for i := range 2 { // the first time everything is prepared too
		a := proposal(ada, fmt.Sprint(i))
		move := func(from, to broker.State) func() { return func() { mustMove(t, l, step(a.ID, from, to)) } }
		for n, do := range []func(){
			func() { add(t, l, a) },
			move(broker.Pending, broker.Asking),
			move(broker.Asking, broker.Approved),
			func() {
				if err := l.Intents().Claim(t.Context(), intent(a)); err != nil {
					t.Error(err)
				}
			},
			move(broker.Approved, broker.Sending),
			move(broker.Sending, broker.Created),
			func() {
				if err := l.Intents().Settle(t.Context(), a.Account, a.Hash, a.ID); err != nil {
					t.Error(err)
				}
			},
		} {
			got[n] = trips(do)
		}
	}
	// The row, and what decides; an add evicts between them.
	if want := [7]int{3, 2, 2, 1, 2, 2, 1}; got != want {
		t.Errorf("add, ask, approve, claim, send, create, settle took %v round trips, want %v", got, want)
	}
}
