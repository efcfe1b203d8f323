package ledger

import (
	"time"

	"fabricbroker/broker"
)

// reading is one look at two clocks: the wall clock, which goes on while a
// laptop sleeps but can be set back, and the time that this process has run,
// which cannot be set but stands still in a sleep. A proposal has expired when
// either says so (I6).
type reading struct {
	wall time.Time // without Go's monotonic reading
	run  time.Duration
}

// clock reads both out of now. A now without a monotonic reading, as in tests,
// has one clock only.
func clock(now func() time.Time) func() reading {
	start := now()
	return func() reading {
		t := now()
		return reading{wall: t.Round(0), run: t.Sub(start)}
	}
}

func (r *row) expired(now reading) bool {
	return !now.wall.Before(r.p.ExpiresAt) || now.run >= r.deadline
}

// lapse turns a pending proposal that has expired into an expired one. Nothing
// runs at the instant of an expiry: whoever looks at a row calls this first.
func (m *Memory) lapse(r *row, now reading) {
	if r.p.State != broker.Pending || !r.expired(now) {
		return
	}
	at := now.wall
	if r.p.ExpiresAt.Before(at) {
		at = r.p.ExpiresAt
	}
	m.enter(r, broker.Expired, at)
}
