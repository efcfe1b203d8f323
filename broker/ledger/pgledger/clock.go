package pgledger

import "time"

// tolerance is how far a replica's clock may be off without anybody noticing: a
// call takes at most as long, so less cannot be told from a slow answer.
const tolerance = 2 * time.Second

// shift is what a replica adds to an instant of the database to have it in its
// own clock, given the database's time just now. Who compares a deadline of the
// ledger with its own clock, an hour off, then comes to the right end.
func (l *Ledger) shift(db time.Time) time.Duration {
	d := l.now().Sub(db)
	if d.Abs() < tolerance {
		return 0
	}
	return d.Round(time.Second)
}

// stored is an instant of this replica in the database's clock, which counts in
// microseconds. The zero time is NULL.
func stored(t time.Time, shift time.Duration) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Round(0).Add(-shift).UTC().Truncate(time.Microsecond)
	return &t
}

// shown is an instant of the database in this replica's clock.
func shown(t *time.Time, shift time.Duration) time.Time {
	if t == nil || t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Add(shift)
}
