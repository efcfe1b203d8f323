package pgledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// resealIntents does for intents what Reseal does for proposals. There are few.
func (l *Ledger) resealIntents(ctx context.Context) (done int, err error) {
	type intent struct {
		account, hash, id string
		sealed            []byte
	}
	err = l.change(ctx, "reseal", func(ctx context.Context, q querier) error {
		done = 0
		rows, err := q.Query(ctx, `SELECT account, hash, proposal_id, sealed FROM intents FOR UPDATE`)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (i intent, err error) {
			err = r.Scan(&i.account, &i.hash, &i.id, &i.sealed)
			return i, err
		})
		if err != nil {
			return err
		}
		for _, i := range all {
			if !l.stale(i.sealed) {
				continue
			}
			b, err := l.keys.OpenData(labelIntent, i.sealed, bind(i.account, i.hash, i.id))
			if err != nil {
				l.log.ErrorContext(ctx, "an intent was not sealed again", "proposal", i.id, "err", fmt.Errorf("it does not open: %w", err))
				continue
			}
			if _, err := q.Exec(ctx, `UPDATE intents SET sealed = $4 WHERE account = $1 AND hash = $2 AND proposal_id = $3`,
				i.account, i.hash, i.id, l.keys.SealData(labelIntent, b, bind(i.account, i.hash, i.id))); err != nil {
				return err
			}
			done++
		}
		return nil
	}, nil)
	return done, err
}
