package pgledger

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tx is a transaction whose BEGIN, and the locks that it begins with, travel with
// the first statement that has an answer: a call is short, and most of its time is
// the way to the server and back. Each statement still has its own snapshot, taken
// after the locks before it were got.
type tx struct {
	conn *pgxpool.Conn
	// waits is what goes with the next statement; nil is nothing.
	waits *pgx.Batch
}

func newTx(conn *pgxpool.Conn) *tx {
	t := &tx{conn: conn, waits: &pgx.Batch{}}
	t.waits.Queue("begin")
	return t
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

// send sends a statement after those that wait, whose answers it reads.
func (t *tx) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	b := t.waits
	t.waits = nil
	before := b.Len()
	b.Queue(sql, args...)
	res := t.conn.SendBatch(ctx, b)
	for range before {
		if _, err := res.Exec(); err != nil {
			_ = res.Close()
			return nil, err
		}
	}
	return res, nil
}

// flush sends what waits by itself.
func (t *tx) flush(ctx context.Context) error {
	b := t.waits
	if t.waits = nil; b == nil {
		return nil
	}
	return t.conn.SendBatch(ctx, b).Close()
}

// Exec implements querier.
func (t *tx) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	if t.waits == nil {
		return t.conn.Exec(ctx, sql, args...)
	}
	res, err := t.send(ctx, sql, args)
	if err != nil {
		return tag, err
	}
	tag, err = res.Exec()
	return tag, cmp.Or(err, res.Close())
}

// QueryRow implements querier.
func (t *tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.waits == nil {
		return t.conn.QueryRow(ctx, sql, args...)
	}
	res, err := t.send(ctx, sql, args)
	return &lastRow{res, err}
}

// Query implements querier.
func (t *tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.conn.Query(ctx, sql, args...)
}

// SendBatch implements querier. It is not what a transaction begins with.
func (t *tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return t.conn.SendBatch(ctx, b)
}

func (t *tx) commit(ctx context.Context) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	tag, err := t.conn.Exec(ctx, "commit")
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// rollback takes everything back; without it the server does that all the same,
// and the pool gives the connection up.
func (t *tx) rollback(ctx context.Context) { _, _ = t.conn.Exec(ctx, "rollback") }

// lastRow is the one row that the last statement of a batch gives.
type lastRow struct {
	res pgx.BatchResults
	err error
}

// Scan implements pgx.Row.
func (r *lastRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.res.QueryRow().Scan(dest...)
	return cmp.Or(err, r.res.Close())
}
