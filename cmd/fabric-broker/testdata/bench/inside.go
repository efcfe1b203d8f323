package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// records measures what the audit log costs a confirm: the lines that say that
// somebody was asked, answered, that it is being sent and was created. The floor
// writes as many bytes into a file and syncs them as often.
func (b *bench) records() error {
	for _, sync := range []bool{true, false} {
		name := map[bool]string{true: "with sync", false: "without sync"}[sync]
		dir, err := audit.OpenDir(filepath.Join(b.dir, "records "+name))
		if err != nil {
			return err
		}
		log, err := dir.Log(audit.LogOptions{NoSync: !sync})
		if err != nil {
			return err
		}
		plain, err := os.Create(filepath.Join(b.dir, "floor of records "+name))
		if err != nil {
			return err
		}
		ours, floor := samples{}, samples{}
		for i := range 200 {
			began := time.Now()
			for _, e := range b.confirmed(i) {
				if err := log.Record(context.Background(), e); err != nil {
					return err
				}
			}
			ours.took(name, began)
			size, err := written(dir.Path())
			if err != nil {
				return err
			}
			line := make([]byte, size/int64(4*(i+1))) // of the mean length
			began = time.Now()
			for n := range 4 {
				if _, err := plain.Write(line); err != nil {
					return err
				}
				if sync && n > 0 {
					if err := plain.Sync(); err != nil {
						return err
					}
				}
			}
			floor.took(name, began)
		}
		if err := errors.Join(log.Close(), plain.Close(), dir.Close()); err != nil {
			return err
		}
		b.table.add(row{figure: "audit log of a confirm, " + name, unit: ms, ours: ours[name], floor: floor[name]})
	}
	return nil
}

// confirmed is the events of a confirm.
func (b *bench) confirmed(i int) []broker.Event {
	p := broker.Proposal{
		ID: broker.ID(uuid.NewString()), ChangeType: broker.ConnectionCreate, Name: "bench",
		Hash: broker.HashRequest(broker.ConnectionCreate, fmt.Append(nil, i)), Account: "bench", Caller: broker.Caller{Principal: broker.Local},
		Payload: &broker.Payload{Body: []byte(b.plan.Confirm.Calls[0].Body), Method: "POST", Path: "/fabric/v4/connections"},
	}
	var out []broker.Event
	for _, e := range []struct {
		kind  broker.EventKind
		state broker.State
	}{
		{broker.EventAsked, broker.Asking}, {broker.EventAnswered, broker.Approved},
		{broker.EventSending, broker.Sending}, {broker.EventCreated, broker.Created},
	} {
		p.State = e.state
		if e.state == broker.Created {
			p.Result = &broker.Result{Outcome: broker.OutcomeCreated, UUID: uuid.NewString(), Name: p.Name}
		}
		out = append(out, broker.Event{Kind: e.kind, Proposal: p, Caller: p.Caller})
	}
	return out
}

// written is the size of the audit log in dir.
func written(dir string) (size int64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	for _, f := range files {
		info, serr := os.Stat(f)
		if serr != nil {
			return 0, serr
		}
		size += info.Size()
	}
	return size, err
}
