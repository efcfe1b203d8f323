package pgledger

import (
	"context"

	"fabricbroker/broker"
)

const (
	judgeSQL = `UPDATE proposals SET verdict = $2 WHERE id = $1 AND state IN ('sending', 'unknown')`

	// freeSQL ends an intent whose proposal is gone: nothing else ever would.
	freeSQL = `DELETE FROM intents i WHERE proposal_id = $1 AND NOT EXISTS (SELECT FROM proposals p WHERE p.id = $1)`
)

// Judge writes a person's verdict on the unresolved create of proposal id,
// durably. The next look of any replica takes it from there; a later one replaces
// it. ErrProposalUnknown: there is no such create, or it is settled.
func (n *Intents) Judge(ctx context.Context, id broker.ID, v broker.Verdict) error {
	if !storable(id) {
		return refuseUnknown()
	}
	sealed, err := n.l.seal(labelVerdict, v, string(id))
	if err != nil {
		return err
	}
	return unrecorded(n.l.change(ctx, "judge", func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, judgeSQL, string(id), sealed)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		tag, err = q.Exec(ctx, freeSQL, string(id))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		return broker.Refuse(broker.ErrProposalUnknown, "`fabric-broker doctor` lists the unresolved creates",
			"there is no unresolved create of proposal %s", broker.Quote(string(id)))
	}, nil))
}

func (l *Ledger) openVerdict(id string, sealed []byte) (*broker.Verdict, error) {
	if sealed == nil {
		return nil, nil
	}
	var v broker.Verdict
	if err := l.open(labelVerdict, sealed, &v, id); err != nil {
		return nil, altered(id, "has a verdict that does not open")
	}
	return &v, nil
}
