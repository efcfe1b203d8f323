package pgledger

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// holdEvery is how often a replica that waits for a log-in of another looks.
const holdEvery = 50 * time.Millisecond

// Lockout remembers for all replicas that credentials were refused: a few bad
// attempts lock the account for everyone. The key is a digest of the credentials.
//
// While the database is away a replica has what it saw itself: reads go on, and
// each replica may find out once that its credentials are no good.
type Lockout struct {
	l *Ledger

	mu    sync.Mutex
	until map[string]time.Time
}

// Until returns when key may be tried again, in this replica's clock; a time that
// is past, or zero, means now.
func (o *Lockout) Until(ctx context.Context, key string) (time.Time, error) {
	var until, db time.Time
	err := o.l.look(ctx, "read the lockout", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `SELECT COALESCE((SELECT until FROM lockouts WHERE key = $1), 'epoch'), clock_timestamp()`, key).Scan(&until, &db)
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.until[key]
	if err != nil {
		o.l.log.WarnContext(ctx, "the shared lockout cannot be read: this replica goes by what it saw itself", "err", err)
		return seen, nil
	}
	if until.Unix() == 0 {
		return seen, nil
	}
	if until = shown(&until, o.l.shift(db)); until.Before(seen) {
		return seen, nil // a Set that the database did not get
	}
	return until, nil
}

// Set forbids key until then, for every replica. A later time stays.
func (o *Lockout) Set(ctx context.Context, key string, until time.Time) error {
	o.mu.Lock()
	if o.until == nil {
		o.until = map[string]time.Time{}
	}
	o.until[key] = until
	o.mu.Unlock()
	return o.l.change(ctx, "write the lockout", func(ctx context.Context, q querier) error {
		// Counted from the database's clock, for replicas whose clocks differ.
		_, err := q.Exec(ctx, `INSERT INTO lockouts AS o (key, until) VALUES ($1, clock_timestamp() + make_interval(secs => $2))
			ON CONFLICT (key) DO UPDATE SET until = GREATEST(o.until, excluded.until)`, key, until.Sub(o.l.now()).Seconds())
		return err
	}, nil)
}

// Hold waits until no other replica logs in with key, and keeps them waiting
// until release. The lock ends with its connection: a replica that dies locks
// nobody out. While the database is away there is nobody to wait for.
func (o *Lockout) Hold(ctx context.Context, key string) (release func(), err error) {
	within, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	conn, err := o.l.pool.Acquire(within)
	if err != nil {
		o.l.log.WarnContext(ctx, "the shared lockout cannot be held", "err", err)
		return func() {}, ctx.Err()
	}
	tick := time.NewTicker(holdEvery)
	defer tick.Stop()
	for {
		var got bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 7402))`, key).Scan(&got); err != nil {
			conn.Release()
			return func() {}, ctx.Err()
		}
		if got {
			return func() {
				end, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTime)
				defer cancel()
				if _, err := conn.Exec(end, `SELECT pg_advisory_unlock_all()`); err != nil {
					_ = conn.Conn().Close(end) // the server unlocks what it ends
				}
				conn.Release()
			}, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			conn.Release()
			return nil, fmt.Errorf("pgledger: hold the log-in: %w", ctx.Err())
		}
	}
}
