package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// op is one step of a random story: what happens, to which of the last
// proposals, and in which variant. All of it is drawn before the bubble starts.
type op struct {
	Kind       string
	Which, How int
}

var kinds = []string{
	"flow", "flow", "flow", "flow", "flow", "flow", "propose", "begin", "begin", "approve", "approve", "answer", "outcome", "withdraw", "status", "question",
	"sleep", "clock", "halt", "create", "dry run", "price", "recorder", "intents", "ledger", "calm", "calm",
}

// TestInvariants drives a broker through random stories with faults of
// everything around it. I1 to I8 and I10 to I12 are checked in the moment of each
// step and each create, and after every step of the story.
func TestInvariants(t *testing.T) {
	ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		return op{rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(0, 5).Draw(t, "which"), rapid.IntRange(0, 11).Draw(t, "how")}
	}), 1, 45)
	rapid.Check(t, func(rt *rapid.T) {
		drawn, recheck := ops.Draw(rt, "ops"), rapid.Bool().Draw(rt, "recheck")
		var found []string
		synctest.Test(t, func(*testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			s := &story{world: newWorld(func(o *broker.Options) { o.Recheck, o.MaxPending, o.MaxCreates = recheck, 3, 6 }), ctx: ctx}
			for i, o := range drawn {
				s.step(o)
				synctest.Wait()
				if s.check(); len(s.broken()) > 0 {
					s.find("after step %d, %+v", i, o)
					break
				}
			}
			s.end(cancel)
			found = s.broken()
		})
		if len(found) > 0 {
			rt.Fatalf("%q", found)
		}
	})
}

type story struct {
	*world

	ctx    context.Context
	made   []broker.Proposed
	asked  map[broker.ID]time.Time // when asking ends
	faults bool
	stuck  bool // a claim could not be given up
}

func (s *story) pick(o op) (broker.Proposed, bool) {
	if len(s.made) == 0 {
		return broker.Proposed{}, false
	}
	return s.made[max(len(s.made)-1-o.Which, 0)], true
}

func caller(n int) broker.Caller {
	if n%3 == 0 {
		return bob
	}
	return ada
}

func (s *story) step(o op) {
	if p, ok := s.pick(o); ok {
		switch o.Kind {
		case "begin":
			s.begins(p, o.How)
		case "approve":
			s.complete(p.Proposal.ID, yes, o.How)
		case "answer":
			states := []broker.State{broker.Declined, broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled, broker.UnsupportedByClient}
			st := states[o.How%len(states)]
			s.complete(p.Proposal.ID, broker.Answer{State: st, Status: string(st), Channel: "page"}, o.How)
		case "outcome":
			go func() { _, _ = s.Outcome(s.ctx, p.Proposal.ID) }()
		case "withdraw":
			s.withdraw(p, caller(o.How))
		case "status":
			s.strangers(p)
		case "question":
			s.question(p)
		}
	}
	switch o.Kind {
	case "propose":
		s.proposes(o)
	case "flow": // the whole way, so that most stories get that far
		n := len(s.made)
		if s.proposes(o); len(s.made) > n {
			s.begins(s.made[n], o.How)
			s.complete(s.made[n].Proposal.ID, yes, o.How)
		}
	case "sleep":
		time.Sleep([]time.Duration{time.Millisecond, time.Second, 20 * time.Second, 50 * time.Second, 4 * time.Minute, 6 * time.Minute, 11 * time.Minute}[o.How%7])
	case "clock":
		s.clock.move([]time.Duration{time.Hour, -time.Hour, 9 * time.Minute, -9 * time.Minute}[o.How%4])
	case "halt":
		s.halt.mu.Lock()
		s.halt.reason, s.halt.err = []string{"", "stop"}[o.How%2], []error{nil, nil, errFault}[o.How%3]
		s.halt.mu.Unlock()
	case "calm":
		s.calm()
	default:
		s.fault(o)
	}
}

func (s *story) fault(o op) {
	switch o.Kind {
	case "create":
		s.provider.set(func(p *provider) { p.create = createFaults[o.How%len(createFaults)] })
	case "dry run":
		s.faults = true
		fault := dryRunFaults[o.How%len(dryRunFaults)]
		if o.Which > 2 {
			fault = second(fault)
		}
		s.provider.set(func(p *provider) { p.validate = fault })
	case "price":
		fault := priceFaults[o.How%len(priceFaults)]
		if n := new(atomic.Int64); o.Which > 2 {
			s.quoter.set(func() pricing.Quote {
				if n.Add(1)%2 == 1 || fault == nil {
					return monthly("10")
				}
				return fault()
			})
			break
		}
		s.quoter.set(fault)
	case "recorder":
		s.faults = true
		kind := []broker.EventKind{broker.EventProposed, broker.EventAsked, broker.EventSending, broker.EventCreated, broker.EventUnknown, broker.EventRejected}[o.How%6]
		s.recorder.setFail(func(k broker.EventKind) error {
			if k == kind || o.How > 9 {
				return errFault
			}
			return nil
		})
	case "intents":
		s.faults = true
		fail, err := []string{"claim", "settle", "list"}[o.How%3], []error{errFault, broker.ErrSameRequestUnresolved}[o.How%2]
		s.stuck = s.stuck || fail == "settle"
		s.intents.setFail(func(op string) error {
			if op == fail {
				return err
			}
			return nil
		})
	case "ledger":
		s.faults = true
		steps := []string{"add", "load", "list", "move", "move to asking", "move to approved", "move to sending", "move to created", "move to unknown", "move to stopped"}
		if fail := failOp(steps[o.How%len(steps)]); o.Which%2 == 0 {
			s.ledger.set(fail, nil)
		} else {
			s.ledger.set(nil, fail)
		}
	}
}

// calm ends every fault.
func (s *story) calm() {
	s.faults = false
	s.ledger.set(nil, nil)
	s.intents.setFail(nil)
	s.recorder.setFail(nil)
	s.quoter.set(nil)
	s.provider.set(func(p *provider) { p.create, p.validate = nil, nil })
}

func outcome(o broker.Outcome, after time.Duration) func(context.Context, broker.Request) broker.Result {
	return func(ctx context.Context, _ broker.Request) broker.Result {
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return broker.Result{Outcome: broker.OutcomeUnknown}
		}
		r := broker.Result{Outcome: o}
		if o == broker.OutcomeCreated {
			r.UUID = uuid
		}
		return r
	}
}

var createFaults = []func(context.Context, broker.Request) broker.Result{
	nil, outcome(broker.OutcomeCreated, 30*time.Second), outcome(broker.OutcomeRejected, 0), outcome(broker.OutcomeNotSent, time.Second),
	outcome(broker.OutcomeUnknown, 0), outcome(broker.OutcomeCreated, time.Hour), outcome("", time.Second), outcome(broker.OutcomeAbsent, 0),
	func(context.Context, broker.Request) broker.Result { panic("create") },
	func(context.Context, broker.Request) broker.Result { time.Sleep(5 * time.Second); panic("late") },
}

func dryRun(c broker.Code) func(context.Context, broker.Request) error {
	return func(context.Context, broker.Request) error {
		r := broker.Refuse(c, "look", "no")
		if c == broker.ErrDryRunCreated {
			r.Result = &broker.Result{Outcome: broker.OutcomeCreated, UUID: uuid}
		}
		return r
	}
}

var dryRunFaults = []func(context.Context, broker.Request) error{
	sleeps(10 * time.Second), sleeps(time.Hour), sleeps(44 * time.Second), dryRun(broker.ErrDryRunRejected), dryRun(broker.ErrDryRunUnclear),
	dryRun(broker.ErrDryRunCreated), func(context.Context, broker.Request) error { return errFault },
	func(context.Context, broker.Request) error { panic("dry run") },
}

// second has every second dry run fail: the last one before a create.
func second(fault func(context.Context, broker.Request) error) func(context.Context, broker.Request) error {
	var n atomic.Int64
	return func(ctx context.Context, r broker.Request) error {
		if n.Add(1)%2 == 1 {
			return nil
		}
		return fault(ctx, r)
	}
}

var priceFaults = []func() pricing.Quote{
	func() pricing.Quote { panic("price") },
	func() pricing.Quote { return pricing.Quote{} },
	func() pricing.Quote { return pricing.Unpriced("gone") },
	func() pricing.Quote { return monthly("11") },
	nil,
}

func (s *story) proposes(o op) {
	c, spec := caller(o.How), []byte(fmt.Sprintf(`{"name":"thing-%d"}`, o.Which%2))
	h := broker.HashRequest(broker.ConnectionCreate, spec)
	reason, herr := s.halt.Halted(s.ctx)
	sure := !s.faults && reason == "" && herr == nil
	held := s.intents.holder(h) != ""
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	p, err := s.Propose(ctx, c, broker.ConnectionCreate, spec)
	switch {
	case err == nil && held: // I8: for any principal
		s.find("I8: proposed what %s holds", s.intents.holder(h))
	case err == nil:
		s.made = append(s.made, p)
		for _, e := range p.Evicted {
			if e.Caller.Principal != c.Principal { // I10
				s.find("I10: %s evicts a proposal of %s", c.Principal.Subject, e.Caller.Principal.Subject)
			}
		}
	case !isRefusal(err):
		s.find("propose fails with %v", err)
	case sure && !errors.Is(err, broker.ErrSameRequestUnresolved): // I11: no price ever fails a proposal
		s.find("I11: propose is refused without a reason: %v", err)
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*broker.Refusal](err)
	return ok
}
