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

// Intents is the list of creates nobody has seen the end of: those that were
// claimed, and every proposal that is sending or unknown. All replicas share it.
type Intents struct{ l *Ledger }

var _ broker.Intents = (*Intents)(nil)

const (
	// claimSQL counts the time to send from the database's clock: only its length
	// is the replica's word.
	claimSQL = `INSERT INTO intents (account, hash, proposal_id, claimed_at, send_by, attempt, sealed)
		SELECT $1, $2, $3, c.now, c.now + make_interval(secs => $4), $5, $6 FROM (SELECT clock_timestamp() AS now) c
		WHERE NOT EXISTS (SELECT FROM proposals WHERE hash = $2 AND account = $1 AND state IN ('sending', 'unknown') AND id <> $3)
		ON CONFLICT (account, hash) DO NOTHING`

	holderSQL = `SELECT COALESCE(
			(SELECT proposal_id FROM intents WHERE account = $1 AND hash = $2),
			(SELECT id FROM proposals WHERE account = $1 AND hash = $2 AND state IN ('sending', 'unknown')), ''),
		COALESCE((SELECT attempt FROM intents WHERE account = $1 AND hash = $2), '')`

	// settleSQL leaves what is unresolved: its outcome is not on record.
	settleSQL = `DELETE FROM intents WHERE account = $1 AND hash = $2 AND proposal_id = $3
		AND NOT EXISTS (SELECT FROM proposals WHERE id = $3 AND state IN ('sending', 'unknown'))`

	leftSQL = `SELECT EXISTS (SELECT FROM intents WHERE account = $1 AND hash = $2 AND proposal_id = $3)`

	claimedSQL = `SELECT i.account, i.hash, i.proposal_id, i.claimed_at, i.send_by, i.sealed, p.verdict, clock_timestamp()
		FROM intents i LEFT JOIN proposals p ON p.id = i.proposal_id ORDER BY i.claimed_at`

	unclaimedSQL = `SELECT ` + columns + `, clock_timestamp(), verdict FROM proposals p
		WHERE state IN ('sending', 'unknown') AND NOT EXISTS (SELECT FROM intents i WHERE i.proposal_id = p.id)`
)

// Claim implements broker.Intents. What it wrote is durable when it returns (I7)
// and the only one of its account and hash (I12).
func (n *Intents) Claim(ctx context.Context, i broker.Intent) error {
	sealed, err := n.l.seal(labelIntent, i, i.Account, string(i.Hash), string(i.ProposalID))
	if err != nil {
		return fmt.Errorf("pgledger: claim: %w", err)
	}
	attempt := rand.Text()
	window := max(i.SendBy.Sub(i.ClaimedAt), 0).Seconds()
	// It runs again where its COMMIT had no answer, and then finds its attempt.
	err = n.l.change(ctx, "claim", func(ctx context.Context, q querier) error {
		last(q)
		tag, err := q.Exec(ctx, claimSQL, i.Account, string(i.Hash), string(i.ProposalID), window, attempt, sealed)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		var holder, by string
		if err := q.QueryRow(ctx, holderSQL, i.Account, string(i.Hash)).Scan(&holder, &by); err != nil {
			return err
		}
		if by == attempt {
			return nil
		}
		return refuseUnresolved(holder)
	}, nil)
	return unrecorded(err)
}

// Settle implements broker.Intents. It fails while the proposal itself is sending
// or unknown: a step whose answer was lost may stand after all.
func (n *Intents) Settle(ctx context.Context, account string, h broker.Hash, id broker.ID) error {
	return unrecorded(n.l.change(ctx, "settle", func(ctx context.Context, q querier) error {
		last(q)
		tag, err := q.Exec(ctx, settleSQL, account, string(h), string(id))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var left bool
		if err := q.QueryRow(ctx, leftSQL, account, string(h), string(id)).Scan(&left); err != nil || !left {
			return err
		}
		return errors.New("the proposal is on record as sending or unknown")
	}, nil))
}

// List implements broker.Intents, the oldest claim first. One that does not open
// holds its request all the same: it is listed without a ProposalID.
func (n *Intents) List(ctx context.Context) (out []broker.Intent, err error) {
	err = n.l.look(ctx, "list intents", func(ctx context.Context, q querier) error {
		out = nil
		rows, err := q.Query(ctx, claimedSQL)
		if err != nil {
			return err
		}
		if out, err = pgx.AppendRows(out, rows, n.claimed); err != nil {
			return err
		}
		if rows, err = q.Query(ctx, unclaimedSQL); err != nil {
			return err
		}
		out, err = pgx.AppendRows(out, rows, n.unclaimed)
		return err
	})
	if err != nil {
		return nil, unrecorded(err)
	}
	slices.SortStableFunc(out, func(a, b broker.Intent) int { return a.ClaimedAt.Compare(b.ClaimedAt) })
	return out, nil
}

func (n *Intents) claimed(r pgx.CollectableRow) (broker.Intent, error) {
	var (
		account, hash, id   string
		claimed, sendBy, db time.Time
		sealed, verdict     []byte
		i                   broker.Intent
	)
	if err := r.Scan(&account, &hash, &id, &claimed, &sendBy, &sealed, &verdict, &db); err != nil {
		return i, err
	}
	if n.l.open(labelIntent, sealed, &i, account, hash, id) != nil {
		return broker.Intent{Account: account, Hash: broker.Hash(hash), Name: "unreadable intent of proposal " + broker.Quote(id)}, nil
	}
	shift := n.l.shift(db)
	i.ClaimedAt, i.SendBy = shown(&claimed, shift), shown(&sendBy, shift)
	var err error
	i.Verdict, err = n.l.openVerdict(id, verdict)
	return i, err
}

// unclaimed is the intent of a proposal that is itself all there is of it.
func (n *Intents) unclaimed(rows pgx.CollectableRow) (broker.Intent, error) {
	var (
		r       row
		db      time.Time
		verdict []byte
	)
	if err := rows.Scan(r.fields(&db, &verdict)...); err != nil {
		return broker.Intent{}, err
	}
	p, err := n.l.proposal(&r, db)
	if err != nil {
		return broker.Intent{}, err
	}
	i := broker.Intent{
		Account: p.Account, ProposalID: p.ID, ChangeType: p.ChangeType, Name: p.Name, Hash: p.Hash, Twin: p.Twin, Principal: p.Caller.Principal,
		MintedAt: p.MintedAt, ClaimedAt: p.Since, SendBy: p.SendBy, Since: p.MintedAt.Add(-time.Minute),
	}
	if p.Payload != nil {
		i.Path, i.Request = p.Payload.Path, p.Payload.Body
		if d := p.Payload.DryRunDate; !d.IsZero() {
			i.Since = d.Add(-time.Minute)
		}
	}
	i.Verdict, err = n.l.openVerdict(r.id, verdict)
	return i, err
}

// unrecorded gives a failure the code that the broker's Intents promise.
func unrecorded(err error) error {
	if err == nil || answers(err) {
		return err
	}
	return fmt.Errorf("%w: %w", broker.ErrAuditUnavailable, err)
}
