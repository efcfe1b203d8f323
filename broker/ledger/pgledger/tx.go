package pgledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tx is a transaction that goes to the server and back as seldom as it can, for a
// call is short and that is most of its time. BEGIN, and the locks that it begins
// with, travel with the first statement that has an answer, and COMMIT with the
// last one. Each statement still has its own snapshot, taken after the locks before
// it were got, and after one that fails nothing is committed.
type tx struct {
	conn *pgxpool.Conn
	// after ends later than the callers' contexts. What takes the COMMIT along
	// goes by it: their going away decides nothing any more.
	after context.Context //nolint:containedctx // a transaction is one call
	// waits is what goes with the next statement; nil is nothing.
	waits *pgx.Batch
	// ending has the next statement take the COMMIT along; ended says that one has.
	ending, ended bool
}

func (t *tx) begin() {
	t.ended = false
	t.waits = &pgx.Batch{}
	t.waits.Queue("begin")
}

// afresh begins anew where q has ended without doing what it was for.
func afresh(q querier) {
	if t, ok := q.(*tx); ok && t.ended {
		t.begin()
	}
}

// last says that the next statement is the last one that changes anything.
func last(q querier) {
	if t, ok := q.(*tx); ok {
		t.ending = true
	}
}

// lock takes a lock, in a tx no sooner than its next statement is sent. Whatever
// keeps it from being taken is that statement's error.
func lock(ctx context.Context, q querier, sql string, args ...any) error {
	if t, ok := q.(*tx); ok && t.waits != nil {
		t.waits.Queue(sql, args...)
		return nil
	}
	_, err := q.Exec(ctx, sql, args...)
	return err
}

// SendBatch implements querier. The results must be closed, and that may be what
// fails.
func (t *tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults { //nolint:contextcheck // see after
	r := &results{}
	all := b
	if t.waits != nil {
		all, r.before = t.waits, t.waits.Len()
		all.QueuedQueries = append(all.QueuedQueries, b.QueuedQueries...)
		t.waits = nil
	}
	if t.ending {
		all.Queue("commit")
		ctx, r.commits, t.ending, t.ended = t.after, true, false, true
	}
	r.BatchResults = t.conn.SendBatch(ctx, all)
	return r
}

func (t *tx) one(ctx context.Context, sql string, args []any) pgx.BatchResults {
	b := &pgx.Batch{}
	b.Queue(sql, args...)
	return t.SendBatch(ctx, b)
}

// Exec implements querier.
func (t *tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	res := t.one(ctx, sql, args)
	tag, err := res.Exec()
	return tag, cmp.Or(err, res.Close())
}

// QueryRow implements querier.
func (t *tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return lastRow{t.one(ctx, sql, args)}
}

// Query implements querier. It takes nothing along.
func (t *tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if b := t.waits; b != nil {
		t.waits = nil
		if err := t.conn.SendBatch(ctx, b).Close(); err != nil {
			return nil, err
		}
	}
	return t.conn.Query(ctx, sql, args...)
}

// commit ends what has not ended yet.
func (t *tx) commit() error {
	if t.ended {
		return nil
	}
	tag, err := t.conn.Exec(t.after, "commit")
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errCommit, err)
	}
	return err
}

// rollback takes everything back; without it the server does that all the same,
// and the pool gives the connection up.
func (t *tx) rollback() {
	if t.conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = t.conn.Exec(t.after, "rollback")
	}
}

// results are the answers to a batch, between those of what went before it and
// that of its COMMIT.
type results struct {
	pgx.BatchResults

	before  int
	commits bool
}

// skip reads what went before.
func (r *results) skip() error {
	for ; r.before > 0; r.before-- {
		if _, err := r.BatchResults.Exec(); err != nil {
			return r.judged(err)
		}
	}
	return nil
}

// judged marks an error after which the COMMIT may stand or not: every one but
// that the server has refused a statement, which has it skip the rest.
func (r *results) judged(err error) error {
	if err == nil || !r.commits || errors.Is(err, errCommit) {
		return err
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.SeverityUnlocalized == "ERROR" {
		return err
	}
	return fmt.Errorf("%w: %w", errCommit, err)
}

// Exec implements pgx.BatchResults.
func (r *results) Exec() (tag pgconn.CommandTag, err error) {
	if err = r.skip(); err == nil {
		tag, err = r.BatchResults.Exec()
	}
	return tag, r.judged(err)
}

// Query implements pgx.BatchResults. An error of its rows is told by Close again.
func (r *results) Query() (pgx.Rows, error) {
	if err := r.skip(); err != nil {
		return nil, err
	}
	rows, err := r.BatchResults.Query()
	return rows, r.judged(err)
}

// QueryRow implements pgx.BatchResults.
func (r *results) QueryRow() pgx.Row { return resultRow{r} }

// Close implements pgx.BatchResults. It reads what is left.
func (r *results) Close() error { return r.judged(r.BatchResults.Close()) }

type resultRow struct{ r *results }

// Scan implements pgx.Row.
func (w resultRow) Scan(dest ...any) error {
	if err := w.r.skip(); err != nil {
		return err
	}
	return w.r.judged(w.r.BatchResults.QueryRow().Scan(dest...))
}

// lastRow is the one row of a batch that has no other.
type lastRow struct{ res pgx.BatchResults }

// Scan implements pgx.Row.
func (w lastRow) Scan(dest ...any) error {
	err := w.res.QueryRow().Scan(dest...)
	return cmp.Or(err, w.res.Close())
}
