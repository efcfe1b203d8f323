package pgledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fabricbroker/broker"
)

// How long a call may take, counted from its start: its statements, its COMMIT,
// and what reads it back. Together they stay under two seconds.
const (
	attemptTime  = 1200 * time.Millisecond
	commitTime   = 1500 * time.Millisecond
	readBackTime = 1900 * time.Millisecond
)

// querier is a pool, a connection or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// work is what a call does. It may run twice and must then start anew.
type work func(ctx context.Context, q querier) error

// look runs f without a transaction, once more on another connection if the
// first one broke.
func (l *Ledger) look(ctx context.Context, op string, f work) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	err := f(ctx, l.pool)
	if broken(err) && ctx.Err() == nil {
		err = f(ctx, l.pool)
	}
	return explain(op, err)
}

// change runs f in a transaction. An error of f takes everything back. Where the
// answer to the COMMIT is lost, stands says whether the change was made: it first
// takes the locks that f took, and so waits for a COMMIT that is still under way.
// A nil stands has f run again, which must then find what it did.
func (l *Ledger) change(ctx context.Context, op string, f work, stands func(context.Context, querier) (bool, error)) error {
	start := time.Now()
	err := l.attempt(ctx, start, f)
	if broken(err) && !errors.Is(err, errCommit) && ctx.Err() == nil && time.Since(start) < attemptTime/2 {
		// An idle connection had died with its server. Nothing was committed.
		err = l.attempt(ctx, start, f)
	}
	if !errors.Is(err, errCommit) {
		return explain(op, err)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), start.Add(readBackTime))
	defer cancel()
	if stands == nil {
		return explain(op, pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error { return f(ctx, tx) }))
	}
	stood := false
	back := func() error {
		return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) (e error) { stood, e = stands(ctx, tx); return e })
	}
	again := back()
	if broken(again) && ctx.Err() == nil {
		again = back()
	}
	switch {
	case again != nil:
		return unavailable(op, fmt.Errorf("%w, and it could not be read back: %w", err, again))
	case stood:
		return nil
	}
	return unavailable(op, fmt.Errorf("the database did not keep it: %w", err))
}

// errCommit marks an error after which the change may stand or not.
var errCommit = errors.New("the answer to a COMMIT is missing")

func (l *Ledger) attempt(ctx context.Context, start time.Time, f work) error {
	within, cancel := context.WithDeadline(ctx, start.Add(attemptTime))
	defer cancel()
	conn, err := l.pool.Acquire(within)
	if err != nil {
		return err
	}
	defer conn.Release()
	// Once what decides is sent, the caller's going away decides nothing: a COMMIT
	// that was cut off would have to be read back.
	after, cancelAfter := context.WithDeadline(context.WithoutCancel(ctx), start.Add(commitTime))
	defer cancelAfter()
	t := &tx{conn: conn, after: after}
	t.begin()
	if err := f(within, t); err != nil {
		t.rollback()
		return err
	}
	return t.commit()
}

// broken reports whether err says that the connection, not the statement, failed.
func broken(err error) bool {
	if err == nil || answers(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || pe.Severity == "FATAL" || pe.Code == readOnlyTransaction
}

// answers reports whether err is an answer of the ledger rather than a failure.
func answers(err error) bool {
	if _, ok := errors.AsType[*broker.Refusal](err); ok {
		return true
	}
	if _, ok := errors.AsType[*broker.LostError](err); ok {
		return true
	}
	return errors.Is(err, errTaken)
}

// explain lets answers pass and turns everything else into ErrLedgerUnavailable.
func explain(op string, err error) error {
	if err == nil || answers(err) {
		return err
	}
	return unavailable(op, err)
}

func unavailable(op string, err error) error {
	return fmt.Errorf("pgledger: %s: %w: %w", op, broker.ErrLedgerUnavailable, err)
}
