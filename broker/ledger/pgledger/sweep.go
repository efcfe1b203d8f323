package pgledger

import (
	"context"
	"time"
)

const (
	// sweepEvery is how often a replica that adds looks for old rows.
	sweepEvery = time.Minute
	// sweepMost is how many rows go at once: the call that sweeps has little time.
	sweepMost = 1000

	// lapseAllSQL drops the specs of what has expired unseen.
	lapseAllSQL = `UPDATE proposals SET state = 'expired', since = expires_at, payload = NULL WHERE id = ANY(ARRAY(
		SELECT id FROM proposals WHERE state = 'pending' AND expires_at <= clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED))`

	// sweepSQL never takes what is unresolved (I8). A prompt that nobody answered,
	// and an approval that nothing followed, ended when they expired. The clock is
	// read once, in a query of its own: an index can find what is older than that,
	// but not what is older than a volatile function.
	sweepSQL = `DELETE FROM proposals WHERE id = ANY(ARRAY(
		SELECT id FROM proposals WHERE state NOT IN ('pending', 'sending', 'unknown')
			AND since < (SELECT clock_timestamp() - interval '24 hours')
			AND (state NOT IN ('asking', 'approved') OR expires_at <= clock_timestamp() AND (ask_until IS NULL OR ask_until <= clock_timestamp()))
		ORDER BY since LIMIT $1 FOR UPDATE SKIP LOCKED))`
)

// sweepNow removes what ended more than 24 hours ago, at most once a minute, db
// being the database's time. What it fails to do the next one does.
func (l *Ledger) sweepNow(ctx context.Context, db time.Time) {
	last := l.swept.Load()
	if (time.Duration(db.Unix()-last)*time.Second).Abs() < sweepEvery || !l.swept.CompareAndSwap(last, db.Unix()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime-commitTime)
	defer cancel()
	for _, sql := range []string{lapseAllSQL, sweepSQL} {
		if _, err := l.pool.Exec(ctx, sql, sweepMost); err != nil {
			l.log.WarnContext(ctx, "old proposals were not swept", "err", err)
			return
		}
	}
}
