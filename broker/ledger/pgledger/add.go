package pgledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fabricbroker/broker"
)

// maxSealed is how many bytes a proposal's sealed part may have. A request is
// shown whole in 6 KB, so only an upstream that says far too much gets here.
const maxSealed = 512 << 10

// clusterSQL names the database and its timeline, which a promotion and a
// restore change. It fails on a standby.
const clusterSQL = `(SELECT system_identifier::text FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

const (
	// lockPrincipalSQL makes the adds and begins of one principal wait for each
	// other, so that what they count stays true until they are committed.
	lockPrincipalSQL = `SELECT pg_advisory_xact_lock(hashtextextended($1, 7401))`

	roomSQL = `SELECT clock_timestamp(), ` + clusterSQL + `,
		(SELECT count(*) FROM (SELECT FROM proposals
			WHERE state IN ('asking', 'approved', 'sending', 'unknown', 'absent') OR state = 'pending' AND expires_at > clock_timestamp()
			LIMIT $1) AS open)`

	evictSQL = `WITH c AS MATERIALIZED (SELECT clock_timestamp() AS now),
		u AS (UPDATE proposals p SET state = 'evicted', since = c.now, payload = NULL, attempts = p.attempts || $3::text
			FROM c WHERE p.state = 'pending' AND p.id IN (
				SELECT id FROM proposals, c WHERE principal = $1 AND state = 'pending' AND expires_at > c.now
				ORDER BY seq DESC OFFSET $2)
			RETURNING p.*, c.now)
		SELECT ` + columns + `, now FROM u ORDER BY seq`

	insertSQL = `INSERT INTO proposals (` + columns + `, attempts)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', clock_timestamp(), '', false, NULL, NULL, NULL, $12, ARRAY[$13::text])
		RETURNING since`

	addedSQL = `SELECT EXISTS (SELECT FROM proposals WHERE id = $1 AND $2 = ANY(attempts))`

	// uniqueViolation is the SQLSTATE of a key that is there.
	uniqueViolation = "23505"
)

// errTaken says that an id is taken: a bug of the caller, not a failure.
var errTaken = errors.New("is already there")

// Add implements broker.Ledger. ExpiresAt is the database's time plus
// o.Lifetime. A MaxPending of zero evicts nothing. Errors beside ErrRateLimited:
// ErrInvalidArguments for a proposal that is too large, and a failure for an id
// that is taken.
func (l *Ledger) Add(ctx context.Context, p broker.Proposal, o broker.AddOptions) (broker.Added, error) {
	if p.ID == "" {
		return broker.Added{}, errors.New("pgledger: add: a proposal without an id")
	}
	payload, err := l.sealPayload(p)
	if err != nil {
		return broker.Added{}, fmt.Errorf("pgledger: add: %w", err)
	}
	if n := len(payload) + len(p.Name) + len(p.Quote.Basis) + len(p.Quote.Note); n > maxSealed {
		return broker.Added{}, refuseLarge(n)
	}
	who, err := principalKey(p.Caller.Principal)
	if err != nil {
		return broker.Added{}, fmt.Errorf("pgledger: add: %w", err)
	}
	attempt := rand.Text()
	var (
		out broker.Added
		db  time.Time
	)
	err = l.change(ctx, "add", func(ctx context.Context, q querier) (err error) {
		out, db, err = l.add(ctx, q, p, o, payload, attempt)
		return err
	}, func(ctx context.Context, q querier) (stood bool, err error) {
		if err := lock(ctx, q, lockPrincipalSQL, who); err != nil {
			return false, err
		}
		err = q.QueryRow(ctx, addedSQL, string(p.ID), attempt).Scan(&stood)
		return stood, err
	})
	if err != nil {
		return broker.Added{}, err
	}
	l.sweepNow(ctx, db)
	return out, nil
}

func (l *Ledger) add(ctx context.Context, q querier, p broker.Proposal, o broker.AddOptions, payload []byte, attempt string) (broker.Added, time.Time, error) {
	var (
		out  broker.Added
		now  time.Time
		open int
	)
	who, err := principalKey(p.Caller.Principal)
	if err != nil {
		return out, now, err
	}
	if err := lock(ctx, q, lockPrincipalSQL, who); err != nil {
		return out, now, err
	}
	var cluster string
	if err := q.QueryRow(ctx, roomSQL, l.maxAll).Scan(&now, &cluster, &open); err != nil {
		return out, now, err
	}
	if open >= l.maxAll {
		return out, now, refuseFull(l.maxAll)
	}
	if o.MaxPending > 0 {
		rows, err := q.Query(ctx, evictSQL, who, o.MaxPending-1, attempt)
		if err != nil {
			return out, now, err
		}
		if out.Evicted, err = l.collect(rows); err != nil {
			return out, now, err
		}
	}
	r, err := newRow(p, l.shift(now))
	if err != nil {
		return out, now, err
	}
	r.expires, r.cluster, r.payload = now.Add(o.Lifetime).UTC().Truncate(time.Microsecond), cluster, payload
	l.sign(r)
	r.since = now // should the answer be lost
	if out.Proposal, err = l.proposal(r, now); err != nil {
		return out, now, err
	}
	last(q)
	err = q.QueryRow(ctx, insertSQL, r.id, r.principal, r.account, r.hash, r.changeType, r.twin, r.minted, r.expires,
		r.cluster, r.facts, r.mac, r.payload, attempt).Scan(&r.since)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == uniqueViolation {
		return out, now, fmt.Errorf("pgledger: add: proposal %s %w", broker.Quote(r.id), errTaken)
	}
	if err != nil {
		return out, now, err
	}
	out.Proposal.Since = shown(&r.since, l.shift(now))
	return out, now, nil
}
