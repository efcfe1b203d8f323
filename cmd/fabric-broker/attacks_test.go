package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
	"fabricbroker/toolsets/mutate"
)

// mint makes an authentic token of what was proposed, but for what change does.
func (w *world) mint(proposed object, tool string, change func(*broker.Proposal)) string {
	w.t.Helper()
	p, err := w.ledger.Load(w.t.Context(), broker.ID(text(proposed["proposal_id"])))
	if err != nil {
		w.t.Fatal(err)
	}
	change(&p)
	token, err := w.keyring.Mint(p, tool)
	if err != nil {
		w.t.Fatal(err)
	}
	return token.Reveal()
}

// expected is the refusal of a text that is not the token of anything.
func expected(forged, authentic string) string {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(forged, "chg-"))
	switch {
	case forged == "":
		return "token_missing"
	case len(forged) != len(authentic) || !strings.HasPrefix(forged, "chg-") || err != nil || b[0] != 1 || strings.ContainsAny(forged, "\r\n"):
		return "token_malformed"
	case forged[5:11] != authentic[5:11]: // the key id is in bytes 1 to 4
		if k, _ := base64.RawURLEncoding.DecodeString(authentic[4:]); string(k[1:5]) != string(b[1:5]) {
			return "token_unknown"
		}
	}
	return "token_forged"
}

// §6: no forged token reaches the ledger, and each gets its own refusal. I5:
// nothing is spent by it.
func TestForgedTokens(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		l := w.spy()
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		good := text(proposed["confirm_token"])
		var forged []string
		for i := range len(good) {
			forged = append(forged, good[:i], good[:i]+string(good[i]^1)+good[i+1:])
		}
		forged = append(forged, good+"=", good+"A", " "+good, good+"\n", good[:70]+"\n"+good[71:], strings.ToUpper(good),
			strings.Replace(good, "chg-", "CHG-", 1), "chg-"+strings.Repeat("A", 136), "chg-AQAA"+strings.Repeat("A", 132))
		before := l.calls.Load()
		for _, token := range forged {
			if token == good {
				t.Fatal("a forged token is the good one")
			}
			refused(expected(token, good), "none", "-----").check(t, p.confirmToken(token))
		}
		if n := l.calls.Load(); n != before {
			t.Errorf("forged tokens reached the ledger %d times", n-before)
		}
		w.wantCreates(0)
		createdAfter("accepted").check(t, p.ask(proposed).answer(saysYes))
	}, spied)
}

// §6: authentic signatures over the wrong thing.
func TestCrossedTokens(t *testing.T) {
	same := func(*broker.Proposal) {}
	stranger := func(p *broker.Proposal) { p.Caller.Principal = broker.Principal{Kind: "jwt", Subject: "mallory"} }
	for name, row := range map[string]struct {
		tool   string
		change func(*broker.Proposal)
		want   confirmed
		ledger bool
	}{
		"another tool":      {"gate__order", same, refused("wrong_tool", "unspent", "-----"), false},
		"another principal": {mutate.ConfirmTool, stranger, refused("wrong_principal", "unspent", "-----"), false},
		"another provider identity": {
			mutate.ConfirmTool, func(p *broker.Proposal) { p.Account = "another" }, refused("token_forged", "none", "-----"), false,
		},
		"a proposal that nobody made": {
			mutate.ConfirmTool, func(p *broker.Proposal) { p.ID = broker.ID(uuid.NewString()) }, refused("token_unknown", "none", "f----"), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
				l := w.spy()
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				token := w.mint(proposed, row.tool, row.change)
				before := l.calls.Load()
				row.want.check(t, p.confirmToken(token))
				if reached := l.calls.Load() != before; reached != row.ledger {
					t.Errorf("reached the ledger: %v", reached)
				}
				if s := p.status(proposed)["state"]; s != "pending" {
					t.Errorf("the proposal is %v", s)
				}
				q := p.ask(proposed)
				if m := p.retry(token, q.state, `{"confirm":`+saysYes+`}`).wait(); m.Error == nil {
					if code := text(m.structured(t).at("error.code")); code != row.want.Code {
						t.Errorf("with an authentic state: %s", code)
					}
				} else if m.Error.Code != -32602 {
					t.Errorf("with an authentic state: %+v", m.Error)
				}
				w.wantCreates(0)
				createdAfter("accepted").check(t, q.answer(saysYes))
			}, spied)
		})
	}
}

// A request hash that is not the proposal's is a changed request; I4, I5.
func TestTokenOfAnotherRequest(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		token := w.mint(proposed, mutate.ConfirmTool, func(p *broker.Proposal) { p.Hash = broker.Hash(strings.Repeat("0", 64)) })
		refused("request_changed", "spent", "ttttf").check(t, p.confirmToken(token))
		w.wantCreates(0)
	})
}

// §7: a state that does not open, or that belongs elsewhere, is -32602 and spends
// nothing (CLIENTS.md 36 and 37). I9: the message repeats neither.
func TestForgedStates(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed, other := p.propose(connectionSpec("dc-aws-01", 1017)), p.propose(connectionSpec("dc-aws-02", 1018))
		q, crossed := p.ask(proposed), p.ask(other)
		stored, err := w.ledger.Load(t.Context(), broker.ID(text(proposed["proposal_id"])))
		if err != nil {
			t.Fatal(err)
		}
		good := seal.State{
			ID: stored.ID, Hash: stored.Hash, Principal: stored.Caller.Principal, Tool: mutate.ConfirmTool, Era: eras[2], Deadline: stored.AskUntil,
		}
		sealed := func(k *seal.Keyring, change func(*seal.State)) string {
			s := good
			change(&s)
			text, err := k.SealState(s)
			if err != nil {
				t.Fatal(err)
			}
			return text.Reveal()
		}
		forged := map[string]string{
			"another proposal":  crossed.state,
			"another hash":      sealed(w.keyring, func(s *seal.State) { s.Hash = broker.Hash(strings.Repeat("0", 64)) }),
			"another principal": sealed(w.keyring, func(s *seal.State) { s.Principal = broker.Principal{Kind: "jwt", Subject: "mallory"} }),
			"another tool":      sealed(w.keyring, func(s *seal.State) { s.Tool = "gate__order" }),
			"another era":       sealed(w.keyring, func(s *seal.State) { s.Era = eras[1] }),
			"another server":    sealed(seal.Ephemeral(), func(*seal.State) {}),
			"the token":         text(proposed["confirm_token"]),
			"padded":            q.state + "=", "longer": q.state + "AAAA", "a space": " " + q.state, "a word": "x",
			"a line break": q.state[:70] + "\n" + q.state[71:],
		}
		for i := range len(q.state) {
			forged[fmt.Sprintf("byte %d flipped", i)] = q.state[:i] + string(q.state[i]^1) + q.state[i+1:]
			if i > 0 {
				forged[fmt.Sprintf("cut at %d", i)] = q.state[:i]
			}
		}
		for name, state := range forged {
			m := p.retry(q.token, state, `{"confirm":`+saysYes+`}`).wait()
			if m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("%s: got %+v, want -32602", name, m)
			} else if strings.Contains(m.Error.Message, state) || strings.Contains(m.Error.Message, text(q.token)) {
				t.Errorf("%s: the message repeats a secret: %s", name, m.Error.Message)
			}
		}
		w.wantCreates(0)
		createdAfter("accepted").check(t, q.answer(saysYes))
		createdAfter("accepted").check(t, crossed.answer(saysYes))
		w.wantCreates(2)
	})
}

// I9: the SDK answers what it cannot decode with the whole of it.
func TestErrorsOfTheSDKTellNoSecret(t *testing.T) {
	flows(t, eras, func(t *testing.T, w *world, p *peer) {
		token, state := text(p.propose(connectionSpec("dc-aws-01", 1017))["confirm_token"]), strings.Repeat("xY-9", 35)
		const key = "of-a-provider"
		m := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": token, "authentication_key": key},
			map[string]any{"requestState": state, "inputResponses": []int{}}).wait()
		if m.Error == nil {
			t.Fatalf("it was decoded: %v", m.Result)
		}
		for _, secret := range []string{token, state, key} {
			if strings.Contains(m.Error.Message, secret) {
				t.Errorf("%d %s", m.Error.Code, m.Error.Message)
			}
		}
		w.wantCreates(0)
	})
}

// A client can send "accept" in its first call: nothing proves that anybody was
// asked (2026-07-28 says so). It is ignored, and the person is asked.
func TestForgedFirstAnswer(t *testing.T) {
	for name, state := range map[string]any{"no state": "", "null": nil, "a made up one": strings.Repeat("A", 140)} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, w *world, p *peer) {
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				extra := map[string]any{"requestState": state, "inputResponses": json.RawMessage(`{"confirm":` + saysYes + `}`)}
				if p.modern() && state != "" && state != nil {
					m := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": proposed["confirm_token"]}, extra).wait()
					if m.Error == nil || m.Error.Code != -32602 {
						t.Errorf("got %+v, want -32602", m)
					}
					if s := p.status(proposed)["state"]; s != "pending" {
						t.Errorf("the proposal is %v", s)
					}
					w.wantCreates(0)
					return
				}
				q := p.ask(proposed, extra)
				w.wantCreates(0)
				ended("declined").check(t, q.answer(saysNo))
				w.wantCreates(0)
			})
		})
	}
}

// I5: of confirms that come at once, one asks and the others are replays.
func TestParallelConfirms(t *testing.T) {
	flows(t, eras[2:], func(t *testing.T, w *world, p *peer) {
		proposed := p.propose(connectionSpec("dc-aws-01", 1017))
		var calls []*pending
		for range 8 {
			calls = append(calls, p.start(mutate.ConfirmTool, map[string]any{"confirm_token": proposed["confirm_token"]}))
		}
		asked := 0
		for _, c := range calls {
			if m := c.wait(); m.Result["resultType"] == "input_required" {
				asked++
			} else {
				refused("token_replayed", "spent", "ttf--").check(t, m.structured(t))
			}
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		w.wantCreates(0)
	})
}
