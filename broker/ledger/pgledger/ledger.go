package pgledger

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"fabricbroker/broker"
)

// Sealer encrypts and authenticates what is stored, for one label a use. A
// *seal.Keyring is one.
type Sealer interface {
	SealData(label string, plaintext, aad []byte) []byte
	OpenData(label string, sealed, aad []byte) ([]byte, error)
	// Stale reports whether sealed hangs on a key that no longer signs.
	Stale(sealed []byte) bool
}

// Options say where the ledger is and what opens it. DSN and Keyring are
// required; zero limits take their defaults.
type Options struct {
	// DSN is postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, or
	// the keyword form of libpq.
	DSN broker.Secret
	// Keyring seals what is stored with its first key and opens it with all. The
	// replicas of one ledger share its secrets.
	Keyring Sealer
	// Log is told of what no caller hears; nil discards it.
	Log *slog.Logger
	// Now is the clock of this replica, time.Now. It decides nothing: it is only
	// compared with the database's to translate instants.
	Now func() time.Time
	// MaxAll is how many proposals may be under way: 10,000. Ended ones do not
	// count, and they go after 24 hours.
	MaxAll int
	// MaxConns is how many connections this replica opens: 8.
	MaxConns int
	// AsItIs migrates nothing: a database that is behind is ErrBehind.
	AsItIs bool
}

// Ledger is a broker.Ledger that replicas share. It is safe for concurrent use.
// Use [Open], and Close at the end.
type Ledger struct {
	pool   *pgxpool.Pool
	keys   Sealer
	log    *slog.Logger
	now    func() time.Time
	maxAll int

	// swept is when this replica last looked for old rows, by the database's
	// clock, in Unix seconds.
	swept   atomic.Int64
	halt    Halt
	lockout Lockout
}

var _ broker.Ledger = (*Ledger)(nil)

// Open connects, migrates the database under a lock that one replica holds, and
// returns the ledger. A database that is read-only but up to date opens: its
// proposals can be read. Errors never hold the DSN. Call [Ledger.Reseal] after a
// secret was rotated.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	if o.Keyring == nil {
		return nil, errors.New("pgledger: a ledger without a keyring could not seal anything")
	}
	cfg, err := configure(o)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		keys: o.Keyring, log: o.Log, now: o.Now,
		maxAll: cmp.Or(o.MaxAll, 10_000),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.now == nil {
		l.now = time.Now
	}
	l.halt.l, l.lockout.l = l, l
	if err := migrate(ctx, cfg.ConnConfig, o.AsItIs); err != nil {
		return nil, err
	}
	if l.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, cannotOpen(err)
	}
	return l, nil
}

// Close gives up the connections. Calls after it fail.
func (l *Ledger) Close() { l.pool.Close() }

// Halt returns the stop switch of all replicas.
func (l *Ledger) Halt() *Halt { return &l.halt }

// Intents returns the creates nobody has seen the end of, for all replicas.
func (l *Ledger) Intents() *Intents { return &Intents{l} }

// Lockout returns the memory of refused log-ins that all replicas share.
func (l *Ledger) Lockout() *Lockout { return &l.lockout }

// Ping reports whether a proposal could be changed now: an error that is
// ErrLedgerUnavailable says that the database is away, slow or read-only.
func (l *Ledger) Ping(ctx context.Context) error {
	var readOnly bool
	err := l.look(ctx, "ping", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`).Scan(&readOnly)
	})
	if err == nil && readOnly {
		err = unavailable("ping", errors.New("the database is read-only"))
	}
	return err
}

// Counts returns how many proposals are pending and how many creates have an
// unknown outcome, for metrics.
func (l *Ledger) Counts(ctx context.Context) (pending, unknown int, err error) {
	err = l.look(ctx, "count", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `SELECT
			(SELECT count(*) FROM proposals WHERE state = 'pending' AND expires_at > clock_timestamp()),
			(SELECT count(*) FROM proposals WHERE state = 'unknown')`).Scan(&pending, &unknown)
	})
	return pending, unknown, err
}
