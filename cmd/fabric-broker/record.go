package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/metrics"
	"fabricbroker/toolsets/remote"
)

// readable is how long an ended proposal can be asked about, also after its
// process has ended.
const readable = 24 * time.Hour

// restore puts the proposals of earlier processes into memory, so that their
// tokens and their status still tell what became of them. What no intent holds
// although its outcome never came is unknown; what an intent holds is taken
// over from there.
func restore(ctx context.Context, dir *audit.Dir, memory *ledger.Memory, now time.Time, log *slog.Logger) {
	proposals, err := audit.Replay(dir.Path(), now.Add(-readable))
	if err != nil {
		log.Warn("parts of the audit log of earlier processes cannot be read; fabric-broker audit verify says which", "err", err)
	}
	intents, err := dir.Intents().List(ctx)
	if err != nil {
		log.Error("unresolved creates cannot be listed", "err", err)
		return
	}
	for _, p := range proposals {
		held := slices.ContainsFunc(intents, func(i broker.Intent) bool { return i.ProposalID == p.ID })
		switch p.State {
		case broker.Pending, broker.Asking, broker.Approved:
			continue // they ended with their process, and nothing was sent
		case broker.Sending:
			if held {
				continue
			}
			p.State = broker.Unknown
		case broker.Unknown:
			if held {
				continue
			}
		case broker.Created, broker.Rejected, broker.NotSent, broker.Absent, broker.Declined, broker.Cancelled,
			broker.TimedOut, broker.Failed, broker.CallCancelled, broker.UnsupportedByClient, broker.Expired,
			broker.Withdrawn, broker.Superseded, broker.Stopped, broker.Evicted:
		}
		memory.Restore(p)
	}
}

// counter is a ledger that can say how many proposals are pending and how many
// creates have an unknown outcome, without listing them.
type counter interface {
	broker.Ledger
	Counts(ctx context.Context) (pending, unknown int, err error)
}

// told returns what the audit logs of all processes of a state directory say.
// What is broken there costs a hint; restore has reported it.
func told(dir *audit.Dir) func(time.Time) []broker.Proposal {
	records := dir.Follow()
	return func(since time.Time) []broker.Proposal {
		proposals, _ := records.Replay(since)
		return proposals
	}
}

// counted serves metrics on a loopback address. A port that is taken is a
// warning: counting must not stop the server.
func counted(ctx context.Context, addr string, l counter, log *slog.Logger) (*metrics.Metrics, error) {
	m := metrics.New()
	if addr == "" {
		return m, nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil || !remote.Loopback(addr) {
		return nil, fmt.Errorf("EQUINIX_MCP_METRICS_LISTEN must be a loopback address like 127.0.0.1:9464, not %q", addr)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		log.Warn("no metrics: the address cannot be listened on", "addr", addr, "err", err)
		return m, nil
	}
	m.Watch(l.Counts)
	mux := http.NewServeMux()
	mux.Handle("/metrics", m.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() {
		if err := srv.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Warn("metrics ended", "err", err)
		}
	}()
	log.Info("metrics", "addr", listener.Addr().String())
	return m, nil
}
