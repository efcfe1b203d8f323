package pgledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

const (
	lockPrincipalOfSQL = `SELECT pg_advisory_xact_lock(hashtextextended(principal, 7401)) FROM proposals WHERE id = $1`

	// lockSendsSQL makes the steps to sending wait for each other and for the
	// stop switch: what they count stays true until they are committed.
	lockSendsSQL = `SELECT FROM halt FOR UPDATE`

	lockRowSQL = `SELECT ` + columns + `, clock_timestamp(), ` + clusterSQL + ` FROM proposals WHERE id = $1 FOR UPDATE`

	lapseSQL = `UPDATE proposals SET state = 'expired', since = LEAST(expires_at, clock_timestamp()), payload = NULL,
			spent = spent OR $2, attempts = attempts || $3::text
		WHERE id = $1 AND state IN ('pending', 'expired')`

	// regainSQL puts back a step that a promoted standby has lost, for the next one
	// in the same transaction.
	regainSQL = `UPDATE proposals SET state = 'approved' WHERE id = $1`

	stoodSQL = `SELECT $2 = ANY(attempts) FROM proposals WHERE id = $1 FOR UPDATE`
)

// Move implements broker.Ledger. Beside its documented errors it fails for a
// step that the transition table does not have, which is a bug of the caller.
//
// A pending proposal that has expired is expired from then on, whatever the
// step; one that a spending step finds expired is spent by it (I5). From asking
// on the broker says how an expired proposal ends: it stays where it is. A step
// to sending is always refused after the expiry, or after its own SendBy. A
// MaxAsking of zero is no bound. A MaxCreates of zero neither bounds this step
// nor counts it.
func (l *Ledger) Move(ctx context.Context, s broker.Step) (broker.Moved, error) {
	if err := possible(s); err != nil {
		return broker.Moved{}, err
	}
	if !storable(s.ID) {
		return broker.Moved{}, refuseUnknown()
	}
	m := &move{l: l, s: s, attempt: rand.Text()}
	if err := l.change(ctx, "move", m.run, m.stood); err != nil {
		return broker.Moved{}, err
	}
	if m.refusal != nil {
		return broker.Moved{}, m.refusal
	}
	return m.out, nil
}

// possible refuses a step that cannot happen to any proposal.
func possible(s broker.Step) error {
	if len(s.From) == 0 {
		return errors.New("pgledger: move: a step from nowhere")
	}
	for _, from := range s.From {
		if !from.CanBecome(s.To) {
			return fmt.Errorf("pgledger: move: %q never becomes %q", from, s.To)
		}
	}
	return nil
}

// move is one call of Move.
type move struct {
	l       *Ledger
	s       broker.Step
	attempt string

	out broker.Moved
	// refusal is an answer that goes with a change: a proposal that came too late
	// is expired, and spent.
	refusal error
}

// run makes the step. The row is locked first, so that nothing but time passes
// until the statement that decides.
func (m *move) run(ctx context.Context, q querier) error {
	m.out, m.refusal = broker.Moved{}, nil
	for range 2 { // the expiry may fall between the look and the step
		done, err := m.once(ctx, q)
		if done || err != nil {
			return err
		}
	}
	return errors.New("the row changed under its lock")
}

func (m *move) once(ctx context.Context, q querier) (done bool, err error) {
	afresh(q)
	switch m.s.To { //nolint:exhaustive // the other steps have no conditions beyond their row
	case broker.Asking:
		if err := lock(ctx, q, lockPrincipalOfSQL, string(m.s.ID)); err != nil {
			return false, err
		}
	case broker.Sending:
		if err := lock(ctx, q, lockSendsSQL); err != nil {
			return false, err
		}
	}
	var (
		r       row
		db      time.Time
		cluster string
	)
	err = q.QueryRow(ctx, lockRowSQL, string(m.s.ID)).Scan(r.fields(&db, &cluster)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, refuseUnknown()
	}
	if err != nil {
		return false, err
	}
	p, err := m.l.proposal(&r, db)
	if err != nil {
		return false, err
	}
	older := r.cluster != cluster
	if older && m.outlived(p.State) {
		if _, err := q.Exec(ctx, regainSQL, r.id); err != nil {
			return false, err
		}
		return m.step(ctx, q, p, &r, []string{string(broker.Approved)}, db)
	}
	if older && p.State == broker.Pending {
		p.State, p.Since, p.Payload = broker.Expired, shown(&db, m.l.shift(db)), nil
	}
	late := p.State == broker.Expired && !p.Spent && m.s.Unexpired && slices.Contains(m.s.From, broker.Pending)
	if late || p.State == broker.Expired && r.state == string(broker.Pending) {
		if _, err := q.Exec(ctx, lapseSQL, r.id, late && m.s.Spend, m.attempt); err != nil {
			return false, err
		}
	}
	expired := older || !db.Before(r.expires)
	switch {
	case late && older:
		m.refusal = refuseOlder()
	case late:
		m.refusal = refuseExpired(p)
	case !slices.Contains(m.s.From, p.State):
		m.refusal = &broker.LostError{Proposal: p}
	case expired && (m.s.Unexpired || m.s.To == broker.Sending):
		if m.refusal = refuseExpired(p); older {
			m.refusal = refuseOlder()
		}
	default:
		return m.step(ctx, q, p, &r, names(m.s.From), db)
	}
	return true, nil
}

// outlived reports whether the step brings the outcome of a create whose step to
// sending a promoted standby has lost. Its sender knows better.
func (m *move) outlived(s broker.State) bool {
	return slices.Contains(m.s.From, broker.Sending) &&
		(s == broker.Asking || s == broker.Approved || s == broker.Pending || s == broker.Expired)
}

// stood reports whether a step whose COMMIT had no answer was made, and whom it
// has superseded.
func (m *move) stood(ctx context.Context, q querier) (stood bool, err error) {
	err = q.QueryRow(ctx, stoodSQL, string(m.s.ID), m.attempt).Scan(&stood)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil || !stood || m.s.To != broker.Asking {
		return stood, err
	}
	rows, err := q.Query(ctx, supersededSQL, string(m.s.ID), m.attempt)
	if err == nil {
		m.out.Superseded, err = m.l.collect(rows)
	}
	return stood, err
}

func names(states []broker.State) []string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return out
}
