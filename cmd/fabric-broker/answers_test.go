package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
)

// Only an acceptance with confirm exactly true creates; whatever else a client
// sends is a no, and none of it is an error (§7).
var answers = []struct {
	name, raw, status string
}{
	{"accept with confirm true approves", saysYes, "accepted"},
	{"accept with fields of the client's own approves", `{"action":"accept","content":{"confirm":true,"remember":"yes"}}`, "accepted"},
	{"accept with an empty form is a no", `{"action":"accept","content":{}}`, "declined"},
	{"accept without a form is a no", `{"action":"accept"}`, "declined"},
	{"accept with a null form is a no", `{"action":"accept","content":null}`, "declined"},
	{"confirm false is a no", `{"action":"accept","content":{"confirm":false}}`, "declined"},
	{"confirm null is a no", `{"action":"accept","content":{"confirm":null}}`, "declined"},
	{"confirm as text is a no", `{"action":"accept","content":{"confirm":"true"}}`, "declined"},
	{"confirm as a word is a no", `{"action":"accept","content":{"confirm":"yes"}}`, "declined"},
	{"confirm as a number is a no", `{"action":"accept","content":{"confirm":1}}`, "declined"},
	{"confirm in a list is a no", `{"action":"accept","content":{"confirm":[true]}}`, "declined"},
	{"confirm in an object is a no", `{"action":"accept","content":{"confirm":{"confirm":true}}}`, "declined"},
	{"another field is a no", `{"action":"accept","content":{"approve":true}}`, "declined"},
	{"another case of the field is a no", `{"action":"accept","content":{"Confirm":true}}`, "declined"},
	{"decline is a no", saysNo, "declined"},
	{"decline with confirm true is a no", `{"action":"decline","content":{"confirm":true}}`, "declined"},
	{"cancel is a no", `{"action":"cancel"}`, "cancelled"},
	{"cancel with confirm true is a no", `{"action":"cancel","content":{"confirm":true}}`, "cancelled"},
	{"an empty action fails", `{"action":"","content":{"confirm":true}}`, "failed"},
	{"ACCEPT fails", `{"action":"ACCEPT","content":{"confirm":true}}`, "failed"},
	{"accept with a space fails", `{"action":" accept","content":{"confirm":true}}`, "failed"},
	{"approve fails", `{"action":"approve","content":{"confirm":true}}`, "failed"},
	{"yes fails", `{"action":"yes","content":{"confirm":true}}`, "failed"},
}

// I3, I5: CLIENTS.md 1, 2, 4 to 7, 10, 13, 34 and 42.
func TestAnswers(t *testing.T) {
	for _, row := range answers {
		t.Run(row.name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				got := p.ask(proposed).answer(row.raw)
				want, creates := ended(row.status), 0
				if row.status == "accepted" {
					want, creates = createdAfter("accepted"), 1
				}
				want.check(t, got)
				if text(got.at("human_confirmation.detail")) == "" {
					t.Error("no words about the answer")
				}
				status := p.status(proposed)
				if status.at("human_confirmation.status") != row.status || status["outcome"] != want.Outcome {
					t.Errorf("status: %v", status)
				}
				replay := p.confirm(proposed)
				refused("token_replayed", "spent", "ttf--").check(t, replay)
				if replay.at("previous_outcome.outcome") != want.Outcome {
					t.Errorf("previous_outcome: %v", replay["previous_outcome"])
				}
				w.wantCreates(creates)
			})
		})
	}
}

// Up to 2025-11-25 a prompt that fails is a result of the tool call and no
// protocol error (CLIENTS.md 14 and 21), and so is an answer that is none.
func TestFailedPrompts(t *testing.T) {
	for name, response := range map[string]string{
		"method not found": `"error":{"code":-32601,"message":"Method not found"}`,
		"a timeout":        `"error":{"code":-32001,"message":"Request timed out"}`,
		"invalid params":   `"error":{"code":-32602,"message":"Invalid params"}`,
		"null":             `"result":null`,
		"no action":        `"result":{}`,
		"another case":     `"result":{"Action":"accept","Content":{"confirm":true}}`,
		"a list":           `"result":[]`,
		"text as form":     `"result":{"action":"accept","content":"confirm"}`,
		"number as action": `"result":{"action":1,"content":{"confirm":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras[:2], func(t *testing.T, w *world, p *peer) {
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, q.id, response))
				ended("failed").check(t, q.call.wait().structured(t))
				createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-02", 1018))).answer(saysYes))
				w.wantCreates(1)
			}, allowed)
		})
	}
}

// What stands under our key and is no elicit result fails; what cannot be
// decoded at all is a protocol error that decides nothing. Over HTTP the SDK
// misses the tool's name in it first, which is a header mismatch to it.
func TestModernAnswersOfAnotherKind(t *testing.T) {
	for name, responses := range map[string]string{
		"roots":           `{"confirm":{"roots":[]}}`,
		"a sampled reply": `{"confirm":{"role":"assistant","model":"m","content":{"type":"text","text":"accept"}}}`,
	} {
		t.Run("fails/"+name, func(t *testing.T) {
			flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				ended("failed").check(t, q.retry(responses).wait().structured(t))
				w.wantCreates(0)
			}, allowed)
		})
	}
	for name, responses := range map[string]string{
		"null": `{"confirm":null}`, "no action": `{"confirm":{}}`, "text": `{"confirm":"accept"}`, "a list": `[]`,
		"text as form":     `{"confirm":{"action":"accept","content":"confirm"}}`,
		"number as action": `{"confirm":{"action":1,"content":{"confirm":true}}}`,
	} {
		t.Run("is invalid/"+name, func(t *testing.T) {
			flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				q := p.ask(proposed)
				want := -32602
				if w.remote != nil {
					want = -32020
				}
				if m := q.retry(responses).wait(); m.Error == nil || m.Error.Code != want {
					t.Errorf("got %+v, want %d", m.Error, want)
				}
				if state := p.status(proposed)["state"]; state != "asking" {
					t.Errorf("state %v, want asking", state)
				}
				w.wantCreates(0)
				createdAfter("accepted").check(t, q.answer(saysYes))
			})
		})
	}
}

// allowed is the operator's opt-in, which is for clients that cannot ask alone:
// every no and every failed prompt stays what it is (I3).
func allowed(s *worldSetup) { s.broker.AllowUnconfirmed = true }

func TestOptInTurnsNoAnswerIntoAYes(t *testing.T) {
	for name, raw := range map[string]string{
		"declined": saysNo, "cancelled": `{"action":"cancel"}`, "failed": `{"action":"yes"}`,
	} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				ended(name).check(t, p.ask(p.propose(connectionSpec("dc-aws-01", 1017))).answer(raw))
				w.wantCreates(0)
			}, allowed)
		})
	}
}

// Forms are asked of clients that declare them and of no others (CLIENTS.md 10
// to 12, 15, 16 and 35).
func TestCapabilities(t *testing.T) {
	for caps, asks := range map[string]bool{
		`{}`: false, `{"roots":{}}`: false, `{"sampling":{}}`: false, `{"elicitation":{"url":{}}}`: false,
		`{"elicitation":{}}`: true, canAsk: true, `{"elicitation":{"form":{},"url":{}}}`: true,
	} {
		for _, optIn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/opt-in %v", caps, optIn), func(t *testing.T) {
				flows(t, eras, func(t *testing.T, w *world, p *peer) {
					p = w.peer(p.era, caps)
					proposed := p.propose(connectionSpec("dc-aws-01", 1017))
					if said := strings.Contains(text(proposed["next_step"]), "this client"); said == asks {
						t.Errorf("next_step: %v", proposed["next_step"])
					}
					switch {
					case asks:
						createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
						w.wantCreates(1)
					case optIn:
						createdAfter("unsupported_by_client").check(t, p.confirm(proposed))
						w.wantCreates(1)
					default:
						ended("unsupported_by_client").check(t, p.confirm(proposed))
						w.wantCreates(0)
					}
					if n := len(p.asks); n > 0 {
						t.Errorf("the client was asked %d times", n)
					}
				}, func(s *worldSetup) { s.broker.AllowUnconfirmed = optIn })
			})
		}
	}
}

// The code stands in the message only: a client that fills in forms by itself
// does not know it.
func TestConfirmCode(t *testing.T) {
	for name, row := range map[string]struct {
		form   string // %s is the right code
		status string
	}{
		"the right code approves":             {`{"confirm":true,"confirm_code":"%s"}`, "accepted"},
		"the right code in spaces approves":   {`{"confirm":true,"confirm_code":" %s "}`, "accepted"},
		"no code is a no":                     {`{"confirm":true}`, "declined"},
		"an empty code is a no":               {`{"confirm":true,"confirm_code":""}`, "declined"},
		"a wrong code is a no":                {`{"confirm":true,"confirm_code":"%sX"}`, "declined"},
		"true as code is a no":                {`{"confirm":true,"confirm_code":true}`, "declined"},
		"null as code is a no":                {`{"confirm":true,"confirm_code":null}`, "declined"},
		"the code without the answer is a no": {`{"confirm_code":"%s"}`, "declined"},
		"the code with a false answer is no":  {`{"confirm":false,"confirm_code":"%s"}`, "declined"},
		"the code as the answer is a no":      {`{"confirm":"%s","confirm_code":"%[1]s"}`, "declined"},
	} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				if !wantsCode(map[string]any(q.schema)) {
					t.Errorf("no code is asked: %v", q.schema)
				}
				form := row.form
				if strings.Contains(form, "%") {
					form = fmt.Sprintf(form, codeLine.FindStringSubmatch(q.message)[1])
				}
				got := q.answer(`{"action":"accept","content":` + form + `}`)
				if row.status == "accepted" {
					createdAfter("accepted").check(t, got)
					w.wantCreates(1)
					return
				}
				ended(row.status).check(t, got)
				w.wantCreates(0)
			}, func(s *worldSetup) { s.broker.CodeMode = broker.CodeAlways })
		})
	}
}

// §7: the asking deadline decides before the TTL, and a yes after the TTL is
// token_expired. I6: nothing is sent after expiry.
func TestAnswersThatComeLate(t *testing.T) {
	late := ended("accepted")
	late.Code, late.Checks = "token_expired", "tttft"
	for name, row := range map[string]struct {
		ask, ttl, after time.Duration
		raw             string
		want            confirmed
	}{
		"just before the deadline":           {5 * time.Minute, 10 * time.Minute, 5*time.Minute - time.Second, saysYes, createdAfter("accepted")},
		"a yes after the deadline":           {5 * time.Minute, 10 * time.Minute, 5*time.Minute + time.Second, saysYes, ended("timed_out")},
		"a no after the deadline":            {5 * time.Minute, 10 * time.Minute, 5*time.Minute + time.Second, saysNo, ended("timed_out")},
		"a yes after the deadline and TTL":   {5 * time.Minute, 10 * time.Minute, 20 * time.Minute, saysYes, ended("timed_out")},
		"a yes after the TTL while asked":    {20 * time.Minute, 10 * time.Minute, 11 * time.Minute, saysYes, late},
		"a no after the TTL while asked":     {20 * time.Minute, 10 * time.Minute, 11 * time.Minute, saysNo, ended("declined")},
		"a cancel after the TTL while asked": {20 * time.Minute, 10 * time.Minute, 11 * time.Minute, `{"action":"cancel"}`, ended("cancelled")},
	} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				pass(row.after)
				if !p.modern() && row.want.Status == "timed_out" {
					row.want.check(t, q.call.wait().structured(t)) // without waiting for the client
					p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, row.raw))
					pass(time.Second)
				} else {
					row.want.check(t, q.answer(row.raw))
				}
				creates := 0
				if row.want.Executed {
					creates = 1
				}
				w.wantCreates(creates)
				createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-02", 1018))).answer(saysYes))
			}, func(s *worldSetup) { s.broker.AskTimeout, s.broker.TTL = row.ask, row.ttl })
		})
	}
}
