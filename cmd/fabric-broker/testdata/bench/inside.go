package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/seal"
	"fabricbroker/fabric"
)

// pending measures in this process what a proposal holds while it is pending:
// real ones, made by the broker against the simulator and kept by ledger.Memory.
func (b *bench) pending() error {
	if err := b.sim.reset(); err != nil {
		return err
	}
	ctx := context.Background()
	const each, times = 100, 8
	api, err := fabric.New(fabric.Options{Endpoint: b.sim.api, ClientID: "bench", ClientSecret: broker.NewSecret("sim-secret")})
	if err != nil {
		return err
	}
	dir, err := audit.OpenDir(b.dir + "/inside")
	if err != nil {
		return err
	}
	memory := ledger.NewMemory(ledger.Options{})
	br := broker.New(broker.Options{
		Provider: api, Quoter: api, Account: api.Account(), Ledger: memory, Tokens: seal.Ephemeral(),
		Intents: dir.Intents(), Halt: dir.Halt(), ConfirmTool: "fabric_confirm_change", MaxPending: each * (times + 1),
		NewCode: func() string { return "ABCDEF" }, NewID: func() broker.ID { return broker.ID(uuid.NewString()) },
	})
	var held []float64
	before := heap()
	for i := range each * (times + 1) {
		spec, err := json.Marshal(connection(values(i, i%slots)))
		if err != nil {
			return err
		}
		if _, err := br.Propose(ctx, broker.Caller{Principal: broker.Local, ClientName: "bench"}, broker.ConnectionCreate, spec); err != nil {
			return fmt.Errorf("pending: %w", err)
		}
		if (i+1)%each == 0 {
			now := heap()
			if i >= each { // the first hundred also made what all of them share
				held = append(held, (now-before)/each)
			}
			before = now
		}
	}
	runtime.KeepAlive(br)
	b.table.add(row{figure: "a pending proposal holds", unit: bytesOf, ours: held, most: 8e3})
	return nil
}

// heap returns what is reachable.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what the first one finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// syncs measures what making the intent of a create durable costs a confirm:
// Claim and Settle. Nothing is subtracted from the other figures because of it.
func (b *bench) syncs() error {
	for _, place := range []struct{ name, path string }{{"memory", b.quick}, {"disk", b.dir}} {
		if place.path == "" {
			continue
		}
		dir, err := audit.OpenDir(place.path + "/syncs")
		if err != nil {
			return err
		}
		intents := dir.Intents()
		s := samples{}
		for i := range 60 {
			now := time.Now()
			in := broker.Intent{
				Account: "bench", ProposalID: broker.ID(uuid.NewString()), ChangeType: broker.ConnectionCreate, Name: "bench",
				Hash: broker.HashRequest(broker.ConnectionCreate, fmt.Append(nil, i)), Principal: broker.Local,
				MintedAt: now, ClaimedAt: now, SendBy: now.Add(time.Minute), Path: "/fabric/v4/connections",
				Request: []byte(b.plan.Confirm.Calls[0].Body),
			}
			began := time.Now()
			if err := intents.Claim(context.Background(), in); err != nil {
				return err
			}
			s.took("claim", began)
			began = time.Now()
			if err := intents.Settle(context.Background(), in.Account, in.Hash, in.ProposalID); err != nil {
				return err
			}
			s.took("settle", began)
		}
		b.table.add(row{figure: "intent: claim, state " + map[string]string{"memory": "in memory", "disk": "on disk"}[place.name], unit: ms, ours: s["claim"]})
		b.table.add(row{figure: "intent: settle, state " + map[string]string{"memory": "in memory", "disk": "on disk"}[place.name], unit: ms, ours: s["settle"]})
	}
	return nil
}
