package ledger

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"fabricbroker/broker"
)

// Options are a Memory's clock and limits. Zero values take their defaults.
type Options struct {
	// Now is the clock, time.Now.
	Now func() time.Time
	// MaxAll is how many proposals are kept, in all states: 10,000.
	MaxAll int
	// Keep is how long an ended proposal stays readable: 24 hours.
	Keep time.Duration
}

// Memory is a Ledger that ends with its process. It is safe for concurrent use.
// Use [NewMemory].
type Memory struct {
	maxAll int
	keep   time.Duration
	read   func() reading

	mu   sync.Mutex
	rows map[broker.ID]*row
	// open holds what is pending or asking, oldest first.
	open map[broker.Principal][]*row
	// live holds what is sending or unknown: one of a kind (I12).
	live map[binding]*row
	// sent are the instants of the creates that count against a ceiling.
	sent []time.Time
	// swept is when old rows were last looked for.
	swept time.Time
}

var _ broker.Ledger = (*Memory)(nil)

// row is a stored proposal.
type row struct {
	p broker.Proposal
	// deadline is the expiry by the clock that nobody sets.
	deadline time.Duration
}

// binding is what only one unresolved create may have.
type binding struct {
	hash    broker.Hash
	account string
}

func (r *row) binding() binding { return binding{r.p.Hash, r.p.Account} }

// NewMemory returns an empty ledger.
func NewMemory(o Options) *Memory {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Memory{
		maxAll: cmp.Or(o.MaxAll, 10_000),
		keep:   cmp.Or(o.Keep, 24*time.Hour),
		read:   clock(o.Now),
		rows:   map[broker.ID]*row{},
		open:   map[broker.Principal][]*row{},
		live:   map[binding]*row{},
	}
}

// Load implements broker.Ledger.
func (m *Memory) Load(_ context.Context, id broker.ID) (broker.Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[id]
	if r == nil {
		return broker.Proposal{}, refuseUnknown()
	}
	m.lapse(r, m.read())
	return clone(r.p), nil
}

// List implements broker.Ledger.
func (m *Memory) List(_ context.Context, q broker.Query) ([]broker.Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.read()
	var found []*row
	for _, r := range m.rows {
		m.lapse(r, now)
		if matches(r.p, q) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, newestFirst)
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	out := make([]broker.Proposal, len(found))
	for i, r := range found {
		out[i] = clone(r.p)
	}
	return out, nil
}

// Counts returns how many proposals are pending and how many creates have an
// unknown outcome, for metrics.
func (m *Memory) Counts(context.Context) (pending, unknown int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.read()
	for _, r := range m.rows {
		m.lapse(r, now)
		switch r.p.State {
		case broker.Pending:
			pending++
		case broker.Unknown:
			unknown++
		default:
		}
	}
	return pending, unknown, nil
}

func matches(p broker.Proposal, q broker.Query) bool {
	return (q.Principal == broker.Principal{} || p.Caller.Principal == q.Principal) &&
		(q.Hash == "" || p.Hash == q.Hash) &&
		(q.Twin == "" || p.Twin == q.Twin) &&
		(q.Account == "" || p.Account == q.Account) &&
		(len(q.States) == 0 || slices.Contains(q.States, p.State))
}

func newestFirst(a, b *row) int {
	return cmp.Or(b.p.MintedAt.Compare(a.p.MintedAt), cmp.Compare(b.p.ID, a.p.ID))
}

// enter puts r into state s, at the instant at, and keeps the indexes true. A
// state that nothing follows needs no payload any more; after an unknown one a
// look still compares with it.
func (m *Memory) enter(r *row, s broker.State, at time.Time) {
	who, was := r.p.Caller.Principal, r.p.State
	r.p.State, r.p.Since = s, at
	if s.Settled() {
		r.p.Payload = nil
	}
	if isOpen(was) && !isOpen(s) {
		rest := slices.DeleteFunc(m.open[who], func(o *row) bool { return o == r })
		if m.open[who] = rest; len(rest) == 0 {
			delete(m.open, who)
		}
	}
	if s.Unresolved() {
		m.live[r.binding()] = r
	} else if m.live[r.binding()] == r {
		delete(m.live, r.binding())
	}
}

func isOpen(s broker.State) bool { return s == broker.Pending || s == broker.Asking }
