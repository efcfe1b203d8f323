package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger"
	"fabricbroker/fabric"
	"fabricbroker/toolsets/remote"
)

// shared is what replicas must agree on: the ledger, and what hangs on it.
type shared struct {
	ledger  counter
	intents broker.Intents
	halt    brake
	lockout fabric.Lockout
}

// share opens the shared ledger that the configuration names, if it names one,
// for parts to use. It returns what /readyz looks at, and what closes it.
func (c *httpCmd) share(ctx context.Context, log *slog.Logger) ([]remote.Check, func(), error) {
	switch c.dsn.Reveal() {
	case "":
		return nil, func() {}, nil
	case memoryLedger:
		return []remote.Check{{Name: "ledger", Run: func(context.Context) error { return nil }}}, func() {}, nil
	}
	l, err := pgledger.Open(ctx, pgledger.Options{DSN: c.dsn, Keyring: c.keyring, Log: log})
	if err != nil {
		return nil, nil, fmt.Errorf("EQUINIX_MCP_LEDGER_DSN: %w", err)
	}
	// After a secret was rotated. What could not be sealed anew still opens for
	// as long as the old secret is configured.
	if n, err := l.Reseal(ctx); err != nil {
		log.Warn("the ledger could not be sealed anew; keep the old confirm secret configured", "err", err)
	} else if n > 0 {
		log.Info("the ledger was sealed anew under the first confirm secret", "rows", n)
	}
	c.shared = &shared{ledger: l, intents: l.Intents(), halt: l.Halt(), lockout: l.Lockout()}
	return []remote.Check{{Name: "ledger", Run: l.Ping}}, l.Close, nil
}

// brake is a stop switch that an operator can take back.
type brake interface {
	broker.Halt
	Clear(ctx context.Context) error
}

// halts is a stop switch with several handles, of which the first is the one to
// pull: replicas have one in common, and each has the one of its state directory.
type halts []brake

// Halted implements broker.Halt.
func (hs halts) Halted(ctx context.Context) (string, error) {
	var errs []error
	for _, h := range hs {
		reason, err := h.Halted(ctx)
		if reason != "" {
			return reason, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// Set implements broker.Halt.
func (hs halts) Set(ctx context.Context, reason string) error { return hs[0].Set(ctx, reason) }

// Clear takes every handle back.
func (hs halts) Clear(ctx context.Context) error {
	var errs []error
	for _, h := range hs {
		errs = append(errs, h.Clear(ctx))
	}
	return errors.Join(errs...)
}
