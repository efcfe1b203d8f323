package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// Check is one thing that a server needs to be of use. Run must be cheap and
// must not log in: five refused log-ins lock an account for everybody.
type Check struct {
	Name string
	Run  func(context.Context) error
}

const (
	checkTimeout = 3 * time.Second
	checkKeeps   = time.Second // anybody may ask, and as often as they like
)

// health answers whether this process lives and whether it is of use.
type health struct {
	checks []Check
	ending context.Context //nolint:containedctx // the process ends once
	fail   func(ctx context.Context, check string, err error)

	mu    sync.Mutex
	at    time.Time
	ready bool
	says  map[string]string
}

// live answers /healthz.
func (h *health) live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// serve answers /readyz. It tells which check failed; why is for the log.
func (h *health) serve(w http.ResponseWriter, r *http.Request) {
	ready, says := h.look(r.Context())
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"ready": ready, "checks": says})
}

func (h *health) look(ctx context.Context) (bool, map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending.Err() != nil {
		return false, map[string]string{"process": "ending"}
	}
	if h.says != nil && time.Since(h.at) < checkKeeps {
		return h.ready, h.says
	}
	// Detached: what one caller learns is told to others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	ready, says := true, map[string]string{}
	for _, c := range h.checks {
		says[c.Name] = "ok"
		if err := c.Run(ctx); err != nil {
			ready, says[c.Name] = false, "failing"
			h.fail(ctx, c.Name, err)
		}
	}
	h.at, h.ready, h.says = time.Now(), ready, says
	return ready, says
}
