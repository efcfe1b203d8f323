//go:build crash

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger/pgtest"
	"fabricbroker/fabric/fabricsim"
)

// lag is what a create takes here at most: its last dry run and itself.
const lag = 6 * time.Second

var lagging = []string{"FABRIC_BROKER_CRASH_HURRY=4000", "EQUINIX_MCP_CREATE_TIMEOUT_MS=2000"}

// twins are two replicas at a ledger whose clock a test moves. One of them goes
// down, or to sleep, in the middle of a create.
type twins struct {
	t           *testing.T
	sim         *fabricsim.Sim
	pg          *pgtest.Server
	one, two    *server
	here, there *peer
	proposed    object
	call        *pending // at the first one
}

const laterSQL = `
	CREATE SCHEMA later;
	CREATE TABLE later.ahead (by interval NOT NULL);
	INSERT INTO later.ahead VALUES ('0');
	CREATE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS $$ SELECT pg_catalog.clock_timestamp() + by FROM later.ahead $$`

// newTwins has one approve a create and end up at point; without one the create
// gets to the simulator, and its answer never comes.
func newTwins(t *testing.T, signal syscall.Signal, point string) *twins {
	t.Helper()
	w := &twins{t: t, pg: newPostgres(t)}
	w.sql(laterSQL)
	var api string
	w.sim, api = simulator(t)
	env := mutating(t, api, t.TempDir()+"/two", append(lagging, "EQUINIX_MCP_LEDGER_DSN="+w.pg.DSN("later"))...)
	how := map[syscall.Signal]string{syscall.SIGKILL: "kill:", syscall.SIGSTOP: "stop:"}[signal]
	w.one = startHTTP(t, append(env, "EQUINIX_MCP_STATE_DIR="+t.TempDir()+"/one", "FABRIC_BROKER_CRASH="+how+point))
	w.two = startHTTP(t, env)
	w.here, w.there = w.one.peer(modern), w.two.peer(modern)
	if point == "" {
		onCreate(w.sim, 1, fabricsim.Action{Kind: fabricsim.FaultCommitThenHang})
	}
	w.proposed = w.here.propose(connectionSpec("lost", 1017))
	w.call = w.here.ask(w.proposed).retry(`{"confirm":` + saysYes + `}`)
	if point == "" {
		eventually(t, "the asset is made", func() bool { return made(w.sim) == 1 })
		if err := w.one.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the replica is gone", func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.one.cmd.Process.Pid))
		return err != nil || strings.Contains(string(b), ") T ") || strings.Contains(string(b), ") Z ")
	})
	// What was made cannot be found until the faults are cleared.
	w.sim.Fail(fabricsim.Fault{
		Match: fabricsim.Match{Path: "/fabric/v4/connections/search"}, Do: fabricsim.Action{Kind: fabricsim.FaultStatus, Status: http.StatusForbidden},
	})
	return w
}

func (w *twins) sql(text string) {
	w.t.Helper()
	if err := w.pg.SQL(text); err != nil {
		w.t.Fatal(err)
	}
}

// state is what the other replica says.
func (w *twins) state() (broker.State, object) {
	s := w.there.status(w.proposed)
	return broker.State(text(s["state"])), s
}

// is fails unless the other replica says that the create is unresolved, and
// refuses its equal.
func (w *twins) is(want broker.State) {
	w.t.Helper()
	if s, _ := w.state(); s != want {
		w.t.Errorf("it is %s, want %s", s, want)
	}
	again := w.there.call("fabric_propose_change", map[string]any{"change_type": "connection_create", "spec": connectionSpec("lost", 1017)})
	if again.at("error.code") != string(broker.ErrSameRequestUnresolved) {
		w.t.Errorf("its equal: %v", again)
	}
}

// takenOver waits until the create is late, by the sender's own clock, and by a
// minute more by the database's: then the other replica takes it over.
func (w *twins) takenOver() {
	w.t.Helper()
	w.is(broker.Sending)
	<-time.After(lag) // the sender's clock cannot be moved
	w.is(broker.Sending)
	w.sql(`UPDATE later.ahead SET by = '62 seconds'`)
	eventually(w.t, "it is taken over", func() bool { s, _ := w.state(); return s == broker.Unknown })
	w.is(broker.Unknown)
}

// sent fails unless so many creates were sent.
func (w *twins) sent(want int) {
	w.t.Helper()
	if posts, _ := seen(w.sim); posts != want || made(w.sim) != want {
		w.t.Errorf("%d creates sent, %d assets made, want %d of both", posts, made(w.sim), want)
	}
}

// found waits until the other replica has found what was made.
func (w *twins) found() {
	w.t.Helper()
	w.sim.ClearFaults()
	var one object
	eventually(w.t, "it is found", func() bool {
		var s broker.State
		s, one = w.state()
		return s == broker.Created
	})
	if one.at("result.uuid") != createdUUID(w.t, w.sim) {
		w.t.Errorf("reported %v", one)
	}
}

// afterSending are the points between the step to sending and its end, and how
// many creates had been sent there.
var afterSending = map[string]int{"sending": 0, "recorded": 0, "": 1, "answered": 1}

func pointName(point string) string {
	if point == "" {
		return "waits for the answer"
	}
	return point
}

// I2, I8: a replica is killed between the step to sending and the answer. Another
// reports its create as unknown, refuses its equal, and finds what was made.
func TestHTTPCrashOfAReplica(t *testing.T) {
	for point, sent := range afterSending {
		t.Run(pointName(point), func(t *testing.T) {
			t.Parallel()
			w := newTwins(t, syscall.SIGKILL, point)
			w.takenOver()
			w.sent(sent)
			if sent == 0 {
				return // nobody can know that, until a person looks
			}
			w.found()
			w.sent(sent)
		})
	}
}

// I2, I6, I8: the same where it only sleeps, and wakes when its time is over: it
// sends nothing then, and says how it ended, which the other has found meanwhile.
func TestHTTPStoppedReplica(t *testing.T) {
	for point, sent := range afterSending {
		t.Run(pointName(point), func(t *testing.T) {
			t.Parallel()
			w := newTwins(t, syscall.SIGSTOP, point)
			w.takenOver()
			w.sent(sent)
			if sent == 1 {
				w.found()
			}
			if err := w.one.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			var r object
			select {
			case m := <-w.call.c:
				r = m.structured(t)
			case <-time.After(patience):
				t.Fatal("the woken one does not answer")
			}
			want, outcome := broker.NotSent, "not_sent"
			if sent == 1 {
				want, outcome = broker.Created, "created"
			}
			if r["outcome"] != outcome || r["executed"] != (sent == 1) || r["recorded"] == false {
				t.Errorf("the woken one: %v", r)
			}
			eventually(t, "both say how it ended", func() bool {
				s, _ := w.state()
				return s == want && w.here.status(w.proposed)["state"] == string(want)
			})
			w.sent(sent)
			for _, s := range []*server{w.one, w.two} {
				if code := s.end(syscall.SIGTERM); code != 0 {
					t.Errorf("exit code %d", code)
				}
			}
		})
	}
}
