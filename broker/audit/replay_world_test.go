package audit_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/seal"
	"fabricbroker/pricing"
)

// world is a broker whose audit log is the real one. A restart ends its process
// and begins another in the same state directory.
type world struct {
	*broker.Broker

	dir    string
	state  *audit.Dir
	log    *audit.Log
	memory *ledger.Memory
	api    *api
	ids    int

	mu  sync.Mutex
	now time.Time
	// tokens are those of this process, made those of all.
	tokens []broker.Proposed
	made   []broker.ID
	// ended is what earlier processes had last.
	ended map[broker.ID]broker.Proposal
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t testing.TB, dir string) *world {
	t.Helper()
	w := &world{
		dir: filepath.Join(dir, "state"), api: &api{}, ended: map[broker.ID]broker.Proposal{},
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	w.begin(t)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) begin(t testing.TB) {
	t.Helper()
	var err error
	w.state, err = audit.OpenDir(w.dir)
	do(t, err)
	w.log, err = w.state.Log(audit.LogOptions{Now: w.clock, NoSync: true, MinFree: -1, MaxBytes: 50_000})
	do(t, err)
	w.memory = ledger.NewMemory(ledger.Options{Now: w.clock})
	began := w.clock()
	w.Broker = broker.New(broker.Options{
		Provider: w.api, Quoter: w.api, Ledger: w.memory, Tokens: seal.Ephemeral(), Intents: w.state.Intents(), Halt: w.state.Halt(),
		Recorder: w.log, Account: broker.Account{Identity: "account-1", Endpoint: "api.example"}, ConfirmTool: "confirm",
		Recheck: true, MaxPending: 3, MaxCreates: 1000, Now: w.clock, Uptime: func() time.Duration { return w.clock().Sub(began) }, NewCode: func() string { return "K7M2QX" },
		NewID: func() broker.ID { w.ids++; return broker.ID(fmt.Sprintf("01950000-0000-7000-8000-%012d", w.ids)) },
	})
}

// end ends the process, in order or in a crash, which leaves what was written.
func (w *world) end(t testing.TB, crash bool) {
	t.Helper()
	for id, p := range w.live(t) {
		w.ended[id] = p
	}
	if !crash {
		do(t, w.log.Close())
	}
	do(t, w.state.Close())
	w.tokens, w.made = nil, nil
}

// live is what the ledger has.
func (w *world) live(t testing.TB) map[broker.ID]broker.Proposal {
	t.Helper()
	out := map[broker.ID]broker.Proposal{}
	for _, id := range w.made {
		p, err := w.memory.Load(context.Background(), id)
		do(t, err)
		out[id] = p
	}
	return out
}

// api is a provider that does what the story says next.
type api struct {
	mu      sync.Mutex
	outcome int
	found   int
	refuse  bool
	price   int
}

func (a *api) set(f func(*api)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a)
}

func (a *api) Compile(t broker.ChangeType, spec []byte, _ time.Time) (broker.Request, error) {
	if len(spec) == 0 {
		return broker.Request{}, broker.Refuse(broker.ErrInvalidSpec, "pass a spec", "the spec is empty")
	}
	return broker.Request{
		ChangeType: t, Name: "thing", Method: "POST", Path: "/things", Body: spec, Hash: broker.HashRequest(t, spec), Twin: "the effect",
		Secrets: []string{"/key"}, Brief: broker.Brief{What: "a thing", Billable: true},
	}, nil
}

func (a *api) Validate(context.Context, broker.Request) (broker.Validation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse {
		return broker.Validation{}, broker.Refuse(broker.ErrDryRunRejected, "correct it", "no")
	}
	return broker.Validation{Brief: broker.Brief{What: "a thing", Billable: true}}, nil
}

const thing = "5d113752-996b-4b59-8e21-8927e7b98058"

func (a *api) Create(_ context.Context, r broker.Request, id broker.ID, _ time.Time) broker.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.outcome % 4 {
	case 0:
		return broker.Result{Outcome: broker.OutcomeCreated, UUID: thing, Name: r.Name, State: "PROVISIONING", Href: "https://api.example/things/" + thing, CorrelationID: string(id)}
	case 1:
		return broker.Result{
			Outcome: broker.OutcomeRejected, Code: broker.ErrUpstreamRejected, Detail: "no",
			Upstream: []broker.UpstreamError{{Code: "EQ-1", Message: "<b>no</b>", Property: "/name", Path: "name"}},
		}
	case 2:
		return broker.Result{Outcome: broker.OutcomeNotSent, Code: broker.ErrUpstreamUnavailable, Detail: "no connection"}
	}
	return broker.Result{Outcome: broker.OutcomeUnknown, Detail: "the answer was lost"}
}

func (a *api) Find(context.Context, broker.Search) ([]broker.Asset, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.found > 2 {
		return nil, errors.New("no answer")
	}
	return make([]broker.Asset, a.found), nil
}

func (a *api) Quote(context.Context, broker.Request) pricing.Quote {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.price == 0 {
		return pricing.Unpriced("nobody knows")
	}
	m, err := pricing.ParseMoney(fmt.Sprint(a.price, ".05"))
	if err != nil {
		panic(err)
	}
	return pricing.Quote{
		Priced: true, HasMonthly: true, Monthly: m, MonthlyMax: m.Mul(2), HasOneTime: a.price%2 == 0,
		Currency: "USD", TermMonths: 12, Source: pricing.SourcePriceSearch, Basis: "list", Note: "a range",
	}
}

// masked is p as the log may tell it.
func masked(p broker.Proposal) broker.Proposal {
	p.Payload = nil
	if p.Result != nil && p.ChangeType == broker.ServiceTokenCreate && p.Result.UUID != "" {
		r := *p.Result
		r.UUID = p.ShownUUID()
		r.Href = strings.ReplaceAll(r.Href, p.Result.UUID, r.UUID)
		p.Result = &r
	}
	return p
}
