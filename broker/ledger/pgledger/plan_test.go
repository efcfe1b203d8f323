package pgledger

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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
