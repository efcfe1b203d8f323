package pgledger

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fabricbroker/broker"
)

// Every step is one statement: c looks at the clock and at what the step depends
// on, u makes the step if all of it allows that, and the answer tells both.
const (
	clockSQL = `WITH c AS MATERIALIZED (SELECT clock_timestamp() AS now`

	setSQL = `, u AS (UPDATE proposals p SET state = $3, since = c.now, spent = p.spent OR $4,
			code = CASE WHEN $5::text = '' THEN p.code ELSE $5 END,
			ask_until = COALESCE($6::timestamptz, p.ask_until), send_by = COALESCE($7::timestamptz, p.send_by),
			outcome = $8, payload = CASE WHEN $9 THEN p.payload ELSE $10::bytea END, attempts = p.attempts || $11::text`

	whereSQL = ` FROM c WHERE p.id = $1 AND p.state = ANY($2)
			AND (NOT $12 OR c.now < p.expires_at) AND (p.state <> 'pending' OR c.now < p.expires_at)`

	answerSQL = ` RETURNING p.id) SELECT c.now, EXISTS (SELECT FROM u)`

	stepSQL = clockSQL + `)` + setSQL + whereSQL + answerSQL + ` FROM c`

	// A prompt past its own deadline waits for nobody, and one of the same hash
	// and account will be superseded.
	askSQL = clockSQL + `, (SELECT count(*) FROM proposals WHERE principal = $14 AND state = 'asking' AND id <> $1
				AND NOT (hash = $15 AND account = $16) AND (ask_until IS NULL OR clock_timestamp() < ask_until)) AS waiting)` +
		setSQL + whereSQL + ` AND ($13 <= 0 OR c.waiting < $13)` + answerSQL + `, c.waiting FROM c`

	// supersedeSQL goes with the step to asking, whether that is made or not.
	supersedeSQL = `WITH c AS MATERIALIZED (SELECT clock_timestamp() AS now)
		UPDATE proposals p SET state = 'superseded', since = c.now, payload = NULL, attempts = p.attempts || $5::text
		FROM c WHERE p.principal = $2 AND p.hash = $3 AND p.account = $4 AND p.state = 'asking' AND p.id <> $1
			AND EXISTS (SELECT FROM proposals a WHERE a.id = $1 AND a.state = 'asking' AND $5 = ANY(a.attempts))
		RETURNING ` + columns + `, c.now`

	supersededSQL = `SELECT ` + columns + `, clock_timestamp() FROM proposals
		WHERE principal = (SELECT principal FROM proposals WHERE id = $1) AND state = 'superseded' AND $2 = ANY(attempts) AND id <> $1`

	// The switch, the ceiling, I12 by other proposals and by other intents, and
	// the expiry, all at the instant at which the step is made.
	sendSQL = clockSQL + `,
			(SELECT reason FROM halt) AS halted,
			(SELECT count(*) FROM proposals WHERE sent_at > (SELECT clock_timestamp() - interval '24 hours')) AS sent,
			(SELECT min(sent_at) FROM proposals WHERE sent_at > (SELECT clock_timestamp() - interval '24 hours')) AS first,
			COALESCE((SELECT id FROM proposals WHERE hash = $14 AND account = $15 AND state IN ('sending', 'unknown') AND id <> $1 LIMIT 1),
				(SELECT proposal_id FROM intents WHERE hash = $14 AND account = $15 AND proposal_id <> $1)) AS equal)` +
		setSQL + `, sent_at = CASE WHEN $13 > 0 THEN c.now END` + whereSQL + `
			AND ($7::timestamptz IS NULL OR c.now < $7) AND c.halted = '' AND c.equal IS NULL AND ($13 <= 0 OR c.sent < $13)` +
		answerSQL + `, c.halted, c.sent, c.first, c.equal FROM c`
)

const ceilingWindow = 24 * time.Hour

// step makes the step of p, whose row is r and locked. It is not done where the
// expiry has come meanwhile.
func (m *move) step(ctx context.Context, q querier, p broker.Proposal, r *row, from []string, db time.Time) (done bool, err error) {
	shift := m.l.shift(db)
	keep := m.set(&p)
	sealed, err := m.l.sealOutcome(p)
	if err != nil {
		return false, err
	}
	var payload []byte
	if !keep {
		if payload, err = m.l.sealPayload(p); err != nil {
			return false, err
		}
	}
	args := []any{
		r.id, from, string(m.s.To), m.s.Spend, string(m.s.Code), stored(m.s.AskUntil, shift), stored(m.s.SendBy, shift),
		sealed, keep, payload, m.attempt, m.s.Unexpired || m.s.To == broker.Sending,
	}
	now := db // should the answer be lost
	p.State, p.Since = m.s.To, shown(&now, shift)
	m.out.Proposal = p
	last(q)
	switch m.s.To {
	case broker.Asking:
		now, done, err = m.ask(ctx, q, r, args)
	case broker.Sending:
		now, done, err = m.send(ctx, q, r, args)
	default:
		err = q.QueryRow(ctx, stepSQL, args...).Scan(&now, &done)
	}
	if !done || err != nil {
		return false, err
	}
	m.out.Proposal.Since = shown(&now, shift)
	return true, nil
}

// set writes what the step sets into p; zero values leave what is there. It
// reports whether the sealed payload stays as it is.
func (m *move) set(p *broker.Proposal) (keep bool) {
	s := m.s
	p.Spent = p.Spent || s.Spend
	if s.Code != "" {
		p.Code = s.Code
	}
	if s.Answer != nil {
		a := *s.Answer
		p.Answer = &a
	}
	if s.Result != nil {
		res := *s.Result
		res.Upstream = slices.Clone(res.Upstream)
		p.Result = &res
	}
	if !s.AskUntil.IsZero() {
		p.AskUntil = s.AskUntil.Round(0)
	}
	if !s.SendBy.IsZero() {
		p.SendBy = s.SendBy.Round(0)
	}
	switch {
	case s.To.Settled():
		p.Payload = nil
	case p.Payload != nil && (s.Attention != nil || s.ConfirmCode != ""):
		if s.Attention != nil {
			p.Payload.Attention = slices.Clone(s.Attention)
		}
		if s.ConfirmCode != "" {
			p.Payload.ConfirmCode = s.ConfirmCode
		}
	default:
		return true
	}
	return false
}

func (m *move) ask(ctx context.Context, q querier, r *row, args []any) (now time.Time, done bool, err error) {
	var waiting int
	b := &pgx.Batch{}
	b.Queue(askSQL, append(args, m.s.MaxAsking, r.principal, r.hash, r.account)...)
	b.Queue(supersedeSQL, r.id, r.principal, r.hash, r.account, m.attempt)
	res := q.SendBatch(ctx, b)
	defer func() { err = cmp.Or(err, res.Close()) }()
	if err = res.QueryRow().Scan(&now, &done, &waiting); err != nil {
		return now, false, err
	}
	if !done {
		if m.s.MaxAsking > 0 && waiting >= m.s.MaxAsking {
			err = refuseAsking(waiting)
		}
		return now, false, err
	}
	rows, err := res.Query()
	if err == nil {
		m.out.Superseded, err = m.l.collect(rows)
	}
	return now, err == nil, err
}

func (m *move) send(ctx context.Context, q querier, r *row, args []any) (now time.Time, done bool, err error) {
	var (
		halted string
		sent   int
		first  *time.Time
		equal  *string
	)
	args = append(args, m.s.MaxCreates, r.hash, r.account)
	err = q.QueryRow(ctx, sendSQL, args...).Scan(&now, &done, &halted, &sent, &first, &equal)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == uniqueViolation {
		return now, false, refuseUnresolved("") // the index, should the look have missed one
	}
	shift := m.l.shift(now)
	sendBy := stored(m.s.SendBy, shift)
	switch {
	case err != nil || done:
	case sendBy != nil && !now.Before(*sendBy):
		err = broker.Refuse(broker.ErrTokenExpired, "propose the change again", "the time in which it could be sent is over")
	case halted != "":
		err = refuseHalted(halted)
	case equal != nil:
		err = refuseUnresolved(*equal)
	case m.s.MaxCreates > 0 && sent >= m.s.MaxCreates && first != nil:
		err = refuseCeiling(m.s.MaxCreates, shown(first, shift).Add(ceilingWindow))
	}
	return now, done, err
}
