package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger"
)

// operated is what an operator's command works on: the ledger that replicas
// share where one is configured, else a state directory.
type operated struct {
	halt    brake
	intents interface {
		Judge(ctx context.Context, id broker.ID, v broker.Verdict) error
	}
	name  string
	close func()
}

// operated opens it. Without the confirm secret of the replicas nothing in
// their ledger could be read or written.
func (s stateFlags) operated(ctx context.Context) (operated, error) {
	dsn, err := secret("EQUINIX_MCP_LEDGER_DSN")
	if err != nil {
		return operated{}, usageError{err}
	}
	if !strings.HasPrefix(dsn.Reveal(), "postgres") {
		dir, err := s.open()
		if err != nil {
			return operated{}, err
		}
		return operated{dir.Halt(), dir.Intents(), dir.Path(), func() { _ = dir.Close() }}, nil
	}
	confirm, err := secret("EQUINIX_MCP_CONFIRM_SECRET")
	if err != nil {
		return operated{}, usageError{err}
	}
	if confirm.IsZero() {
		return operated{}, usageError{fmt.Errorf("EQUINIX_MCP_LEDGER_DSN is set, but not EQUINIX_MCP_CONFIRM_SECRET: give this command the one of the replicas")}
	}
	keys, err := keyring(confirm)
	if err != nil {
		return operated{}, usageError{fmt.Errorf("EQUINIX_MCP_CONFIRM_SECRET: %w", err)}
	}
	l, err := pgledger.Open(ctx, pgledger.Options{DSN: dsn, Keyring: keys, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return operated{}, fmt.Errorf("EQUINIX_MCP_LEDGER_DSN: %w", err)
	}
	o := operated{halts{l.Halt()}, l.Intents(), "the shared ledger", l.Close}
	if dir, err := s.open(); err == nil { // of a replica, where this runs beside one
		o.halt, o.close = halts{l.Halt(), dir.Halt()}, func() { _ = dir.Close(); l.Close() }
	}
	return o, nil
}
