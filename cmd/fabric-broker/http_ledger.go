package main

import (
	"context"
	"errors"

	"fabricbroker/toolsets/remote"
)

// shared gives p the ledger that the configuration names, if it has to do with
// one. The returned function closes it.
func (c *httpCmd) shared(_ context.Context, _ *parts) ([]remote.Check, func(), error) {
	switch {
	case c.dsn.IsZero():
		return nil, func() {}, nil
	case c.dsn.Reveal() == memoryLedger:
		return []remote.Check{{Name: "ledger", Run: func(context.Context) error { return nil }}}, func() {}, nil
	}
	return nil, nil, usageError{errors.New("EQUINIX_MCP_LEDGER_DSN: this version has no PostgreSQL ledger yet; the literal memory: works for one process")}
}
