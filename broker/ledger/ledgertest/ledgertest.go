package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// Open returns an empty ledger that keeps ended proposals for 24 hours and reads
// the time through now alone. It may register clean-ups with t.
type Open func(t *testing.T, now func() time.Time) broker.Ledger

// Run runs the contract against the ledgers that open returns, one a rule.
func Run(t *testing.T, open Open) {
	for _, group := range []struct {
		name  string
		rules []rule
	}{
		{"Add", addRules},
		{"List", listRules},
		{"Move", moveRules},
		{"Expiry", expiryRules},
		{"Asking", askingRules},
		{"Sending", sendingRules},
		{"Race", raceRules},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, r := range group.rules {
				t.Run(r.says, func(t *testing.T) {
					c := &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
					r.test(&bench{T: t, clock: c, ledger: open(t, c.now)})
				})
			}
		})
	}
}

type rule struct {
	says string
	test func(b *bench)
}

// clock is a wall clock that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// bench is one rule's ledger with the words to write rules in. A method that
// fails ends the rule.
type bench struct {
	*testing.T
	clock  *clock
	ledger broker.Ledger
	ids    int
}

const (
	lifetime = 10 * time.Minute
	account  = "account-1"
)

var (
	ada = broker.Principal{Kind: "jwt", Issuer: "https://issuer.example", Tenant: "t1", Subject: "ada"}
	eve = broker.Principal{Kind: "jwt", Issuer: "https://issuer.example", Tenant: "t1", Subject: "eve"}
)

// proposal returns a proposal of who, full of everything; proposals of one name
// have one hash.
func (b *bench) proposal(who broker.Principal, name string) broker.Proposal {
	b.Helper()
	b.ids++
	body := []byte(`{"name":"` + name + `"}`)
	monthly, err := pricing.ParseMoney("75.5")
	if err != nil {
		b.Fatal(err)
	}
	return broker.Proposal{
		ID:         broker.ID(fmt.Sprintf("01950000-0000-7000-8000-%012x", b.ids)),
		ChangeType: broker.ConnectionCreate,
		Name:       name,
		Hash:       broker.HashRequest(broker.ConnectionCreate, body),
		Twin:       "twin of " + name,
		Caller:     broker.Caller{Principal: who, ClientName: "c", ClientVersion: "1", ProtocolVersion: "2026-07-28"},
		Account:    account,
		MintedAt:   b.clock.now(),
		Quote: pricing.Quote{
			Priced: true, HasMonthly: true, Monthly: monthly, Currency: "USD", TermMonths: 1,
			Source: pricing.SourceRateCard, Basis: "one month",
		},
		Payload: &broker.Payload{
			Spec: []byte(`{"type":"EVPL_VC"}`), Body: body, Method: "POST", Path: "/fabric/v4/connections",
			Brief:       broker.Brief{What: "a connection", From: "here", To: "there", Account: "1", Pays: "you", Billable: true},
			Differences: []broker.Difference{{Path: "/name", Sent: `"a"`, Returned: `"b"`}},
			Warnings:    []broker.Issue{{Path: "name", Message: "has a space"}},
			DryRunAt:    b.clock.now(),
			DryRunDate:  b.clock.now().Add(time.Second),
			Twins:       []broker.Asset{{UUID: "u", Name: "n", State: "s", Href: "h", CreatedAt: "c"}},
		},
	}
}

func (b *bench) add(p broker.Proposal) broker.Added {
	b.Helper()
	a, err := b.ledger.Add(b.Context(), p, broker.AddOptions{Lifetime: lifetime, MaxPending: 20})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// pending adds a proposal and returns its id.
func (b *bench) pending(who broker.Principal, name string) broker.ID {
	b.Helper()
	return b.add(b.proposal(who, name)).Proposal.ID
}

func (b *bench) load(id broker.ID) broker.Proposal {
	b.Helper()
	p, err := b.ledger.Load(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func (b *bench) move(s broker.Step) (broker.Moved, error) { return b.ledger.Move(b.Context(), s) }

func (b *bench) moved(s broker.Step) broker.Moved {
	b.Helper()
	m, err := b.move(s)
	if err != nil {
		b.Fatalf("%s to %s: %v", s.ID, s.To, err)
	}
	return m
}

// The steps of a life, as the broker makes them.

func begin(id broker.ID) broker.Step {
	return broker.Step{ID: id, From: []broker.State{broker.Pending}, To: broker.Asking, Unexpired: true, Spend: true, MaxAsking: 5}
}

func approve(id broker.ID) broker.Step {
	return broker.Step{
		ID: id, From: []broker.State{broker.Asking}, To: broker.Approved, Unexpired: true,
		Answer: &broker.Answer{State: broker.Approved, Channel: "form"},
	}
}

func send(id broker.ID) broker.Step {
	return broker.Step{ID: id, From: []broker.State{broker.Approved}, To: broker.Sending, Unexpired: true, MaxCreates: 20}
}

func step(id broker.ID, from, to broker.State) broker.Step {
	return broker.Step{ID: id, From: []broker.State{from}, To: to}
}

// at adds a proposal and takes it to a state on the way to a create.
func (b *bench) at(who broker.Principal, name string, s broker.State) broker.ID {
	b.Helper()
	id := b.pending(who, name)
	for _, next := range []broker.Step{begin(id), approve(id), send(id), step(id, broker.Sending, broker.Unknown)} {
		if b.load(id).State == s {
			return id
		}
		b.moved(next)
	}
	if got := b.load(id).State; got != s {
		b.Fatalf("no way to %s, got to %s", s, got)
	}
	return id
}

func (b *bench) is(id broker.ID, want broker.State) broker.Proposal {
	b.Helper()
	p := b.load(id)
	if p.State != want {
		b.Errorf("%s is %s, want %s", id, p.State, want)
	}
	return p
}

func (b *bench) gone(id broker.ID) {
	b.Helper()
	_, err := b.ledger.Load(b.Context(), id)
	b.refused(err, broker.ErrProposalUnknown)
}

func (b *bench) refused(err error, want broker.Code) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("got %v, want %s", err, want)
	}
}

func (b *bench) lost(err error, to broker.State) broker.Proposal {
	b.Helper()
	l, ok := errors.AsType[*broker.LostError](err)
	if !ok {
		b.Fatalf("got %v, want that it was lost to %s", err, to)
	}
	if l.Proposal.State != to {
		b.Errorf("lost to %s, want %s", l.Proposal.State, to)
	}
	return l.Proposal
}

func ids(ps []broker.Proposal) []broker.ID {
	var out []broker.ID
	for _, p := range ps {
		out = append(out, p.ID)
	}
	return out
}
