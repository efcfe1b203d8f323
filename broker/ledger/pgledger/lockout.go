package pgledger

import (
	"context"
	"sync"
	"time"
)

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
