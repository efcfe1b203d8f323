package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fabricbroker/toolsets/mutate"
)

// A client that initializes with a version that is not one gets 2025-11-25 and
// is asked in that way (the SDK takes it for a modern one).
func TestVersionsThatAreNone(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2099-01-01", "DRAFT-2025-v2"} {
		t.Run(version, func(t *testing.T) {
			flows(t, eras[1:2], func(t *testing.T, w *world, p *peer) {
				p = w.silent(p.era, canAsk)
				p.hello(version)
				createdAfter("accepted").check(t, p.ask(p.propose(connectionSpec("dc-aws-01", 1017))).answer(saysYes))
				ended("declined").check(t, p.ask(p.propose(connectionSpec("dc-aws-02", 1018))).answer(saysNo))
				w.wantCreates(1)
			})
		})
	}
}

// Where a call has a progress token, its client hears every 10 s that the call
// is alive (CLIENTS.md 25 to 27): rising, short, without secrets, and nothing
// after the result. Nobody else hears anything, but for a comment every 15 s on a
// stream of HTTP that is silent.
func TestProgress(t *testing.T) {
	for name, more := range map[string]map[string]any{"with a token": {"progressToken": "p-1"}, "without a token": {}} {
		t.Run(name, func(t *testing.T) {
			flows(t, eras, func(t *testing.T, _ *world, p *peer) {
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)), more)
				pass(65 * time.Second)
				createdAfter("accepted").check(t, q.answer(saysYes))
				want, comments := 6, 0
				if p.modern() || len(more) == 0 {
					want, comments = 0, 4
				}
				if b, ok := p.out.(*bridge); ok && !p.modern() && int(b.comments.Load()) != comments {
					t.Errorf("%d comments kept the stream alive, want %d", b.comments.Load(), comments)
				}
				notes := p.noted("notifications/progress")
				if len(notes) != want {
					t.Errorf("%d progress notifications, want %d", len(notes), want)
				}
				last := 0.0
				for _, n := range notes {
					now, _ := n.Params["progress"].(float64)
					message := text(n.Params["message"])
					if now <= last || n.Params["progressToken"] != "p-1" || len(message) > 200 || strings.Contains(message, text(q.token)) {
						t.Errorf("after %v: %v", last, n.Params)
					}
					last = now
				}
				pass(time.Minute)
				if n := len(p.noted("notifications/progress")); n != want {
					t.Errorf("%d progress notifications followed the result", n-want)
				}
			})
		})
	}
}

// One connection may carry both eras. In whatever way a modern request in a
// legacy session is asked, nothing is created before the yes, and a no is one (I3).
func TestModernRequestInALegacySession(t *testing.T) {
	for raw, creates := range map[string]int{saysYes: 1, saysNo: 0, `{"action":"accept"}`: 0} {
		t.Run(raw, func(t *testing.T) {
			inBubble(t, func(w *world) {
				p := w.peer(eras[1], canAsk)
				proposed := p.propose(connectionSpec("dc-aws-01", 1017))
				p.era = eras[2]
				q := &question{p: p, token: proposed["confirm_token"]}
				q.call = p.start(mutate.ConfirmTool, map[string]any{"confirm_token": q.token},
					map[string]any{"inputResponses": json.RawMessage(`{"confirm":` + saysYes + `}`)})
				var got object
				select {
				case m := <-p.asks:
					w.wantCreates(0)
					p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, raw))
					got = q.call.wait().structured(t)
				case m := <-q.call.c:
					w.wantCreates(0)
					got = p.asked(q.token, m).answer(raw)
				}
				if got["executed"] != (creates == 1) {
					t.Errorf("confirm: %v", got)
				}
				w.wantCreates(creates)
			})
		})
	}
}
