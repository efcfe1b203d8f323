package pgledger

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"fabricbroker/broker"
)

// Halt is the operator's stop switch for all replicas: while it is set no dry run
// and no create is sent, and the step to sending is refused by the statement that
// would have made it.
type Halt struct {
	l *Ledger

	mu sync.Mutex
	// unwritten is a reason that could not be written yet. It halts this replica
	// until it is.
	unwritten string
}

var _ broker.Halt = (*Halt)(nil)

const maxReason = 4 << 10

// Halted implements broker.Halt. An error means that nobody knows, which is no
// permission.
func (h *Halt) Halted(ctx context.Context) (reason string, err error) {
	h.mu.Lock()
	unwritten := h.unwritten
	h.mu.Unlock()
	if unwritten != "" {
		_ = h.Set(ctx, unwritten)
		return unwritten, nil
	}
	err = h.l.look(ctx, "read the stop switch", func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `SELECT reason FROM halt`).Scan(&reason)
	})
	return reason, err
}

// Set implements broker.Halt. Where the database cannot be reached, this replica
// is halted all the same, and tries to write it at its next look.
func (h *Halt) Set(ctx context.Context, why string) error {
	why = cmp.Or(strings.ToValidUTF8(strings.Join(strings.Fields(strings.ReplaceAll(why, "\x00", " ")), " "), "?"), "no reason was given")
	why = strings.ToValidUTF8(why[:min(len(why), maxReason)], "")
	err := h.write(ctx, "set the stop switch", why)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unwritten = ""; err != nil {
		h.unwritten = why
	}
	return err
}

// Clear takes the switch back, durably. It is fine when nothing was halted.
func (h *Halt) Clear(ctx context.Context) error {
	err := h.write(ctx, "clear the stop switch", "")
	if err == nil {
		h.mu.Lock()
		h.unwritten = ""
		h.mu.Unlock()
	}
	return err
}

func (h *Halt) write(ctx context.Context, op, reason string) error {
	return h.l.change(ctx, op, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `UPDATE halt SET reason = $1, set_at = clock_timestamp()`, reason)
		return err
	}, nil)
}
