package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// clock is a wall clock that tests can set. In a bubble it also goes on.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Round(0).Add(c.off)
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// provider does what no simulator can: it panics, hangs, and looks at the rest
// of the world in the very moment of a create.
type provider struct {
	mu       sync.Mutex
	secrets  []string
	brief    broker.Brief
	differs  []broker.Difference
	twins    []broker.Asset
	drift    string // appended to every body that is compiled
	twin     string
	validate func(context.Context, broker.Request) error
	create   func(context.Context, broker.Request) broker.Result
	find     func() []broker.Asset
	watch    func(broker.Request, broker.ID, time.Time)
	asked    int
	passed   map[string]bool // bodies whose dry run passed
	calls    []call
}

type call struct {
	id      broker.ID
	hash    broker.Hash
	body    string
	outcome broker.Outcome
}

func (p *provider) Compile(t broker.ChangeType, spec []byte, _ time.Time) (broker.Request, error) {
	if len(spec) == 0 {
		return broker.Request{}, broker.Refuse(broker.ErrInvalidSpec, "pass a spec", "the spec is empty")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	body := append(slices.Clone(spec), p.drift...)
	return broker.Request{
		ChangeType: t, Name: "thing", Method: "POST", Path: "/things", Body: body,
		Hash: broker.HashRequest(t, body), Twin: p.twin, Secrets: p.secrets, Brief: p.brief,
	}, nil
}

func (p *provider) Validate(ctx context.Context, r broker.Request) (broker.Validation, error) {
	p.mu.Lock()
	p.asked++
	hook := p.validate
	p.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, r); err != nil {
			return broker.Validation{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed[string(r.Body)] = true
	return broker.Validation{Brief: p.brief, Differences: p.differs, Twins: p.twins}, nil
}

func (p *provider) Create(ctx context.Context, r broker.Request, id broker.ID, sendBy time.Time) (res broker.Result) {
	if p.watch != nil {
		p.watch(r, id, sendBy)
	}
	p.mu.Lock()
	n := len(p.calls)
	p.calls = append(p.calls, call{id: id, hash: r.Hash, body: string(r.Body), outcome: broker.OutcomeUnknown})
	hook := p.create
	p.mu.Unlock()
	if hook == nil {
		hook = createOK
	}
	res = hook(ctx, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains([]broker.Outcome{broker.OutcomeCreated, broker.OutcomeRejected, broker.OutcomeNotSent}, res.Outcome) {
		p.calls[n].outcome = res.Outcome
	}
	return res
}

// Find says that it saw nothing, from which nothing can be concluded, unless a
// test has it find something.
func (p *provider) Find(context.Context, broker.Search) ([]broker.Asset, error) {
	p.mu.Lock()
	find := p.find
	p.mu.Unlock()
	if find == nil {
		return nil, errFault
	}
	return find(), nil
}

const uuid = "5d113752-996b-4b59-8e21-8927e7b98058"

func createOK(context.Context, broker.Request) broker.Result {
	return broker.Result{Outcome: broker.OutcomeCreated, UUID: uuid, State: "PROVISIONING"}
}

func (p *provider) log() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func (p *provider) set(f func(*provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}

// quoter answers with f; nil is 10 USD a month.
type quoter struct {
	mu sync.Mutex
	f  func() pricing.Quote
}

func (q *quoter) Quote(context.Context, broker.Request) pricing.Quote {
	q.mu.Lock()
	f := q.f
	q.mu.Unlock()
	if f == nil {
		return monthly("10")
	}
	return f()
}

func (q *quoter) set(f func() pricing.Quote) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.f = f
}

func monthly(amount string) pricing.Quote {
	m, err := pricing.ParseMoney(amount)
	if err != nil {
		panic(err)
	}
	return pricing.Quote{Priced: true, HasMonthly: true, Monthly: m, Currency: "USD", TermMonths: 1, Source: pricing.SourceRateCard}
}

var (
	_ broker.Provider = (*provider)(nil)
	_ broker.Intents  = (*intents)(nil)
	_ broker.Ledger   = (*faulty)(nil)
)

var errFault = errors.New("a fault of the test")

// intents is the durable list: it outlives a broker.
type intents struct {
	mu   sync.Mutex
	held map[string]broker.Intent
	fail func(op string) error
	gate func(context.Context) // called without a lock
	heir bool
}

func (in *intents) Claim(ctx context.Context, i broker.Intent) error {
	if in.gate != nil {
		in.gate(ctx)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.fault("claim"); err != nil {
		return err
	}
	key := i.Account + " " + string(i.Hash)
	if _, taken := in.held[key]; taken {
		return broker.ErrSameRequestUnresolved
	}
	in.held[key] = i
	return nil
}

func (in *intents) Settle(_ context.Context, account string, h broker.Hash, id broker.ID) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.fault("settle"); err != nil {
		return err
	}
	if key := account + " " + string(h); in.held[key].ProposalID == id {
		delete(in.held, key)
	}
	return nil
}

func (in *intents) List(context.Context) ([]broker.Intent, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.fault("list"); err != nil {
		return nil, err
	}
	var out []broker.Intent
	for _, i := range in.held {
		out = append(out, i)
	}
	return out, nil
}

// Adopt is for the heir of a process that is gone.
func (in *intents) Adopt(context.Context, broker.Intent) (bool, error) { return in.heir, nil }

// judge is a person's verdict on id.
func (in *intents) judge(id broker.ID, v broker.Verdict) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for key, i := range in.held {
		if i.ProposalID == id {
			i.Verdict = &v
			in.held[key] = i
		}
	}
}

func (in *intents) fault(op string) error {
	if in.fail == nil {
		return nil
	}
	return in.fail(op)
}

func (in *intents) setFail(f func(op string) error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fail = f
}

// holder is the proposal that holds the request.
func (in *intents) holder(h broker.Hash) broker.ID {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.held[account.Identity+" "+string(h)].ProposalID
}

type halt struct {
	mu     sync.Mutex
	reason string
	err    error
}

func (h *halt) Halted(context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.err
}

func (h *halt) Set(_ context.Context, reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason = reason
	return nil
}

// recorder keeps the events that it did not refuse.
type recorder struct {
	mu     sync.Mutex
	events []broker.Event
	fail   func(broker.EventKind) error
}

func (r *recorder) Record(_ context.Context, e broker.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		if err := r.fail(e.Kind); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	return nil
}

func (r *recorder) setFail(f func(broker.EventKind) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = f
}

func (r *recorder) count(k broker.EventKind, id broker.ID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == k && e.Proposal.ID == id {
			n++
		}
	}
	return n
}

func uuidOf(n int) broker.ID { return broker.ID(fmt.Sprintf("01950000-0000-7000-8000-%012x", n)) }
