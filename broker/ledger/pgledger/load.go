package pgledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

const loadSQL = `SELECT ` + columns + `, clock_timestamp() FROM proposals WHERE id = $1`

// Load implements broker.Ledger. It also works on a standby.
func (l *Ledger) Load(ctx context.Context, id broker.ID) (p broker.Proposal, err error) {
	if !storable(id) {
		return p, refuseUnknown()
	}
	err = l.look(ctx, "load", func(ctx context.Context, q querier) error {
		var (
			r  row
			db time.Time
		)
		err := q.QueryRow(ctx, loadSQL, string(id)).Scan(r.fields(&db)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return refuseUnknown()
		}
		if err == nil {
			p, err = l.proposal(&r, db)
		}
		return err
	})
	return p, err
}

// storable reports whether a row can have that id: a caller may ask for any text,
// and PostgreSQL takes no NUL and no broken UTF-8.
func storable(id broker.ID) bool {
	return utf8.ValidString(string(id)) && !strings.ContainsRune(string(id), 0)
}

// List implements broker.Ledger. It also works on a standby. One row that was
// altered by hand fails it: what is missing from a list must not be taken for
// absent.
func (l *Ledger) List(ctx context.Context, q broker.Query) (ps []broker.Proposal, err error) {
	sql, args, err := listSQL(q)
	if err != nil {
		return nil, fmt.Errorf("pgledger: list: %w", err)
	}
	err = l.look(ctx, "list", func(ctx context.Context, conn querier) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		ps, err = l.collect(rows)
		return err
	})
	return ps, err
}

// listSQL names only the fields that are asked for: each combination has its own
// plan and its index.
func listSQL(q broker.Query) (string, []any, error) {
	var (
		where []string
		args  []any
	)
	is := func(cond string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(cond, len(args)))
	}
	if q.Principal != (broker.Principal{}) {
		who, err := principalKey(q.Principal)
		if err != nil {
			return "", nil, err
		}
		is("principal = $%d", who)
	}
	if q.Hash != "" {
		is("hash = $%d", string(q.Hash))
	}
	if q.Twin != "" {
		is("twin = $%d", q.Twin)
	}
	if q.Account != "" {
		is("account = $%d", q.Account)
	}
	if len(q.States) > 0 {
		// A pending row that has expired is expired, although its row says
		// pending until somebody writes.
		states := make([]string, len(q.States))
		for i, s := range q.States {
			states[i] = string(s)
		}
		lapsed := slices.Contains(q.States, broker.Expired)
		if lapsed && !slices.Contains(q.States, broker.Pending) {
			states = append(states, string(broker.Pending))
		}
		is("state = ANY($%d)", states)
		if !lapsed {
			where = append(where, "(state <> 'pending' OR expires_at > clock_timestamp())")
		} else if !slices.Contains(q.States, broker.Pending) {
			where = append(where, "(state <> 'pending' OR expires_at <= clock_timestamp())")
		}
	}
	sql := "SELECT " + columns + ", clock_timestamp() FROM proposals"
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	sql += " ORDER BY minted_at DESC, id DESC"
	if q.Limit > 0 {
		args = append(args, q.Limit)
		sql += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	return sql, args, nil
}
