package pgledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// resealBatch is how many rows one call makes new.
const resealBatch = 100

// headSQL selects what tells under which secret each sealed value of a row is.
const headSQL = `substr(mac, 1, 64), COALESCE(substr(payload, 1, 64), mac), COALESCE(substr(outcome, 1, 64), mac), COALESCE(substr(verdict, 1, 64), mac)`

// Stale returns how many rows still need a secret that no longer seals. While it
// is not zero that secret must stay configured.
func (l *Ledger) Stale(ctx context.Context) (n int, err error) {
	err = l.look(ctx, "count what an old secret sealed", func(ctx context.Context, q querier) error {
		n = 0
		for _, sql := range []string{`SELECT ` + headSQL + ` FROM proposals`, `SELECT sealed, sealed, sealed, sealed FROM intents`} {
			rows, err := q.Query(ctx, sql)
			if err != nil {
				return err
			}
			var v [4][]byte
			if _, err := pgx.ForEachRow(rows, []any{&v[0], &v[1], &v[2], &v[3]}, func() error {
				if l.stale(v[:]...) {
					n++
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func (l *Ledger) stale(values ...[]byte) bool {
	for _, v := range values {
		if v != nil && l.keys.Stale(v) {
			return true
		}
	}
	return false
}

// Reseal seals what an older secret sealed anew under the first one and returns
// how many rows that were. Call it at start. It works in small pieces beside the
// other replicas; a row that does not open is left, logged and counted by Stale.
func (l *Ledger) Reseal(ctx context.Context) (done int, err error) {
	if n, err := l.Stale(ctx); n == 0 || err != nil {
		return 0, err
	}
	for after := ""; ; {
		ids, last, err := l.staleAfter(ctx, after)
		if err != nil {
			return done, err
		}
		if last == after {
			break
		}
		n := 0
		if err := l.change(ctx, "reseal", func(ctx context.Context, q querier) (err error) {
			n, err = l.resealSome(ctx, q, ids)
			return err
		}, nil); err != nil {
			return done, err
		}
		done, after = done+n, last
	}
	n, err := l.resealIntents(ctx)
	return done + n, err
}

// staleAfter returns the stale ones among the next rows, and the last of all
// those. Nothing is locked: most rows are not stale.
func (l *Ledger) staleAfter(ctx context.Context, after string) (ids []string, last string, err error) {
	err = l.look(ctx, "look for what an old secret sealed", func(ctx context.Context, q querier) error {
		ids, last = nil, after
		rows, err := q.Query(ctx, `SELECT id, `+headSQL+` FROM proposals WHERE id > $1 ORDER BY id LIMIT $2`, after, resealBatch)
		if err != nil {
			return err
		}
		var v [4][]byte
		_, err = pgx.ForEachRow(rows, []any{&last, &v[0], &v[1], &v[2], &v[3]}, func() error {
			if l.stale(v[:]...) {
				ids = append(ids, last)
			}
			return nil
		})
		return err
	})
	return ids, last, err
}

func (l *Ledger) resealSome(ctx context.Context, q querier, ids []string) (done int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	rows, err := q.Query(ctx, `SELECT `+columns+`, verdict FROM proposals WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return 0, err
	}
	type judged struct {
		row
		verdict []byte
	}
	found, err := pgx.CollectRows(rows, func(rows pgx.CollectableRow) (s judged, err error) {
		err = rows.Scan(s.fields(&s.verdict)...)
		return s, err
	})
	if err != nil {
		return 0, err
	}
	for i := range found {
		s := &found[i]
		if err := l.resealRow(&s.row, &s.verdict); err != nil {
			l.log.ErrorContext(ctx, "a row was not sealed again", "err", err)
			continue
		}
		if _, err := q.Exec(ctx, `UPDATE proposals SET mac = $2, payload = $3, outcome = $4, verdict = $5 WHERE id = $1`,
			s.id, s.mac, s.payload, s.outcome, s.verdict); err != nil {
			return 0, err
		}
		done++
	}
	return done, nil
}

func (l *Ledger) resealRow(r *row, verdict *[]byte) error {
	r.minted, r.expires = r.minted.UTC(), r.expires.UTC()
	if !l.authentic(r) {
		return altered(r.id, "does not verify")
	}
	for _, v := range []struct {
		sealed *[]byte
		label  string
		aad    []byte
	}{
		{&r.payload, labelPayload, bind(r.id, r.hash)},
		{&r.outcome, labelOutcome, bind(r.id, r.hash)},
		{verdict, labelVerdict, bind(r.id)},
	} {
		if *v.sealed == nil {
			continue
		}
		b, err := l.keys.OpenData(v.label, *v.sealed, v.aad)
		if err != nil {
			return altered(r.id, "does not open")
		}
		*v.sealed = l.keys.SealData(v.label, b, v.aad)
	}
	l.sign(r)
	return nil
}
