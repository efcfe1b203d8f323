package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fabricbroker/broker/ledger/pgledger"
)

// confirmSecrets is how many confirm secrets are configured.
func confirmSecrets() int {
	s, err := secret("EQUINIX_MCP_CONFIRM_SECRET")
	if err != nil || s.IsZero() {
		return 0
	}
	return strings.Count(s.Reveal(), ",") + 1
}

// ledger looks at the ledger that replicas share, where one is configured, and
// leaves it as it is.
func (c *doctorCmd) ledger(ctx context.Context) []finding {
	dsn, err := secret("EQUINIX_MCP_LEDGER_DSN")
	switch {
	case err != nil:
		return []finding{{"ledger", problem, err.Error(), "correct EQUINIX_MCP_LEDGER_DSN_FILE"}}
	case dsn.IsZero():
		return nil
	case dsn.Reveal() == memoryLedger:
		return []finding{{"ledger", good, "in memory, for one fabric-broker http; what is not decided ends with it", ""}}
	case confirmSecrets() == 0:
		return []finding{{"ledger", problem, "EQUINIX_MCP_CONFIRM_SECRET is not set: nothing in the ledger opens without it", "give this command the one of the replicas"}}
	}
	l, err := pgledger.Open(ctx, pgledger.Options{DSN: dsn, Keyring: c.keyring, Log: slog.New(slog.DiscardHandler), AsItIs: true})
	switch {
	case errors.Is(err, pgledger.ErrBehind):
		return []finding{{"ledger", warning, "it can be reached; " + err.Error(), "the first fabric-broker http that starts migrates it"}}
	case err != nil:
		return []finding{{"ledger", problem, err.Error(), "until then every proposal and confirm is refused, and no server with mutate starts"}}
	}
	defer l.Close()
	return []finding{
		ledgerFinding(ctx, l), haltFinding(ctx, "ledger's halt", l.Halt()),
		unresolvedFinding(ctx, "ledger's creates", l.Intents()), staleFinding(ctx, l),
	}
}

func ledgerFinding(ctx context.Context, l *pgledger.Ledger) finding {
	pending, unknown, err := l.Counts(ctx)
	if err == nil {
		err = l.Ping(ctx)
	}
	if err != nil {
		return finding{"ledger", problem, err.Error(), "until it can be written, every proposal and confirm is refused"}
	}
	return finding{"ledger", good, fmt.Sprintf("migrated, can be written; pending %d, unknown %d", pending, unknown), ""}
}

// staleFinding says where a rotation of the confirm secret stands.
func staleFinding(ctx context.Context, l *pgledger.Ledger) finding {
	const check = "old secrets"
	n, err := l.Stale(ctx)
	switch several := confirmSecrets() > 1; {
	case err != nil:
		return finding{check, problem, err.Error(), "run it again"}
	case n > 0 && several:
		return finding{
			check, warning, fmt.Sprintf("rows that still hang on one: %d", n),
			"keep it configured; each start of fabric-broker http seals them anew under the first secret",
		}
	case n > 0:
		return finding{
			check, problem, fmt.Sprintf("rows that hang on a secret that is not configured: %d", n),
			"set EQUINIX_MCP_CONFIRM_SECRET to this secret, a comma and the old one, and start fabric-broker http",
		}
	case several:
		return finding{check, good, "nothing hangs on any secret after the first: an old one among them may go", ""}
	}
	return finding{check, good, "nothing hangs on one", ""}
}
