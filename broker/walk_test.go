package broker_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// TestEveryInterleaving walks through every order in which a few actors can make
// their steps: the steps of the transition table, the claim, and the create. At
// every point of every order the process also crashes once: what is in memory
// is gone, what is durable stays, and a new process is asked for the same thing.
func TestEveryInterleaving(t *testing.T) {
	for rule, actors := range map[string]func(w *walk) map[string]func(context.Context){
		"two confirms of one proposal": func(w *walk) map[string]func(context.Context) {
			p := w.add(ada)
			return map[string]func(context.Context){"first": w.confirm(ada, p), "second": w.confirm(ada, p)}
		},
		"two principals want the same": func(w *walk) map[string]func(context.Context) { // I12
			return map[string]func(context.Context){"ada": w.confirm(ada, w.add(ada)), "bob": w.confirm(bob, w.add(bob))}
		},
		"one principal wants the same twice": func(w *walk) map[string]func(context.Context) { // superseded
			return map[string]func(context.Context){"first": w.confirm(ada, w.add(ada)), "second": w.confirm(ada, w.add(ada))}
		},
		"a decision, an expiry and a withdrawal come between": func(w *walk) map[string]func(context.Context) {
			p := w.add(ada)
			return map[string]func(context.Context){
				"caller":   w.confirm(ada, p),
				"page":     w.once(func(ctx context.Context) { _, _ = w.Complete(ctx, p.Proposal.ID, no) }),
				"expiry":   w.once(func(context.Context) { w.clock.move(10 * time.Minute) }),
				"withdraw": w.once(func(ctx context.Context) { _, _ = w.Withdraw(ctx, ada, p.Proposal.ID) }),
			}
		},
		"another page approves": func(w *walk) map[string]func(context.Context) {
			p := w.add(ada)
			return map[string]func(context.Context){
				"caller": w.confirm(ada, p),
				"page":   w.once(func(ctx context.Context) { _, _ = w.Complete(ctx, p.Proposal.ID, yes) }),
				"halt":   w.once(func(ctx context.Context) { _ = w.halt.Set(ctx, "stop") }),
			}
		},
	} {
		t.Run(rule, func(t *testing.T) {
			orders := walkAll(t, actors, nil)
			t.Logf("%d points in all orders", orders)
		})
	}
}

// walkAll goes to the point that prefix names, and on to every one behind it.
func walkAll(t *testing.T, actors func(*walk) map[string]func(context.Context), prefix []int) int {
	t.Helper()
	points, options := 1, 0
	synctest.Test(t, func(t *testing.T) {
		w := newWalk()
		options = w.run(t, actors(w), prefix)
		for _, s := range w.broken() {
			t.Errorf("after %v: %s", prefix, s)
		}
	})
	for i := range options {
		if t.Failed() {
			break
		}
		points += walkAll(t, actors, append(slices.Clip(prefix), i))
	}
	return points
}

// walk is a world whose actors stop before each of their steps.
type walk struct {
	*world

	gateMu  sync.Mutex
	waiting map[string]chan struct{}
	dead    chan struct{}
}

type actorKey struct{}

func newWalk() *walk {
	w := &walk{world: newWorld(func(o *broker.Options) { o.Recheck = false }), waiting: map[string]chan struct{}{}, dead: make(chan struct{})}
	w.ledger.gate, w.intents.gate = w.gate, w.gate
	w.provider.create = func(ctx context.Context, r broker.Request) broker.Result {
		w.gate(ctx) // it has left, and no answer has come
		return createOK(ctx, r)
	}
	return w
}

// gate stops an actor until it is its turn, or for ever when the process dies.
func (w *walk) gate(ctx context.Context) {
	name, ok := ctx.Value(actorKey{}).(string)
	if !ok {
		return
	}
	turn := make(chan struct{})
	w.gateMu.Lock()
	w.waiting[name] = turn
	w.gateMu.Unlock()
	select {
	case <-turn:
	case <-w.dead:
		runtime.Goexit()
	}
}

func (w *walk) ready() []string {
	w.gateMu.Lock()
	defer w.gateMu.Unlock()
	return slices.Sorted(maps.Keys(w.waiting))
}

func (w *walk) let(name string) {
	w.gateMu.Lock()
	close(w.waiting[name])
	delete(w.waiting, name)
	w.gateMu.Unlock()
	synctest.Wait()
}

func (w *walk) add(c broker.Caller) broker.Proposed {
	p, err := w.Propose(context.Background(), c, broker.ConnectionCreate, spec)
	if err != nil {
		w.find("propose: %v", err)
	}
	return p
}

// confirm begins and approves, as a caller does that never gives up.
func (w *walk) confirm(c broker.Caller, p broker.Proposed) func(context.Context) {
	return func(ctx context.Context) {
		if q, err := w.Begin(ctx, c, p.Token); err == nil {
			w.show(q)
		}
		done, err := w.Complete(ctx, p.Proposal.ID, yes)
		if done.Proposal.State == broker.Created && (err != nil || done.Proposal.Result.UUID != uuid) {
			w.find("created, and the caller is told %+v, %v", done.Proposal.Result, err)
		}
	}
}

// once is one step as a whole: nothing comes between.
func (w *walk) once(f func(context.Context)) func(context.Context) {
	return func(ctx context.Context) { w.gate(ctx); f(context.WithValue(ctx, actorKey{}, nil)) }
}

func (w *walk) run(t *testing.T, actors map[string]func(context.Context), prefix []int) (options int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	for name, act := range actors {
		go act(context.WithValue(ctx, actorKey{}, name))
	}
	synctest.Wait()
	for _, choice := range prefix {
		w.let(w.ready()[choice])
		w.check()
	}
	options = len(w.ready())
	if options == 0 {
		time.Sleep(time.Second) // who waits for the outcome looks
		synctest.Wait()
		w.finished()
	}
	close(w.dead) // the crash
	cancel()
	synctest.Wait()
	w.restart()
	w.halt.reason = ""
	w.again(t, bob)
	w.again(t, ada)
	return options
}

// finished looks at what all actors have come to: nothing is left half done.
func (w *walk) finished() {
	all, _ := w.ledger.Memory.List(context.Background(), broker.Query{})
	for _, p := range all {
		if p.State.Outcome() == broker.OutcomeNone && p.State != broker.Pending {
			w.find("everybody is done, and %s is %s", p.ID, p.State)
		}
	}
	if holder := w.intents.holder(broker.HashRequest(broker.ConnectionCreate, spec)); holder != "" {
		w.find("everybody is done, and %s still holds the request", holder)
	}
}

// again asks the new process for the same thing. The watcher of creates knows
// whether that may be sent (I2, I8, I12).
func (w *walk) again(t *testing.T, c broker.Caller) {
	t.Helper()
	holder := w.intents.holder(broker.HashRequest(broker.ConnectionCreate, spec))
	p, err := w.Propose(t.Context(), c, broker.ConnectionCreate, spec)
	if holder != "" {
		if !errors.Is(err, broker.ErrSameRequestUnresolved) { // I8: for any principal
			w.find("I8: %s holds the request, and a new process answers %v", holder, err)
		}
		return
	}
	if err != nil {
		w.find("the new process refuses what nothing holds: %v", err)
		return
	}
	w.show(w.begin(t, c, p))
	w.provider.set(func(f *provider) { f.create = nil })
	if done, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil || done.Proposal.State != broker.Created || !done.Recorded {
		w.find("the new process comes to %s, recorded %v, %v", done.Proposal.State, done.Recorded, err)
	}
	w.check()
}
