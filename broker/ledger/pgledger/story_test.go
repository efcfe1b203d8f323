package pgledger

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
)

const account = "account-1"

var ada = broker.Principal{Kind: "jwt", Issuer: "https://issuer.example", Tenant: "t1", Subject: "ada"}

var made atomic.Int64

// proposal returns a proposal; those of one name have one hash.
func proposal(who broker.Principal, name string) broker.Proposal {
	body := []byte(`{"name":"` + name + `"}`)
	return broker.Proposal{
		ID:         broker.ID(fmt.Sprintf("01950000-0000-7000-8000-%012x", made.Add(1))),
		ChangeType: broker.ConnectionCreate, Name: name, Hash: broker.HashRequest(broker.ConnectionCreate, body),
		Twin: "twin of " + name, Caller: broker.Caller{Principal: who}, Account: account, MintedAt: time.Now(),
		Payload: &broker.Payload{Spec: []byte(`{"authentication_key":"spec-secret"}`), Body: body, Method: "POST", Path: "/fabric/v4/connections"},
	}
}

func add(t testing.TB, l *Ledger, p broker.Proposal) broker.ID {
	t.Helper()
	if _, err := l.Add(t.Context(), p, broker.AddOptions{Lifetime: 10 * time.Minute, MaxPending: 20}); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

func step(id broker.ID, from, to broker.State) broker.Step {
	s := broker.Step{ID: id, From: []broker.State{from}, To: to}
	switch to { //nolint:exhaustive // the others are plain
	case broker.Asking:
		s.Unexpired, s.Spend, s.MaxAsking, s.ConfirmCode = true, true, 5, "ABC234"
	case broker.Approved:
		s.Unexpired, s.Answer = true, &broker.Answer{State: broker.Approved, Channel: "form"}
	case broker.Sending:
		s.Unexpired, s.MaxCreates = true, 1_000_000
	}
	return s
}

// at adds a proposal and takes it to a state on the way to a create.
func at(t testing.TB, l *Ledger, p broker.Proposal, s broker.State) broker.ID {
	t.Helper()
	add(t, l, p)
	way := []broker.State{broker.Pending, broker.Asking, broker.Approved, broker.Sending, broker.Unknown}
	for i := 0; way[i] != s; i++ {
		mustMove(t, l, step(p.ID, way[i], way[i+1]))
	}
	return p.ID
}

func mustMove(t testing.TB, l *Ledger, s broker.Step) broker.Moved {
	t.Helper()
	m, err := l.Move(t.Context(), s)
	if err != nil {
		t.Fatalf("%s to %s: %v", s.ID, s.To, err)
	}
	return m
}

func load(t testing.TB, l *Ledger, id broker.ID) broker.Proposal {
	t.Helper()
	p, err := l.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func is(t testing.TB, l *Ledger, id broker.ID, want broker.State) {
	t.Helper()
	if got := load(t, l, id).State; got != want {
		t.Errorf("%s is %s, want %s", id, got, want)
	}
}

// intent returns what the broker claims for p.
func intent(p broker.Proposal) broker.Intent {
	now := time.Now()
	return broker.Intent{
		Account: p.Account, ProposalID: p.ID, ChangeType: p.ChangeType, Name: p.Name, Hash: p.Hash, Principal: p.Caller.Principal,
		MintedAt: p.MintedAt, ClaimedAt: now, SendBy: now.Add(105 * time.Second), Path: "/fabric/v4/connections", Request: p.Payload.Body,
		Since: p.MintedAt.Add(-time.Minute), Before: []string{"u1"},
	}
}

// race runs f for 8 callers at once and counts those without an error.
func race(f func(i int) error) (won int, errs []error) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	errs = make([]error, 8)
	for i := range errs {
		wg.Go(func() { <-start; errs[i] = f(i) })
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	return won, errs
}
