package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// Silence (CLIENTS.md 8, 18, 20, 23): up to 2025-11-25 our own deadline ends
// the call, the client is told, and the session goes on. In the modern era
// nothing waits here: status says asking for as long as nobody answers.
func TestSilence(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		began := time.Now()
		q := p.ask(proposed)
		if p.modern() {
			pass(23 * time.Hour)
			if s := p.status(proposed); s["state"] != "asking" || s["outcome"] != nil || s.at("human_confirmation.status") != "asking" {
				t.Errorf("status: %v", s)
			}
			ended("timed_out").check(t, q.answer(saysYes))
		} else {
			ended("timed_out").check(t, q.call.wait().structured(t))
			if d := time.Since(began); d != 5*time.Minute {
				t.Errorf("asked for %s", d)
			}
			pass(time.Second)
			// Over HTTP the result may overtake it, and ends the stream.
			if n := len(p.noted("notifications/cancelled")); n > 1 || n < 1 && w.remote == nil {
				t.Errorf("the client was told %d times that its form is not wanted any more", n)
			}
		}
		if s := p.status(proposed)["state"]; s != "timed_out" {
			t.Errorf("state %v", s)
		}
		w.wantCreates(0)
	}, allowed)
}

// §7: another call ends the question: the answer to it is ignored. I12: one
// question at a time for the same request.
func TestQuestionsThatEndElsewhere(t *testing.T) {
	t.Run("withdrawn", func(t *testing.T) {
		flows(t, eras, func(t *testing.T, w *world, p *peer) {
			proposed := p.propose(connectionSpec("dc-aws-01", 1017))
			q := p.ask(proposed)
			p.call(mutate.WithdrawTool, map[string]any{"proposal_id": proposed["proposal_id"]})
			ended("withdrawn").check(t, q.end())
			refused("token_replayed", "spent", "ttf--").check(t, p.confirm(proposed))
			w.wantCreates(0)
		})
	})
	t.Run("superseded", func(t *testing.T) {
		flows(t, eras, func(t *testing.T, w *world, p *peer) {
			first := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
			second := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
			ended("superseded").check(t, first.end())
			createdAfter("accepted").check(t, second.answer(saysYes))
			w.wantCreates(1)
		})
	})
}

// end is what a confirm comes to whose question was ended by another call,
// whatever its client answers then.
func (q *question) end() object {
	q.p.t.Helper()
	if q.p.modern() {
		return q.answer(saysYes)
	}
	out := q.call.wait().structured(q.p.t)
	q.p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, saysYes))
	synctest.Wait()
	return out
}

// The person said yes to one of two equal requests. The other one asks again,
// says what happened, and wants a code.
func TestSecondConfirmOfAnEqualProposal(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		spec := map[string]any{
			"name": "fcr-dc-02", "metro_code": "DC", "package": "STANDARD", "account_number": 270848,
			"project_id": testProject, "notification_emails": []string{"noc@example.net"},
		}
		first, second := p.proposeType("cloud_router_create", spec), p.proposeType("cloud_router_create", spec)
		q := p.ask(first)
		code := codeLine.FindStringSubmatch(q.message)
		createdAfter("accepted").check(t, q.answer(acceptWith(code)))
		pass(2 * time.Minute)
		q = p.ask(second)
		if !strings.HasPrefix(q.message, "! this very request was created 2m0s ago") || !wantsCode(map[string]any(q.schema)) {
			t.Errorf("asked for %v with:\n%s", q.schema, q.message)
		}
		ended("declined").check(t, q.answer(saysYes))
		w.wantCreates(1)
	}, func(s *worldSetup) { s.broker.CodeMode = broker.CodeAuto })
}

func acceptWith(code []string) string {
	if code == nil {
		return saysYes
	}
	return fmt.Sprintf(`{"action":"accept","content":{"confirm":true,"confirm_code":%q}}`, code[1])
}

func slow(dryRun bool, d time.Duration) fabricsim.Fault {
	return fabricsim.Fault{
		Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &dryRun},
		Do:    fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: int(d.Milliseconds())}, Times: 1,
	}
}

// A call that is cancelled before sending creates nothing, soon, and its session
// goes on (CLIENTS.md 17 and 24). From the create on a cancel is too late: it
// is finished and recorded, also when the client is gone. Over HTTP up to
// 2025-11-25 a lost connection cancels nothing.
func TestCancel(t *testing.T) {
	for name, gone := range map[string]func(*peer, *pending){
		"cancelled": func(_ *peer, r *pending) { r.cancel() },
		"dropped":   func(p *peer, _ *pending) { p.leave() },
	} {
		stays := func(w *world, p *peer) bool { return name == "dropped" && w.remote != nil && !p.modern() }
		t.Run(name+" while asked", func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				other := w.peer(p.era, canAsk)
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				q := p.ask(proposed)
				want := []string{"call_cancelled"}
				switch {
				case p.modern(): // no call is under way: nobody can cancel one
					q.call, want = &pending{p: p, id: p.next}, []string{"asking"}
				case stays(w, p):
					want = []string{"asking"}
				case name == "dropped": // the round trip failed too: either is true
					want = append(want, "failed")
				}
				gone(p, q.call)
				synctest.Wait()
				if s := other.status(proposed); !slices.Contains(want, text(s["state"])) || s.at("human_confirmation.status") != s["state"] {
					t.Errorf("status: %v", s)
				}
				if name == "cancelled" {
					createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-02", 1018))).answer(saysYes))
					w.wantCreates(1)
				} else {
					w.wantCreates(0)
				}
			}, allowed)
		})
		for moment, dryRun := range map[string]bool{"in the last dry run": true, "in the create": false} {
			t.Run(name+" "+moment, func(t *testing.T) {
				flows(t, eras, func(t *testing.T, w *world, p *peer) {
					other := w.peer(p.era, canAsk)
					proposed := p.propose(connectionSpec("dc-aws-01", 1017))
					q := p.ask(proposed)
					w.sim.Fail(slow(dryRun, 20*time.Second))
					call := q.call
					if p.modern() {
						call = q.retry(`{"confirm":` + saysYes + `}`)
					} else {
						p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, saysYes))
					}
					synctest.Wait()
					gone(p, call)
					pass(30 * time.Second)
					state, outcome, creates := "created", "created", 1
					if dryRun && !stays(w, p) {
						state, outcome, creates = "call_cancelled", "not_sent", 0
					}
					if s := other.status(proposed); s["state"] != state || s["outcome"] != outcome ||
						!dryRun && s.at("human_confirmation.status") != "accepted" {
						t.Errorf("status: %v", s)
					}
					w.wantCreates(creates)
				})
			})
		}
	}
}

// §7: a re-sent approved retry gets the recorded outcome, never a second create
// (CLIENTS.md 38). I2.
func TestApprovedRetryAgain(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		q := p.ask(proposed)
		w.sim.Fail(slow(false, 3*time.Second))
		var calls []*pending
		for i := range 6 {
			if i == 3 {
				pass(time.Second)
			}
			calls = append(calls, q.retry(`{"confirm":`+saysYes+`}`))
		}
		uuid := ""
		same := func(got object) {
			t.Helper()
			createdAfter("accepted").check(t, got)
			if id := text(got.at("result.uuid")); id == "" || uuid != "" && id != uuid {
				t.Errorf("created %q, before %q", id, uuid)
			} else {
				uuid = id
			}
		}
		for _, c := range calls {
			same(c.wait().structured(t))
		}
		same(q.answer(saysYes))
		same(q.answer(saysNo)) // the first answer stands
		same(w.peer(eras[2], canAsk).retry(q.token, q.state, `{}`).wait().structured(t))
		pass(time.Hour)
		same(q.answer(saysYes))
		w.wantCreates(1)
	})
}

// The token of what was created, an hour and nearly a day later.
func TestConfirmLongAfterItCreated(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		done := p.ask(proposed).answer(saysYes)
		for _, later := range []time.Duration{time.Hour, 22 * time.Hour} {
			pass(later)
			p = w.peer(p.era, canAsk) // over HTTP a silent session has ended
			replay := p.confirm(proposed)
			refused("token_replayed", "spent", "ttf--").check(t, replay)
			if replay.at("previous_outcome.uuid") != done.at("result.uuid") || replay.at("previous_outcome.state") != "created" ||
				!strings.Contains(text(replay["next_step"]), "do not propose again") {
				t.Errorf("replay: %v", replay)
			}
		}
		pass(2 * time.Hour)
		p = w.peer(p.era, canAsk)
		p.propose(connectionSpec("dc-aws-02", 1018)) // sweeps
		refused("token_unknown", "none", "f----").check(t, p.confirm(proposed))
		w.wantCreates(1)
	})
}

// A missing answer is asked for again; responses under other keys are ignored;
// asking again moves no deadline (I6). An answer may come over another connection.
func TestMissingAnswerIsAskedForAgain(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		other := w.peer(p.era, canAsk)
		one, two := p.propose(connectionSpec("dc-aws-01", 1017)), p.propose(connectionSpec("dc-aws-02", 1018))
		first, second := p.ask(one), p.ask(two)
		for _, responses := range []string{`{}`, `{"other":` + saysYes + `}`, `{"Confirm":` + saysYes + `}`, `null`} {
			pass(time.Minute)
			again := p.asked(first.token, first.retry(responses).wait())
			if again.message == "" || again.state == "" {
				t.Errorf("%s: asked again with %+v", responses, again)
			}
			first = again
		}
		createdAfter("accepted").check(t, other.retry(first.token, first.state, `{"other":`+saysNo+`,"confirm":`+saysYes+`}`).wait().structured(t))
		second = p.asked(second.token, second.retry(`{}`).wait())
		pass(time.Minute + time.Second)
		ended("timed_out").check(t, second.answer(saysYes))
		w.wantCreates(1)
	})
}

// A second round without an answer after the deadline has ended too.
func TestMissingAnswerAfterTheDeadline(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
		pass(6 * time.Minute)
		ended("timed_out").check(t, q.retry(`{}`).wait().structured(t))
		w.wantCreates(0)
	})
}
