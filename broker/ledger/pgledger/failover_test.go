package pgledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger/pgtest"
	"fabricbroker/pricing"
)

// provider creates whatever passes by and counts it.
type provider struct {
	mu      sync.Mutex
	creates map[broker.Hash]int
	ids     map[broker.ID]bool
	created func() // called within each create
}

func (*provider) Compile(t broker.ChangeType, spec []byte, _ time.Time) (broker.Request, error) {
	return broker.Request{ChangeType: t, Name: string(spec), Method: "POST", Path: "/x", Body: spec, Hash: broker.HashRequest(t, spec)}, nil
}

func (*provider) Validate(context.Context, broker.Request) (broker.Validation, error) {
	return broker.Validation{}, nil
}

func (p *provider) Create(_ context.Context, r broker.Request, id broker.ID, _ time.Time) broker.Result {
	p.mu.Lock()
	p.creates[r.Hash]++
	p.ids[id] = true
	p.mu.Unlock()
	if p.created != nil {
		p.created()
	}
	return broker.Result{Outcome: broker.OutcomeCreated, UUID: "uuid of " + r.Name, Name: r.Name}
}

func (*provider) Find(context.Context, broker.Search) ([]broker.Asset, error) { return nil, nil }

func (*provider) Quote(context.Context, broker.Request) pricing.Quote { return pricing.Unpriced("") }

// replica is a server's broker over a ledger.
func replica(l *Ledger, p *provider) *broker.Broker {
	return broker.New(broker.Options{
		Provider: p, Quoter: p, Ledger: l, Tokens: keyring, Intents: l.Intents(), Halt: l.Halt(),
		Account: broker.Account{Identity: account}, ConfirmTool: "confirm", Recheck: true, MaxCreates: 10_000,
		MaxPending: 1000, CodeMode: broker.CodeNever, NewCode: func() string { return "" },
		NewID: func() broker.ID { return broker.ID(fmt.Sprintf("01950000-0000-7000-9000-%012x", made.Add(1))) },
		Log:   slog.New(slog.DiscardHandler),
	})
}

func confirm(ctx context.Context, b *broker.Broker, who broker.Caller, token broker.Secret) (broker.Confirmed, error) {
	q, err := b.Begin(ctx, who, token)
	if err != nil {
		return broker.Confirmed{}, err
	}
	return b.Complete(ctx, q.Proposal.ID, broker.Answer{State: broker.Approved, Status: broker.StatusAccepted, Channel: "form"})
}

// I2, I7: PostgreSQL goes and comes back in the middle of 200 confirms, each made
// by two replicas at once. Nothing is created twice, nothing without a record.
func TestI2StoppedAndStartedInTheMiddle(t *testing.T) {
	s := ownServer(t)
	schema := s.schema(t)
	p := &provider{creates: map[broker.Hash]int{}, ids: map[broker.ID]bool{}}
	ledgers := []*Ledger{open(t, s.DSN(schema)), open(t, s.DSN(schema))}
	brokers := []*broker.Broker{replica(ledgers[0], p), replica(ledgers[1], p)}
	type job struct {
		who   broker.Caller
		token broker.Secret
		id    broker.ID
	}
	jobs := make([]job, 200)
	for i := range jobs {
		who := broker.Caller{Principal: broker.Principal{Kind: "jwt", Subject: fmt.Sprint(i)}}
		out, err := brokers[i%2].Propose(t.Context(), who, broker.NetworkCreate, []byte(fmt.Sprintf(`{"name":"n%d"}`, i)))
		if err != nil {
			t.Fatal(err)
		}
		jobs[i] = job{who, out.Token, out.Proposal.ID}
	}
	middle := make(chan struct{})
	var n int
	p.created = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if n++; n == 60 {
			close(middle)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		<-middle
		s.Halt()
		time.Sleep(700 * time.Millisecond) // the outage itself: calls must meet a database that is away
		if err := s.Start(); err != nil {
			t.Error(err)
		}
	})
	todo := make(chan job)
	var slowest time.Duration
	var mu sync.Mutex
	refused := map[broker.Code]int{}
	for range 6 {
		wg.Go(func() {
			for j := range todo {
				race := make(chan error, 2)
				for _, b := range brokers {
					go func() {
						start := time.Now()
						_, err := confirm(t.Context(), b, j.who, j.token)
						for errors.Is(err, broker.ErrLedgerUnavailable) && time.Since(start) < 20*time.Second {
							mu.Lock()
							refused[broker.ErrLedgerUnavailable]++
							mu.Unlock()
							time.Sleep(50 * time.Millisecond) // as a client that tries again would
							begun := time.Now()
							_, err = confirm(t.Context(), b, j.who, j.token)
							mu.Lock()
							slowest = max(slowest, time.Since(begun))
							mu.Unlock()
						}
						race <- err
					}()
				}
				for range brokers {
					if r, ok := errors.AsType[*broker.Refusal](<-race); ok {
						mu.Lock()
						refused[r.Code]++
						mu.Unlock()
					}
				}
			}
		})
	}
	for _, j := range jobs {
		todo <- j
	}
	close(todo)
	wg.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, b := range brokers { // outcomes that could not be recorded at once
		if err := b.Drain(ctx); err != nil {
			t.Fatal(err)
		}
	}
	sent, states := 0, map[broker.State]int{}
	for _, j := range jobs {
		q := load(t, ledgers[0], j.id)
		states[q.State]++
		if p.creates[q.Hash] > 1 {
			t.Errorf("%s was created %d times", j.id, p.creates[q.Hash])
		}
		if p.ids[j.id] {
			sent++
		}
		if p.ids[j.id] != (q.State == broker.Created) {
			t.Errorf("created: %t, on record as %s", p.ids[j.id], q.State)
		}
	}
	t.Logf("%d creates; on record: %v; refusals: %v; slowest confirm %s", sent, states, refused, slowest)
	if sent < 180 { // the others were cut off before they were sent
		t.Errorf("only %d were sent", sent)
	}
}

// standby makes a copy of s that follows it, and stops following at once when it
// is cut off.
func (s *server) standby(t *testing.T) *server {
	t.Helper()
	r, err := pgtest.Empty()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if err := r.Run("pg_basebackup", "-h", "127.0.0.1", "-p", s.Port(), "-U", "ledger", "-D", r.Data(), "-R", "-X", "stream", "-c", "fast", "--no-sync"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return &server{r}
}

// I2: a standby that lags is promoted. What the old primary had sent is not sent
// again, what was proposed before is refused, and the outcome of a create that
// was under way is taken all the same.
func TestI2APromotedStandbyThatLags(t *testing.T) {
	s := ownServer(t)
	schema := s.schema(t)
	old := open(t, s.DSN(schema))
	ps := map[string]broker.Proposal{}
	for name, state := range map[string]broker.State{
		"pending": broker.Pending, "asking": broker.Asking, "approved": broker.Approved, "sending": broker.Approved, "created": broker.Approved,
		"spent": broker.Pending, "unknown": broker.Approved,
	} {
		p := proposal(broker.Principal{Kind: "jwt", Subject: name}, name)
		at(t, old, p, state)
		ps[name] = p
	}
	r := s.standby(t)
	on := open(t, r.DSN(schema)) // a standby that is up to date opens

	id := func(name string) broker.ID { return ps[name].ID }
	is(t, on, id("asking"), broker.Asking)
	if err := on.Ping(t.Context()); !errors.Is(err, broker.ErrLedgerUnavailable) {
		t.Errorf("ping: %v", err)
	}
	if _, err := on.Move(t.Context(), step(id("pending"), broker.Pending, broker.Asking)); !errors.Is(err, broker.ErrLedgerUnavailable) {
		t.Errorf("a standby: %v", err)
	}
	r.exec(t, schema, `ALTER SYSTEM SET primary_conninfo = ''`) // from here on it lags
	r.exec(t, schema, `SELECT pg_reload_conf()`)
	for start := time.Now(); value[int](t, r, schema, `SELECT count(*) FROM pg_stat_wal_receiver`) > 0; {
		if time.Since(start) > 10*time.Second {
			t.Fatal("it still follows")
		}
	}
	mustMove(t, old, step(id("spent"), broker.Pending, broker.Asking))
	for _, name := range []string{"sending", "created", "unknown"} {
		if err := old.Intents().Claim(t.Context(), intent(ps[name])); err != nil {
			t.Fatal(err)
		}
		mustMove(t, old, step(id(name), broker.Approved, broker.Sending))
	}
	mustMove(t, old, step(id("created"), broker.Sending, broker.Created))
	s.Halt()
	r.exec(t, schema, `SELECT pg_promote(true, 30)`)

	is(t, on, id("created"), broker.Approved) // it has lost that one
	ref := func(what string, err error, want broker.Code) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
	}
	// Whatever each row came to, none is begun, approved or sent again.
	for name := range ps {
		from := load(t, on, id(name)).State
		switch from { //nolint:exhaustive // what a lag leaves
		case broker.Pending:
			_, err := on.Move(t.Context(), step(id(name), broker.Pending, broker.Asking))
			ref("begin "+name, err, broker.ErrTokenExpired)
			if p := load(t, on, id(name)); p.State != broker.Expired || !p.Spent {
				t.Errorf("%s: %s, spent: %t", name, p.State, p.Spent)
			}
		case broker.Asking:
			_, err := on.Move(t.Context(), step(id(name), broker.Asking, broker.Approved))
			ref("approve "+name, err, broker.ErrTokenExpired)
		case broker.Approved:
			_, err := on.Move(t.Context(), step(id(name), broker.Approved, broker.Sending))
			ref("send "+name, err, broker.ErrTokenExpired)
		}
	}
	// The senders of what was under way know how it ended.
	for name, to := range map[string]broker.State{"sending": broker.Created, "unknown": broker.Unknown} {
		m := step(id(name), broker.Sending, to)
		m.Result = &broker.Result{Outcome: broker.Outcome(to), UUID: "u"}
		mustMove(t, on, m)
		is(t, on, id(name), to)
	}
	if list, err := on.Intents().List(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("the unknown one is not listed: %v, %v", list, err)
	}
	at(t, on, proposal(ada, "new"), broker.Unknown)
}
