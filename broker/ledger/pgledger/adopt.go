package pgledger

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

const (
	// dueSQL says that a create's time to be sent is over by a minute: by then
	// even one that left in its last moment is no longer under way. A row without
	// any deadline is one that no broker made.
	dueSQL = `COALESCE((SELECT i.send_by FROM intents i WHERE i.proposal_id = p.id AND i.hash = p.hash AND i.account = p.account),
			p.send_by, p.since + interval '5 minutes') + interval '60 seconds' < clock_timestamp()`

	orphanSQL = `SELECT ` + columns + `, clock_timestamp(), ` + dueSQL + ` FROM proposals p WHERE id = $1 FOR UPDATE`

	adoptSQL = `UPDATE proposals p SET state = 'unknown', since = clock_timestamp(), outcome = $2, attempts = p.attempts || $3::text
		WHERE id = $1 AND state = 'sending' AND ` + dueSQL

	// dropSQL removes the intent of a proposal that is not unresolved: of one that
	// never came to be sent, or whose end is on record.
	dropSQL = `DELETE FROM intents WHERE proposal_id = $1`
)

// Adopt implements broker.Intents: a proposal that is sending becomes unknown
// once its deadline plus a minute is past by the database's clock, whichever
// replica sent it; of several that try one does. Its sender's own answer is still
// taken when it comes. An intent that was left behind by then by a proposal that
// is not unresolved is removed. Only a person ends an intent without a proposal.
func (n *Intents) Adopt(ctx context.Context, i broker.Intent) (adopted bool, err error) {
	attempt := rand.Text()
	err = n.l.change(ctx, "adopt", func(ctx context.Context, q querier) error {
		adopted = false
		var (
			r   row
			db  time.Time
			due bool
		)
		err := q.QueryRow(ctx, orphanSQL, string(i.ProposalID)).Scan(r.fields(&db, &due)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil || !due || r.state == string(broker.Unknown) {
			return err
		}
		if r.state != string(broker.Sending) {
			_, err := q.Exec(ctx, dropSQL, r.id)
			return err
		}
		p, err := n.l.proposal(&r, db)
		if err != nil {
			return err
		}
		p.Result = &broker.Result{Outcome: broker.OutcomeUnknown, Name: p.Name, Detail: "the process that sent it ended before the answer came"}
		sealed, err := n.l.sealOutcome(p)
		if err != nil {
			return err
		}
		tag, err := q.Exec(ctx, adoptSQL, r.id, sealed, attempt)
		adopted = tag.RowsAffected() == 1
		return err
	}, func(ctx context.Context, q querier) (stood bool, err error) {
		if !adopted {
			return true, nil
		}
		err = q.QueryRow(ctx, stoodSQL, string(i.ProposalID), attempt).Scan(&stood)
		return stood, err
	})
	if err != nil {
		return false, unrecorded(err)
	}
	if adopted {
		n.l.log.WarnContext(ctx, "taken over from a replica that has not said how its create ended: its outcome is unknown and is being looked for", "proposal", i.ProposalID)
	}
	return adopted, nil
}
