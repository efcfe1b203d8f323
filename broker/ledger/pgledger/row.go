package pgledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker"
)

// columns are those of a row, in the order of fields.
const columns = `id, principal, account, hash, change_type, twin, minted_at, expires_at, cluster, facts, mac,
	state, since, code, spent, ask_until, send_by, outcome, payload`

// row is a stored proposal, in the database's clock.
type row struct {
	id, principal, account, hash, changeType, twin string
	minted, expires                                time.Time
	cluster, facts                                 string
	mac                                            []byte

	state            string
	since            time.Time
	code             string
	spent            bool
	askUntil, sendBy *time.Time
	outcome, payload []byte
}

func (r *row) fields(more ...any) []any {
	return append([]any{
		&r.id, &r.principal, &r.account, &r.hash, &r.changeType, &r.twin, &r.minted, &r.expires, &r.cluster, &r.facts, &r.mac,
		&r.state, &r.since, &r.code, &r.spent, &r.askUntil, &r.sendBy, &r.outcome, &r.payload,
	}, more...)
}

// facts are what a proposal keeps and nothing is looked for by.
type facts struct {
	Name            string
	ClientName      string
	ClientVersion   string
	ProtocolVersion string
	Quote           json.RawMessage
}

// newRow returns the row of a pending proposal.
func newRow(p broker.Proposal, shift time.Duration) (*row, error) {
	who, err := principalKey(p.Caller.Principal)
	if err != nil {
		return nil, err
	}
	quote, err := json.Marshal(p.Quote)
	if err != nil {
		return nil, err
	}
	f, err := json.Marshal(facts{p.Name, p.Caller.ClientName, p.Caller.ClientVersion, p.Caller.ProtocolVersion, quote})
	if err != nil {
		return nil, err
	}
	minted := stored(p.MintedAt, shift)
	if minted == nil {
		minted = &time.Time{}
	}
	return &row{
		id: string(p.ID), principal: who, account: p.Account, hash: string(p.Hash), changeType: string(p.ChangeType), twin: p.Twin,
		minted: *minted, facts: string(f), state: string(broker.Pending),
	}, nil
}

// bound is what mac authenticates.
func (r *row) bound() []byte {
	return bind(r.id, r.principal, r.account, r.hash, r.changeType, r.twin,
		r.minted.UTC().Format(time.RFC3339Nano), r.expires.UTC().Format(time.RFC3339Nano), r.cluster, r.facts)
}

// proposal returns what the row says, with instants shifted. A pending one that
// has expired by the database's time db is expired, whoever has noticed.
func (l *Ledger) proposal(r *row, db time.Time) (broker.Proposal, error) {
	if !l.authentic(r) {
		return broker.Proposal{}, altered(r.id, "does not verify")
	}
	var f facts
	if err := json.Unmarshal([]byte(r.facts), &f); err != nil {
		return broker.Proposal{}, altered(r.id, "cannot be read")
	}
	who, err := parsePrincipal(r.principal)
	if err != nil {
		return broker.Proposal{}, altered(r.id, "cannot be read")
	}
	shift := l.shift(db)
	p := broker.Proposal{
		ID: broker.ID(r.id), ChangeType: broker.ChangeType(r.changeType), Name: f.Name, Hash: broker.Hash(r.hash), Twin: r.twin,
		Caller:  broker.Caller{Principal: who, ClientName: f.ClientName, ClientVersion: f.ClientVersion, ProtocolVersion: f.ProtocolVersion},
		Account: r.account, State: broker.State(r.state), Since: shown(&r.since, shift), Code: broker.Code(r.code), Spent: r.spent,
		MintedAt: shown(&r.minted, shift), ExpiresAt: shown(&r.expires, shift),
		AskUntil: shown(r.askUntil, shift), SendBy: shown(r.sendBy, shift),
	}
	if err := json.Unmarshal(f.Quote, &p.Quote); err != nil {
		return broker.Proposal{}, altered(r.id, "cannot be read")
	}
	if p.Payload, err = l.openPayload(r); err != nil {
		return broker.Proposal{}, err
	}
	if p.Answer, p.Result, err = l.openOutcome(r); err != nil {
		return broker.Proposal{}, err
	}
	if p.State == broker.Pending && !db.Before(r.expires) {
		p.State, p.Since, p.Payload = broker.Expired, p.ExpiresAt, nil
	}
	return p, nil
}

// collect reads rows that end with the database's time.
func (l *Ledger) collect(rows pgx.Rows) ([]broker.Proposal, error) {
	defer rows.Close()
	out := []broker.Proposal{}
	for rows.Next() {
		var (
			r  row
			db time.Time
		)
		if err := rows.Scan(r.fields(&db)...); err != nil {
			return nil, err
		}
		p, err := l.proposal(&r, db)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// principalKey spells a principal. Bytes that are no UTF-8 would be replaced,
// and two principals could become one.
func principalKey(p broker.Principal) (string, error) {
	four := [4]string{p.Kind, p.Issuer, p.Tenant, p.Subject}
	for _, s := range four {
		if !utf8.ValidString(s) {
			return "", errors.New("a principal that is no UTF-8")
		}
	}
	b, err := json.Marshal(four)
	return string(b), err
}

func parsePrincipal(s string) (broker.Principal, error) {
	var four [4]string
	err := json.Unmarshal([]byte(s), &four)
	return broker.Principal{Kind: four[0], Issuer: four[1], Tenant: four[2], Subject: four[3]}, err
}

func altered(id, how string) error {
	return fmt.Errorf("the row of proposal %s %s: it was altered by hand, or its secret is no longer configured", broker.Quote(id), how)
}
