//go:build crash

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// hurry shortens, in this build only, how long a create may take before another
// process may take it over.
var hurry = []string{"FABRIC_BROKER_CRASH_HURRY=1500", "EQUINIX_MCP_CREATE_TIMEOUT_MS=1500"}

// hurried is by when an intent may be taken over, counted from its SendBy.
const hurried = 1500 * time.Millisecond

// A kill is one way to die in the middle of a create.
type kill struct {
	name string
	// point is where the process kills itself. Without one it is killed from
	// outside, at most spread after the instant that after waits for.
	point  string
	after  func(*crashed)
	spread time.Duration
	// answer is what the person does, who agrees by default.
	answer func(object) object
	faults []fabricsim.Action // of the create
	hidden time.Duration      // how long searches do not show what is made
}

var kills = []kill{
	// Every boundary between two steps.
	{name: "approved", point: "approved"},
	{name: "claimed", point: "claimed"},
	{name: "rechecked", point: "rechecked"},
	{name: "sending", point: "sending"},
	{name: "recorded", point: "recorded"},
	{name: "answered", point: "answered"},
	{name: "settled", point: "settled"},
	{name: "told", point: "told"},
	// The same where the answer was lost.
	{name: "answered, lost", point: "answered", faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenReset}}},
	{name: "settled, lost", point: "settled", faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenHang}}},
	{name: "told, lost", point: "told", faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenReset}}, hidden: 6 * time.Second},
	// Nobody approved.
	{name: "asking", after: (*crashed).asked, spread: 20 * time.Millisecond, answer: silent},
	{name: "declined", after: (*crashed).asked, spread: 20 * time.Millisecond, answer: refuses},
	// Any moment.
	{name: "anywhere", after: (*crashed).asked, spread: 30 * time.Millisecond},
	{name: "anywhere, slowly", after: (*crashed).asked, spread: 150 * time.Millisecond, faults: []fabricsim.Action{{Kind: fabricsim.FaultDelay, Milliseconds: 50}}},
	// Between the first byte and the answer.
	{name: "not carried out yet", after: (*crashed).arrived, spread: 250 * time.Millisecond, faults: []fabricsim.Action{{Kind: fabricsim.FaultDelay, Milliseconds: 200}}},
	{name: "carried out", after: (*crashed).carriedOut, spread: 100 * time.Millisecond, faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenHang}}},
	{name: "carried out, found late", after: (*crashed).carriedOut, spread: 100 * time.Millisecond, faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenHang}}, hidden: 6 * time.Second},
	// While it is looked for.
	{name: "looked for", after: (*crashed).carriedOut, spread: 30 * time.Millisecond, faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenReset}}},
	{name: "given up on the answer", after: (*crashed).carriedOut, spread: 2 * time.Second, faults: []fabricsim.Action{{Kind: fabricsim.FaultCommitThenHang}}, hidden: 5 * time.Second},
}

func refuses(object) object { return object{"action": "decline"} }

// counts is what a run came to.
type counts struct{ kills, missed, again, posts, made, found, unknown, refused atomic.Int64 }

// I2, I3, I7, I8, I12: wherever the process is killed, nothing is created twice
// or without an approval, what was created is found by the next process, and
// what may have been is refused until then.
func TestCrashAnywhere(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("CRASH_KILLS"))
	if err != nil {
		n = 60
	}
	var sum counts
	t.Run("kills", func(t *testing.T) {
		for i := range n {
			k := kills[i%len(kills)]
			t.Run(fmt.Sprintf("%d %s", i, k.name), func(t *testing.T) {
				t.Parallel()
				c := &crashed{t: t, kill: k, i: i, era: eras[(i+i/len(kills))%len(eras)], sum: &sum}
				c.run()
			})
		}
	})
	t.Logf("%d kills, %d of them of the process that took over, %d points not reached in time: %d creates sent, %d assets made, %d found and reported; %d reported as unknown, the same request refused %d times",
		sum.kills.Load(), sum.again.Load(), sum.missed.Load(), sum.posts.Load(), sum.made.Load(), sum.found.Load(), sum.unknown.Load(), sum.refused.Load())
	if sum.made.Load() != sum.found.Load() {
		t.Errorf("%d assets were made and %d found", sum.made.Load(), sum.found.Load())
	}
}

// crashed is one create that dies.
type crashed struct {
	t *testing.T
	kill
	i        int
	era      string
	sum      *counts
	sim      *fabricsim.Sim
	busy     atomic.Int64 // requests that the simulator is at
	url      string
	state    string
	approved atomic.Bool
	p        *process
	proposed object
}

func (c *crashed) run() {
	t := c.t
	c.simulate()
	c.state = t.TempDir() + "/state"
	spec := connectionSpec("crash", 1017)
	c.die(spec)

	next := c.start()
	if c.i%3 == 2 { // the one that takes over dies too
		<-time.After(time.Duration(rand.IntN(6000)) * time.Millisecond)
		next.signal(syscall.SIGKILL)
		next.ended()
		c.sum.kills.Add(1)
		c.sum.again.Add(1)
		next = c.start()
	}
	c.refused(next, spec)
	posts, _ := seen(c.sim)
	made := made(c.sim)
	c.sum.posts.Add(int64(posts))
	c.sum.made.Add(int64(made))
	switch held := len(unresolved(t, c.state)) > 0; {
	case made > 0:
		c.found(next)
	case held: // it may have been recorded how it ended, before the intent was given up
		var s broker.State
		eventually(t, "it is reported as unknown", func() bool {
			s, _ = stateAt(next, c.proposed)
			return s == broker.Unknown || s.Settled() && len(unresolved(t, c.state)) == 0
		})
		if s == broker.Created {
			t.Error("nothing was made, and it is reported as created")
		}
		if s == broker.Unknown {
			c.sum.unknown.Add(1)
			c.refused(next, spec)
			if len(unresolved(t, c.state)) == 0 {
				t.Error("an unknown create holds its request no more")
			}
		}
	default:
		if s, _ := stateAt(next, c.proposed); s == broker.Created || s == broker.Unknown {
			t.Errorf("nothing was made or held, and it is %s", s)
		}
	}
	c.check()
}

// simulate starts a simulator of its own, as faults are told by the path alone.
func (c *crashed) simulate() {
	w := &world{t: c.t, sim: &fabricsim.Sim{SettleAfter: -1}}
	w.seed()
	c.sim = w.sim
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.busy.Add(1)
		defer c.busy.Add(-1)
		c.sim.ServeHTTP(rw, r)
	}))
	c.t.Cleanup(func() { c.sim.Close(); srv.Close() })
	c.url = srv.URL
	for _, a := range c.faults {
		onCreate(c.sim, 1, a)
	}
	if c.hidden > 0 {
		c.sim.Fail(fabricsim.Fault{Do: fabricsim.Action{Kind: fabricsim.FaultSlowIndex, Milliseconds: int(c.hidden.Milliseconds())}})
	}
}

func (c *crashed) start(more ...string) *process {
	return start(c.t, c.era, processEnv(c.url, c.state, slices.Concat(hurry, more)...), c.respond)
}

func (c *crashed) respond(prompt object) object {
	answer := agrees
	if c.answer != nil {
		answer = c.answer
	}
	a := answer(prompt)
	if a["action"] == "accept" {
		c.approved.Store(true)
	}
	return a
}

// die proposes and confirms, and has the process killed meanwhile.
func (c *crashed) die(spec map[string]any) {
	t := c.t
	c.p = c.start("FABRIC_BROKER_CRASH=kill:" + c.point)
	c.proposed = c.p.propose("connection_create", spec)
	answered := c.p.confirm(c.proposed)
	if c.point != "" {
		if r, ok := <-answered; ok {
			c.sum.missed.Add(1)
			if r["outcome"] != "not_sent" { // that is: it was too slow
				t.Errorf("it was not killed: %v", r)
			}
			c.p.signal(syscall.SIGKILL)
		}
	} else {
		c.after(c)
		at := rand.N(c.spread)
		<-time.After(at)
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("killed after %v", at)
			}
		})
		c.p.signal(syscall.SIGKILL)
	}
	c.p.ended()
	if s, ok := c.p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by itself: %v", c.p.cmd.ProcessState)
	}
	c.sum.kills.Add(1)
	eventually(t, "the simulator is done with what arrived", func() bool { return c.busy.Load() == 0 })
	c.check()
}

func (c *crashed) asked() { <-c.p.prompts }

func (c *crashed) arrived() {
	eventually(c.t, "the create arrives", func() bool { posts, _ := seen(c.sim); return posts > 0 })
}

func (c *crashed) carriedOut() {
	eventually(c.t, "the asset is made", func() bool { return made(c.sim) > 0 })
}

// check counts at the simulator.
func (c *crashed) check() {
	c.t.Helper()
	posts, _ := seen(c.sim)
	if n := made(c.sim); posts > 1 || n > posts {
		c.t.Errorf("%d creates sent, %d assets made", posts, n)
	}
	if posts > 0 && !c.approved.Load() {
		c.t.Error("a create was sent that nobody approved")
	}
	for _, e := range c.sim.History() {
		if e.Method == http.MethodPost && isCreate(e.Path) && !e.DryRun && e.Header.Get("X-Correlation-Id") != c.proposed["proposal_id"] {
			c.t.Errorf("a create of %s was sent, the proposal is %v", e.Header.Get("X-Correlation-Id"), c.proposed["proposal_id"])
		}
	}
}

// refused fails where the same request is let through while it is unresolved.
func (c *crashed) refused(p *process, spec map[string]any) {
	c.t.Helper()
	if len(unresolved(c.t, c.state)) == 0 {
		return
	}
	again := p.propose("connection_create", spec)
	if again.at("error.code") == string(broker.ErrSameRequestUnresolved) && again["confirm_token"] == nil {
		c.sum.refused.Add(1)
	} else if len(unresolved(c.t, c.state)) > 0 { // otherwise it was resolved meanwhile
		c.t.Errorf("the same request while it is unresolved: %v", again)
	}
}

// found waits until p has found what was made. Until then p may know nothing of
// it, or that nobody knows.
func (c *crashed) found(p *process) {
	t := c.t
	var result object
	unknown := false
	eventually(t, "the asset is found", func() bool {
		s, one := stateAt(p, c.proposed)
		switch s {
		case broker.Created:
			result = one.object("result")
			return true
		case broker.Unknown:
			unknown = true
		case "":
		default:
			t.Fatalf("it was made, and it is reported as %s", s)
		}
		return false
	})
	if unknown {
		c.sum.unknown.Add(1)
	}
	if want := createdUUID(t, c.sim); result["uuid"] != want {
		t.Errorf("reported %v, made %s", result, want)
	} else {
		c.sum.found.Add(1)
	}
	eventually(t, "the intent is given up", func() bool { return len(unresolved(t, c.state)) == 0 })
}

// stateAt is what p says of a proposal; nothing where it does not know it.
func stateAt(p *process, proposed object) (broker.State, object) {
	p.t.Helper()
	list, _ := p.call(mutate.StatusTool, object{"proposal_id": proposed["proposal_id"]})["proposals"].([]any)
	if len(list) == 0 {
		return "", nil
	}
	one, _ := list[0].(map[string]any)
	s, _ := one["state"].(string)
	return broker.State(s), one
}

// pair is two processes of a state directory that have proposed the same. One
// has been stopped in the middle of its create.
type pair struct {
	sim           *fabricsim.Sim
	state         string
	asleep, awake *process
	mine, theirs  object
	done          <-chan object // what the stopped one's confirm comes to
}

func stopAt(t *testing.T, point string) pair {
	t.Helper()
	sim, url := simulator(t)
	w := pair{sim: sim, state: t.TempDir() + "/state"}
	env, spec := processEnv(url, w.state, hurry...), connectionSpec("stopped", 1017)
	w.asleep = start(t, modern, append(slices.Clone(env), "FABRIC_BROKER_CRASH=stop:"+point), agrees)
	w.awake = start(t, modern, env, agrees)
	w.mine, w.theirs = w.asleep.propose("connection_create", spec), w.awake.propose("connection_create", spec)
	w.done = w.asleep.confirm(w.mine)
	stat := fmt.Sprintf("/proc/%d/stat", w.asleep.cmd.Process.Pid)
	eventually(t, "the process is stopped", func() bool {
		b, err := os.ReadFile(stat)
		return err == nil && strings.Contains(string(b), ") T ")
	})
	return w
}

// refusedUntilLate fails unless the same request is refused until the intent is
// so old that it may be taken over, and a while after.
func (w pair) refusedUntilLate(t *testing.T) {
	t.Helper()
	dir, err := audit.OpenDir(w.state)
	if err != nil {
		t.Fatal(err)
	}
	intents, err := dir.Intents().List(t.Context())
	_ = dir.Close()
	if err != nil || len(intents) != 1 {
		t.Fatalf("the intents are %v (%v), want one", intents, err)
	}
	late := intents[0].SendBy.Add(hurried + 500*time.Millisecond)
	eventually(t, "its time is over", func() bool {
		r := w.awake.propose("connection_create", connectionSpec("stopped", 1017))
		if r.at("error.code") != string(broker.ErrSameRequestUnresolved) || r["confirm_token"] != nil {
			t.Fatalf("the same request: %v", r)
		}
		return time.Now().After(late)
	})
}

// I6, I12: a process that is stopped in the middle of a create holds its request
// for as long as it lives. When it wakes after its time it sends nothing, or
// reports what it had sent.
func TestStopped(t *testing.T) {
	for point, want := range map[string]string{
		"claimed": "not_sent", "rechecked": "not_sent", "sending": "not_sent", "recorded": "not_sent",
		"answered": "created", "settled": "created", "told": "created",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := stopAt(t, point)
			if r := w.awake.wait(w.awake.confirm(w.theirs)); r.at("error.code") != string(broker.ErrSameRequestUnresolved) {
				t.Errorf("its equal: %v", r)
			}
			w.refusedUntilLate(t)
			before, _ := seen(w.sim)
			w.asleep.signal(syscall.SIGCONT)
			r := w.asleep.wait(w.done)
			if r["outcome"] != want || r["executed"] != (want == "created") {
				t.Errorf("the woken one: %v", r)
			}
			after, _ := seen(w.sim)
			if after != before || made(w.sim) != after || (after == 1) != (want == "created") {
				t.Errorf("%d creates sent before it woke, %d in all, %d assets made", before, after, made(w.sim))
			}
			if left := unresolved(t, w.state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
			if want == "created" {
				if r.at("result.uuid") != createdUUID(t, w.sim) {
					t.Errorf("the woken one: %v", r)
				}
				return
			}
			// Nothing was sent, so the request is free again.
			again := w.awake.propose("connection_create", connectionSpec("stopped", 1017))
			if r := w.awake.wait(w.awake.confirm(again)); r["outcome"] != "created" {
				t.Errorf("the same request afterwards: %v", r)
			}
			wantMade(t, w.sim, 1)
		})
	}
}

// A process that is stopped before it holds its request is overtaken. The last
// dry run after it woke meets what the other one made.
func TestStoppedAndOvertaken(t *testing.T) {
	t.Parallel()
	w := stopAt(t, "approved")
	if r := w.awake.wait(w.awake.confirm(w.theirs)); r["outcome"] != "created" {
		t.Errorf("the overtaking one: %v", r)
	}
	w.asleep.signal(syscall.SIGCONT)
	if r := w.asleep.wait(w.done); r["executed"] != false || r["error"] == nil {
		t.Errorf("the woken one: %v", r)
	}
	wantMade(t, w.sim, 1)
}

// I8: the neighbour of a process that is killed takes its create over without
// being started again, and goes on refusing its equal.
func TestStoppedThenKilled(t *testing.T) {
	for point, want := range map[string]broker.State{
		"claimed": broker.Unknown, "sending": broker.Unknown, "recorded": broker.Unknown,
		"answered": broker.Created, "settled": broker.Created, "told": broker.Created,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := stopAt(t, point)
			w.refusedUntilLate(t)
			takenOver := func() bool { return strings.Contains(w.awake.log.String(), "taken over from a process that ended") }
			// The neighbour says that it may exist, and leaves it where it is.
			if s, _ := stateAt(w.awake, w.mine); s != broker.Unknown || takenOver() {
				t.Errorf("while its process lives it is %s, taken over: %v", s, takenOver())
			}
			w.asleep.signal(syscall.SIGKILL)
			w.asleep.ended()
			var one object
			eventually(t, "the neighbour takes it over", func() bool {
				var s broker.State
				s, one = stateAt(w.awake, w.mine)
				return s == want && takenOver()
			})
			r := w.awake.wait(w.awake.confirm(w.theirs))
			if want == broker.Unknown {
				if r.at("error.code") != string(broker.ErrSameRequestUnresolved) {
					t.Errorf("its equal: %v", r)
				}
				wantMade(t, w.sim, 0)
				return
			}
			if one.object("result")["uuid"] != createdUUID(t, w.sim) || r["executed"] != false {
				t.Errorf("it was made, and reported as %v; its equal came to %v", one, r)
			}
			wantMade(t, w.sim, 1)
		})
	}
}
