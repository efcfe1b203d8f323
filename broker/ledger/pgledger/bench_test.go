package pgledger

import (
	"fmt"
	"testing"

	"fabricbroker/broker"
)

// settled puts n ended proposals of many principals into the ledger.
func settled(b *testing.B, s *server, schema string, l *Ledger, n int) {
	b.Helper()
	p := proposal(broker.Principal{Kind: "jwt", Subject: "seed"}, "seed")
	id := at(b, l, p, broker.Sending)
	done := step(id, broker.Sending, broker.Created)
	done.Result = &broker.Result{Outcome: broker.OutcomeCreated, UUID: "u", Name: "seed"}
	mustMove(b, l, done)
	if err := s.Settle(schema, string(id), n); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLedger is the whole life of a create, and each of its calls, among
// settled proposals.
func BenchmarkLedger(b *testing.B) {
	s := sharedServer(b)
	for _, n := range []int{1_000, 100_000} {
		schema := s.schema(b)
		l := open(b, s.DSN(schema))
		settled(b, s, schema, l, n)
		b.Run(fmt.Sprintf("life/settled=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				p := proposal(ada, fmt.Sprint("life", n, i))
				at(b, l, p, broker.Approved)
				if err := l.Intents().Claim(b.Context(), intent(p)); err != nil {
					b.Fatal(err)
				}
				mustMove(b, l, step(p.ID, broker.Approved, broker.Sending))
				mustMove(b, l, step(p.ID, broker.Sending, broker.Created))
				if err := l.Intents().Settle(b.Context(), p.Account, p.Hash, p.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("add/settled=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				add(b, l, proposal(ada, fmt.Sprint(i)))
			}
		})
		one := at(b, l, proposal(broker.Principal{Kind: "jwt", Subject: "reader"}, "read"), broker.Unknown)
		p := load(b, l, one)
		b.Run(fmt.Sprintf("load/settled=%d", n), func(b *testing.B) {
			for b.Loop() {
				load(b, l, one)
			}
		})
		for name, q := range map[string]broker.Query{
			"unresolved of a hash": {Hash: p.Hash, Account: account, States: []broker.State{broker.Sending, broker.Unknown}, Limit: 1},
			"recent of a caller":   {Principal: p.Caller.Principal, Limit: 20},
			"of a twin":            {Twin: p.Twin, Account: account, Limit: 20},
			"all unknown":          {Account: account, States: []broker.State{broker.Unknown}},
		} {
			b.Run(fmt.Sprintf("list %s/settled=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if ps, err := l.List(b.Context(), q); err != nil || len(ps) != 1 {
						b.Fatal(len(ps), err)
					}
				}
			})
		}
	}
}

// BenchmarkStale is what a start costs when no secret was rotated.
func BenchmarkStale(b *testing.B) {
	s := sharedServer(b)
	schema := s.schema(b)
	l := open(b, s.DSN(schema))
	settled(b, s, schema, l, 100_000)
	b.Run("settled=100000", func(b *testing.B) {
		for b.Loop() {
			if n, err := l.Reseal(b.Context()); n != 0 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}
