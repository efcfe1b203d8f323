package broker_test

import (
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

func TestCode(t *testing.T) {
	term := func(m string, months int, once string) pricing.Quote {
		q := monthly(m)
		q.TermMonths, q.HasOneTime = months, true
		q.OneTime, _ = pricing.ParseMoney(once)
		return q
	}
	ranged := monthly("1")
	ranged.MonthlyMax = monthly("1000").Monthly
	for _, tc := range []struct {
		rule    string
		mode    broker.CodeMode
		quote   pricing.Quote
		free    bool // not billable
		differs bool
		want    bool
	}{
		{"auto/cheap", broker.CodeAuto, monthly("10"), false, false, false},
		{"auto is the default", "", monthly("1000"), false, false, true},
		{"auto/999.99", broker.CodeAuto, monthly("999.99"), false, false, false},
		{"auto/1000", broker.CodeAuto, monthly("1000"), false, false, true},
		{"auto/the whole term counts", broker.CodeAuto, term("75", 12, "100"), false, false, true},
		{"auto/just below over the term", broker.CodeAuto, term("75", 12, "99.99"), false, false, false},
		{"auto/the top of a range counts", broker.CodeAuto, ranged, false, false, true},
		{"auto/unpriced though billable", broker.CodeAuto, pricing.Unpriced("gone"), false, false, true},
		{"auto/unpriced and not billable", broker.CodeAuto, pricing.Quote{Unbilled: true}, true, false, false},
		{"auto/something needs attention", broker.CodeAuto, monthly("10"), false, true, true},
		{"never/something needs attention", broker.CodeNever, monthly("5000"), false, true, false},
		{"always/cheap", broker.CodeAlways, monthly("10"), false, false, true},
		{"always/not billable", broker.CodeAlways, pricing.Quote{Unbilled: true}, true, false, true},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.quoter.set(func() pricing.Quote { return tc.quote })
				w.provider.set(func(p *provider) {
					p.brief.Billable = !tc.free
					if tc.differs {
						p.differs = []broker.Difference{{Path: "a", Sent: "1", Returned: "2"}}
					}
				})
				_, q := w.ask(t)
				if got := q.Code == "K7M2QX"; got != tc.want || q.Code != "" != tc.want {
					t.Errorf("asks for the code %q", q.Code)
				}
			}, func(o *broker.Options) { o.CodeMode = tc.mode })
		})
	}
}

// earlier has an attempt at the very same request come to s.
func attempt(t *testing.T, w *world, s broker.State) {
	t.Helper()
	p, _ := w.ask(t)
	if _, err := w.Complete(t.Context(), p.Proposal.ID, broker.Answer{State: s, Status: string(s)}); err != nil {
		t.Fatal(err)
	}
}

func TestAttentionTellsOfEarlierAttempts(t *testing.T) {
	for s, want := range map[broker.State]string{
		broker.Approved:            "this very request was created 2m0s ago as \"" + uuid + `"`,
		broker.Declined:            "you said no to this very request 2m0s ago",
		broker.Cancelled:           "you said no to this very request 2m0s ago",
		broker.TimedOut:            "an attempt 2m0s ago got no answer",
		broker.Failed:              "an attempt 2m0s ago got no answer",
		broker.CallCancelled:       "an attempt 2m0s ago got no answer",
		broker.UnsupportedByClient: "",
		broker.Withdrawn:           "",
	} {
		t.Run(string(s), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				attempt(t, w, s)
				time.Sleep(2 * time.Minute)
				_, q := w.ask(t)
				if got := strings.Join(q.Attention, "\n"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// I10: what somebody else attempted is not told.
func TestI10AttentionTellsNobodyElse(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		attempt(t, w, broker.Declined)
		if q := w.begin(t, bob, w.proposeAs(t, bob, spec)); len(q.Attention) > 0 {
			t.Errorf("got %q", q.Attention)
		}
	})
}

// I9: a service token's uuid lets its holder order.
func TestI9AttentionMasksAServiceToken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var q broker.Question
		for range 2 {
			p, err := w.Propose(t.Context(), ada, broker.ServiceTokenCreate, spec)
			if err != nil {
				t.Fatal(err)
			}
			q = w.begin(t, ada, p)
			if _, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(q.Attention, "\n"); strings.Contains(got, uuid) || !strings.Contains(got, uuid[len(uuid)-4:]) {
			t.Errorf("got %q", got)
		}
	})
}

func TestAttentionTellsDifferencesOnSafeLines(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.provider.set(func(p *provider) {
			p.differs = []broker.Difference{
				{Path: "a\nb", Sent: `"x*` + strings.Repeat("y", 100) + `"`, Returned: "50"},
				{Path: "c", Sent: "", Returned: "[" + strings.Repeat("1,", 100) + "1]"},
			}
		})
		_, q := w.ask(t)
		if len(q.Attention) != 2 {
			t.Fatalf("got %q", q.Attention)
		}
		for _, line := range q.Attention {
			if len(line) > 200 || strings.ContainsAny(line, "\n*") {
				t.Errorf("got %q", line)
			}
		}
		if !strings.HasPrefix(q.Attention[0], `the dry run would change "a\nb" from "x\x2ayyy`) || !strings.HasSuffix(q.Attention[0], " to 50") {
			t.Errorf("got %q", q.Attention[0])
		}
	})
}

// I11: a list that cannot be had costs the hint only.
func TestI11AttentionWithoutAList(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		attempt(t, w, broker.Declined)
		p := w.propose(t)
		w.ledger.set(failOp("list"), nil)
		if q := w.begin(t, ada, p); len(q.Attention) > 0 {
			t.Errorf("got %q", q.Attention)
		}
	})
}

// Somebody else's create of the very same request is told as one of the same
// effect, without whose it is.
func TestAttentionTellsWhatSomebodyElseCreated(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.provider.set(func(p *provider) { p.twin = "effect" })
		attempt(t, w, broker.Approved)
		time.Sleep(2 * time.Minute)
		q := w.begin(t, bob, w.proposeAs(t, bob, spec))
		if got, want := strings.Join(q.Attention, "\n"), "a second one: \""+uuid+`" does the same, made 2m0s ago`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
