//go:build crash

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// hurry shortens, in this build only, how long a create may take before another
// process may take it over.
var hurry = []string{"FABRIC_BROKER_CRASH_HURRY=1500", "EQUINIX_MCP_CREATE_TIMEOUT_MS=1500"}

// points are the boundaries between the steps of a create, in their order, and
// two more: killed while the person is asked, and at any moment.
var points = []string{"asking", "approved", "claimed", "rechecked", "sending", "recorded", "answered", "settled", "told", "anywhere", "anywhere"}

// named are the creates of one name at the simulator, and the assets.
func named(sim *fabricsim.Sim, name string) (posts int, uuids []string) {
	for _, e := range sim.History() {
		if e.Method == "POST" && !e.DryRun && isCreate(e.Path) && strings.Contains(string(e.Body), `"`+name+`"`) {
			posts++
		}
	}
	for _, a := range sim.Assets("connection") {
		if a.Created && a.Name == name {
			uuids = append(uuids, a.UUID)
		}
	}
	return posts, uuids
}

// I2, I3, I7, I8, I12: wherever the process is killed, nothing is created twice
// or without an approval, and what was created is found by the next process.
func TestCrashAnywhere(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv("CRASH_KILLS"))
	if err != nil {
		kills = 60
	}
	sim, url := simulator(t)
	t.Run("kills", func(t *testing.T) {
		for i := range kills {
			point := points[i%len(points)]
			t.Run(fmt.Sprintf("%d %s", i, point), func(t *testing.T) {
				t.Parallel()
				crash(t, sim, url, i, point)
			})
		}
	})
	posts, _ := seen(sim)
	t.Logf("%d kills, %d creates sent, %d assets made", kills, posts, made(sim))
}

func crash(t *testing.T, sim *fabricsim.Sim, url string, i int, point string) {
	state, name := t.TempDir()+"/state", fmt.Sprintf("crash-%d", i)
	era := eras[i%len(eras)]
	env := processEnv(url, state, hurry...)
	answer := agrees
	if point == "asking" {
		answer = silent
	}
	p := start(t, era, append(env, "FABRIC_BROKER_CRASH=kill:"+point), answer)
	spec := connectionSpec(name, 100+i)
	proposed := p.propose("connection_create", spec)
	answered := p.confirm(proposed)
	switch point {
	case "asking":
		<-p.prompts
		p.signal(syscall.SIGKILL)
	case "anywhere":
		<-p.prompts
		<-time.After(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		_ = p.cmd.Process.Kill() // it may have ended by itself
	}
	select {
	case <-p.exited:
	case <-answered: // it ended before it reached the point, or because it is gone
		_ = p.cmd.Process.Kill()
	}
	p.ended()

	posts, uuids := named(sim, name)
	if posts > 1 || len(uuids) > 1 || point == "asking" && posts > 0 {
		t.Fatalf("%d creates sent, assets %v", posts, uuids)
	}
	held := len(unresolved(t, state)) > 0
	next := start(t, era, processEnv(url, state, hurry...), agrees)
	if held {
		again := next.propose("connection_create", spec)
		if code := again.object("error")["code"]; code != string(broker.ErrSameRequestUnresolved) && again["confirm_token"] == nil {
			t.Logf("the same request while unresolved: %v", again["error"])
		} else if again["confirm_token"] != nil && len(unresolved(t, state)) > 0 {
			t.Errorf("the same request was let through while it was unresolved")
		}
	}
	var last object
	status := func() string {
		last = next.call(mutate.StatusTool, object{"proposal_id": proposed["proposal_id"]})
		ps, _ := last["proposals"].([]any)
		if len(ps) == 0 {
			return ""
		}
		last, _ = ps[0].(map[string]any)
		s, _ := last["state"].(string)
		return s
	}
	switch {
	case len(uuids) == 1:
		eventually(t, "the asset is found", func() bool { return status() == string(broker.Created) })
		eventually(t, "the intent is given up", func() bool { return len(unresolved(t, state)) == 0 })
		if got := last.object("result")["uuid"]; got != uuids[0] {
			t.Errorf("reported %v, made %s", got, uuids[0])
		}
	case held: // it may have been recorded how it ended, before the intent was given up
		eventually(t, "it is reported as unknown", func() bool {
			s := broker.State(status())
			return s == broker.Unknown || s != "" && s.Settled() && s != broker.Created && len(unresolved(t, state)) == 0
		})
	default:
		if s := status(); s == string(broker.Created) || s == string(broker.Unknown) {
			t.Errorf("nothing was sent, and it is %s", s)
		}
	}
	if posts, uuids = named(sim, name); posts > 1 || len(uuids) > 1 {
		t.Errorf("after the restart: %d creates sent, assets %v", posts, uuids)
	}
}

// I6, I12: a process that is stopped between the record and the first byte sends
// nothing when it wakes after its time, and its equal is refused meanwhile.
func TestStoppedBeforeTheFirstByte(t *testing.T) {
	for _, point := range []string{"sending", "recorded"} {
		t.Run(point, func(t *testing.T) {
			sim, url := simulator(t)
			state := t.TempDir() + "/state"
			env := processEnv(url, state, hurry...)
			spec := connectionSpec("stopped", 1017)
			asleep := start(t, modern, append(env, "FABRIC_BROKER_CRASH=stop:"+point), agrees)
			awake := start(t, modern, env, agrees)
			mine, theirs := asleep.propose("connection_create", spec), awake.propose("connection_create", spec)
			done := asleep.confirm(mine)
			stat := fmt.Sprintf("/proc/%d/stat", asleep.cmd.Process.Pid)
			eventually(t, "the process is stopped", func() bool {
				b, err := os.ReadFile(stat)
				return err == nil && strings.Contains(string(b), ") T ")
			})
			if r := awake.wait(awake.confirm(theirs)); r.object("error")["code"] != string(broker.ErrSameRequestUnresolved) {
				t.Errorf("its equal: %v", r)
			}
			<-time.After(3500 * time.Millisecond) // until its time to send is over
			asleep.signal(syscall.SIGCONT)
			if r := asleep.wait(done); r["outcome"] != "not_sent" || r["executed"] != false {
				t.Errorf("the woken one: %v", r)
			}
			if posts, _ := seen(sim); posts != 0 {
				t.Errorf("%d creates were sent", posts)
			}
		})
	}
}
