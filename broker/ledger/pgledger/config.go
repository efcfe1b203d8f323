package pgledger

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fabricbroker/broker"
)

const dsnHelp = "set EQUINIX_MCP_LEDGER_DSN to postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full"

// readOnlyTransaction is the SQLSTATE of a write to a standby.
const readOnlyTransaction = "25006"

// configure reads the DSN. What pgx says of one that it cannot read may repeat
// parts of it, so its words stay here.
func configure(o Options) (*pgxpool.Config, error) {
	if o.DSN.IsZero() {
		return nil, errors.New("the ledger's DSN is empty; " + dsnHelp)
	}
	cfg, err := pgxpool.ParseConfig(o.DSN.Reveal())
	if err != nil {
		return nil, errors.New("the ledger's DSN cannot be read; " + dsnHelp)
	}
	cfg.MaxConns = int32(cmp.Or(min(o.MaxConns, 1000), 8))
	cfg.MinConns = 0
	cfg.MaxConnLifetime = 30 * time.Minute
	cfg.MaxConnIdleTime = 5 * time.Minute
	c := cfg.ConnConfig
	c.ConnectTimeout, c.DialFunc = attemptTime, dial
	p := c.RuntimeParams
	p["application_name"] = cmp.Or(p["application_name"], "fabric-broker")
	// The server ends what its client has given up.
	p["statement_timeout"] = "1500"
	p["lock_timeout"] = "1000"
	p["idle_in_transaction_session_timeout"] = "5000"
	p["default_transaction_isolation"] = "read committed"
	// A step that a crash could take back is no step. remote_apply is stronger.
	if p["synchronous_commit"] != "remote_apply" {
		p["synchronous_commit"] = "on"
	}
	c.OnPgError = func(_ *pgconn.PgConn, e *pgconn.PgError) bool {
		// A connection to what is now a standby is of no use: the next one may
		// reach the primary.
		return e.Severity != "FATAL" && e.Code != readOnlyTransaction
	}
	return cfg, nil
}

// cannotOpen is what Open says of a database that it cannot use. pgx names host,
// user and database, never the password.
func cannotOpen(err error) error {
	return fmt.Errorf("the ledger's database cannot be used; check EQUINIX_MCP_LEDGER_DSN and that the server is up: %w: %w",
		broker.ErrLedgerUnavailable, err)
}
