package pgledger

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// migrations are named NNNN_what.sql and numbered from 1 without a gap.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	// migrationLock is the advisory lock of whoever migrates.
	migrationLock = 0x66616272_69630001
	migrationTime = 30 * time.Second
	// undefinedTable is the SQLSTATE of a table that is not there.
	undefinedTable = "42P01"
)

// ErrBehind says that a database lacks tables that this version needs. The first
// server that opens it makes them.
var ErrBehind = errors.New("the ledger's database is not migrated to this version yet")

// migrate brings the database to this version's tables, or says ErrBehind of one
// that has to stay as it is. Only one that is behind is written to, so that an
// up-to-date standby can be opened.
func migrate(ctx context.Context, cfg *pgx.ConnConfig, asItIs bool) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTime)
	defer cancel()
	cfg = cfg.Copy()
	cfg.DialFunc = new(net.Dialer).DialContext // a migration may take its time
	cfg.RuntimeParams["statement_timeout"] = "30000"
	cfg.RuntimeParams["lock_timeout"] = "30000"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return cannotOpen(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("pgledger: %w", err)
	}
	done, err := version(ctx, conn)
	if err != nil {
		return cannotOpen(err)
	}
	if done < len(files) {
		if asItIs {
			return ErrBehind
		}
		if done, err = apply(ctx, conn, files); err != nil {
			return cannotOpen(err)
		}
	}
	if done > len(files) {
		return fmt.Errorf("the ledger's database was migrated by a newer fabric-broker (version %d, this one knows %d); update this one", done, len(files))
	}
	return nil
}

// version is how many migrations the database has had.
func version(ctx context.Context, q querier) (n int, err error) {
	err = q.QueryRow(ctx, `SELECT count(*) FROM migrations`).Scan(&n)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == undefinedTable {
		return 0, nil
	}
	return n, err
}

// apply makes the missing migrations, all or none. Replicas that start together
// wait for each other.
func apply(ctx context.Context, conn *pgx.Conn, files []string) (done int, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS migrations (
			version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`); err != nil {
			return err
		}
		if done, err = version(ctx, tx); err != nil {
			return err
		}
		for done < len(files) {
			name := files[done]
			sql, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, string(sql)); err != nil { // many statements: the simple protocol
				return fmt.Errorf("%s: %w", name, err)
			}
			done++
			if _, err := tx.Exec(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, done, name); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}
