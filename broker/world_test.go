package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/seal"
)

const confirmTool = "fabric_confirm_change"

var (
	account = broker.Account{Identity: "account-1", Endpoint: "api.example"}
	ada     = broker.Caller{Principal: broker.Principal{Kind: "jwt", Issuer: "i", Tenant: "t", Subject: "ada"}}
	bob     = broker.Caller{Principal: broker.Principal{Kind: "jwt", Issuer: "i", Tenant: "t", Subject: "bob"}}
	spec    = []byte(`{"name":"thing"}`)
	yes     = broker.Answer{State: broker.Approved, Channel: "form", Status: broker.StatusAccepted}
	no      = broker.Answer{State: broker.Declined, Channel: "form", Status: "declined"}
)

// world is a broker with everything around it in the test's hands.
type world struct {
	*broker.Broker

	clock    *clock
	provider *provider
	quoter   *quoter
	intents  *intents
	halt     *halt
	recorder *recorder
	ledger   *faulty
	options  broker.Options
	ids      *atomic.Int64

	mu       sync.Mutex
	findings []string
	shown    map[broker.ID]broker.Hash // hashes that a person was shown
}

func newWorld(set ...func(*broker.Options)) *world {
	w := &world{
		clock:    &clock{},
		provider: &provider{passed: map[string]bool{}, brief: broker.Brief{What: "a thing", Billable: true}},
		quoter:   &quoter{}, intents: &intents{held: map[string]broker.Intent{}},
		halt: &halt{}, recorder: &recorder{}, ids: &atomic.Int64{}, shown: map[broker.ID]broker.Hash{},
	}
	w.options = broker.Options{
		Provider: w.provider, Quoter: w.quoter, Tokens: seal.Ephemeral(), Intents: w.intents, Halt: w.halt,
		Recorder: w.recorder, Account: account, ConfirmTool: confirmTool, Recheck: true,
		NewCode: func() string { return "K7M2QX" }, Now: w.clock.now,
		NewID: func() broker.ID { return uuidOf(int(w.ids.Add(1))) },
	}
	for _, f := range set {
		f(&w.options)
	}
	w.provider.watch = w.watchCreate
	w.restart()
	return w
}

// restart is a new process: what was in memory is gone, what was durable stays.
func (w *world) restart() {
	w.ledger = &faulty{Memory: ledger.NewMemory(ledger.Options{Now: w.clock.now}), asked: w.watchStep, moved: w.watchMove}
	w.options.Ledger = w.ledger
	w.Broker = broker.New(w.options)
}

// bubble runs f in a synctest bubble and reports what the watchers found.
func bubble(t *testing.T, f func(t *testing.T, w *world), set ...func(*broker.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(set...)
		f(t, w)
		synctest.Wait()
		for _, s := range w.broken() {
			t.Error(s)
		}
	})
}

// find notes a broken invariant.
func (w *world) find(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, fmt.Sprintf(format, args...))
}

func (w *world) broken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.findings
}

// propose stores a proposal of ada's.
func (w *world) propose(t testing.TB) broker.Proposed {
	t.Helper()
	return w.proposeAs(t, ada, spec)
}

func (w *world) proposeAs(t testing.TB, c broker.Caller, spec []byte) broker.Proposed {
	t.Helper()
	p, err := w.Propose(t.Context(), c, broker.ConnectionCreate, spec)
	if err != nil {
		t.Fatalf("propose: %v", err)
	}
	return p
}

// ask proposes and begins.
func (w *world) ask(t testing.TB) (broker.Proposed, broker.Question) {
	t.Helper()
	p := w.propose(t)
	return p, w.begin(t, ada, p)
}

func (w *world) begin(t testing.TB, c broker.Caller, p broker.Proposed) broker.Question {
	t.Helper()
	q, err := w.Begin(t.Context(), c, p.Token)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	w.show(q)
	return q
}

func (w *world) show(q broker.Question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown[q.Proposal.ID] = q.Proposal.Hash
}

// state is what the ledger has, whatever it pretends.
func (w *world) state(t testing.TB, id broker.ID) broker.Proposal {
	t.Helper()
	p, err := w.ledger.Memory.Load(context.Background(), id)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return p
}

func (w *world) creates(t testing.TB, want int) {
	t.Helper()
	if got := len(w.provider.log()); got != want {
		t.Errorf("%d creates were sent, want %d", got, want)
	}
}

// in checks the state, and whether the token is spent.
func (w *world) in(t testing.TB, id broker.ID, want broker.State, spent bool) broker.Proposal {
	t.Helper()
	p := w.state(t, id)
	if p.State != want || p.Spent != spent {
		t.Errorf("state %s, spent %v; want %s, %v", p.State, p.Spent, want, spent)
	}
	return p
}

// refused checks that err is a refusal with that code which its reader can act
// on, and that errors.Is agrees.
func refused(t testing.TB, err error, want broker.Code) *broker.Refusal {
	t.Helper()
	r, ok := errors.AsType[*broker.Refusal](err)
	switch {
	case !ok:
		t.Fatalf("got error %v, want a refusal with %s", err, want)
	case r.Code != want || !errors.Is(err, want):
		t.Fatalf("refused with %s (%s), want %s", r.Code, r.Message, want)
	case r.Message == "" || r.NextStep == "":
		t.Errorf("%s without a message or a next step", want)
	}
	return r
}

func checks(exists, evicted, used, expired, matches any) broker.Checks {
	b := func(v any) *bool {
		if v, ok := v.(bool); ok {
			return &v
		}
		return nil
	}
	return broker.Checks{
		ProposalExists: b(exists), NotEvicted: b(evicted), NotPreviouslyUsed: b(used),
		NotExpired: b(expired), RequestMatchesBinding: b(matches),
	}
}

func sleeps(d time.Duration) func(context.Context, broker.Request) error {
	return func(ctx context.Context, _ broker.Request) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return broker.Refuse(broker.ErrUpstreamUnavailable, "try again", "no answer")
		}
	}
}
