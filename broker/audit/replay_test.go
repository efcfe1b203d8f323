package audit_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/pricing"
)

var caller = broker.Caller{
	Principal:  broker.Principal{Kind: "jwt", Issuer: "i", Tenant: "t", Subject: "ada"},
	ClientName: "claude", ClientVersion: "1", ProtocolVersion: "2026-07-28",
}

// answers are all that a person, a client or a deadline can say.
var answers = []broker.Answer{
	{State: broker.Approved, Channel: "form", Status: broker.StatusAccepted},
	{State: broker.Approved, Channel: "page", By: "bob", Status: broker.StatusAccepted, Detail: "on the page"},
	{State: broker.Approved, Channel: "none", Status: string(broker.UnsupportedByClient), Detail: "the operator's opt-in"},
	{State: broker.Declined, Channel: "form", Status: string(broker.Declined)},
	{State: broker.Cancelled, Channel: "form", Status: string(broker.Cancelled)},
	{State: broker.Failed, Channel: "form", Status: string(broker.Failed), Detail: "the prompt failed"},
	{State: broker.UnsupportedByClient, Channel: "none", Status: string(broker.UnsupportedByClient)},
	{State: broker.CallCancelled, Channel: "form", Status: string(broker.CallCancelled)},
}

var moves = []string{
	"flow", "flow", "propose", "begin", "answer", "withdraw", "race", "status", "sleep", "halt", "empty", "restart",
	"no", "twice", "dearer", "late confirm", "late answer", "later answer", "lost",
}

type move struct {
	Kind       string
	Which, How int
}

// From the lines alone every proposal of every process is rebuilt as the ledgers
// had it.
func TestTheLogReplaysToTheLedger(t *testing.T) {
	draw := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{rapid.SampledFrom(moves).Draw(t, "kind"), rapid.IntRange(0, 3).Draw(t, "which"), rapid.IntRange(0, 63).Draw(t, "how")}
	}), 3, 30)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, t.TempDir())
		defer func() { _ = w.state.Close() }()
		follower := w.state.Follow()
		for _, m := range draw.Draw(rt, "moves") {
			w.step(t, m)
			since := w.clock().Add(-time.Hour)
			followed, err := follower.Replay(since)
			do(t, err)
			if whole, err := audit.Replay(w.dir, since); err != nil || !cmp.Equal(followed, whole) {
				rt.Errorf("who reads on has another record than who reads it all, %v:\n%s", err, cmp.Diff(whole, followed))
			}
		}
		w.compare(t, rt)
	})
}

func (w *world) step(t testing.TB, m move) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.api.set(func(a *api) {
		a.outcome, a.found, a.price, a.refuse = m.How, m.How/4%4, m.How%3, m.How == 63
	})
	switch m.Kind {
	case "propose", "flow":
		types := broker.ChangeTypes()
		spec := []byte(`{"name":"` + strings.Repeat("x", 1+m.Which) + `","key":"a-long-provider-key"}`)
		p, err := w.Propose(ctx, caller, types[m.How%len(types)], spec)
		if err != nil {
			return
		}
		w.tokens, w.made = append(w.tokens, p), append(w.made, p.Proposal.ID)
		if m.Kind == "flow" {
			w.confirm(ctx, p, answers[m.How%3])
		}
	case "no", "twice", "dearer", "late confirm", "late answer", "later answer", "lost":
		w.tell(ctx, m)
	case "begin":
		if p, ok := w.pick(m.Which); ok {
			_, _ = w.Begin(ctx, caller, p.Token) // a refusal is recorded too
		}
	case "answer":
		if p, ok := w.pick(m.Which); ok {
			_, _ = w.Complete(ctx, p.Proposal.ID, answers[m.How%len(answers)])
		}
	case "withdraw":
		if p, ok := w.pick(m.Which); ok {
			_, _ = w.Withdraw(ctx, caller, p.Proposal.ID)
		}
	case "race":
		p, ok := w.pick(m.Which)
		if !ok {
			return
		}
		var wg sync.WaitGroup
		wg.Go(func() { w.confirm(ctx, p, answers[m.How%len(answers)]) })
		wg.Go(func() { _, _ = w.Withdraw(ctx, caller, p.Proposal.ID) })
		wg.Wait()
	case "status":
		_, err := w.Status(ctx, caller, "", 10)
		do(t, err)
	case "sleep":
		w.sleep([]time.Duration{time.Second, 4 * time.Minute, 6 * time.Minute, 20 * time.Minute}[m.Which])
	case "halt":
		if m.Which == 0 {
			do(t, w.state.Halt().Set(ctx, "a test"))
		} else {
			do(t, w.state.Halt().Clear(ctx))
		}
	case "empty":
		_, _ = w.Propose(ctx, caller, broker.NetworkCreate, nil)
	case "restart":
		w.end(t, m.How%2 == 0)
		w.begin(t)
	}
}

// tell is a short story of its own about a new proposal.
func (w *world) tell(ctx context.Context, m move) {
	w.api.set(func(a *api) { a.outcome, a.refuse = 3*(m.How%2), false })
	p, err := w.Propose(ctx, caller, broker.ConnectionCreate, []byte(`{"name":"`+m.Kind+`"}`))
	if err != nil {
		return
	}
	w.tokens, w.made = append(w.tokens, p), append(w.made, p.Proposal.ID)
	switch m.Kind {
	case "no":
		w.confirm(ctx, p, answers[3+m.How%5])
	case "twice":
		_, _ = w.Begin(ctx, caller, p.Token)
		q, err := w.Propose(ctx, caller, broker.ConnectionCreate, []byte(`{"name":"`+m.Kind+`"}`))
		if err == nil {
			w.tokens, w.made = append(w.tokens, q), append(w.made, q.Proposal.ID)
			w.confirm(ctx, q, answers[0])
		}
	case "dearer":
		if _, err := w.Begin(ctx, caller, p.Token); err == nil {
			w.api.set(func(a *api) { a.price = 1000 })
			_, _ = w.Complete(ctx, p.Proposal.ID, answers[0])
		}
	case "late confirm":
		w.sleep(11 * time.Minute)
		w.confirm(ctx, p, answers[0])
	case "late answer", "later answer":
		w.sleep(7 * time.Minute)
		if _, err := w.Begin(ctx, caller, p.Token); err == nil {
			w.sleep(map[string]time.Duration{"late answer": 4 * time.Minute, "later answer": 6 * time.Minute}[m.Kind])
			_, _ = w.Complete(ctx, p.Proposal.ID, answers[0])
		}
	case "lost":
		w.api.set(func(a *api) { a.outcome, a.found = 3, m.Which%2 })
		w.confirm(ctx, p, answers[0])
		w.sleep(20 * time.Minute)
		_, _ = w.Status(ctx, caller, p.Proposal.ID, 1)
	}
}

// The stories above come to every end that a proposal can have.
func TestTheStoriesReachEveryState(t *testing.T) {
	seen := map[broker.State]bool{}
	for _, m := range []move{
		{"propose", 0, 0},
		{"begin", 0, 0},
		{"no", 0, 0},
		{"no", 0, 1},
		{"no", 0, 2},
		{"no", 0, 3},
		{"no", 0, 4},
		{"twice", 0, 0},
		{"dearer", 0, 0},
		{"late confirm", 0, 0},
		{"late answer", 0, 0},
		{"later answer", 0, 0},
		{"lost", 0, 0},
		{"lost", 1, 0},
		{"flow", 0, 0},
		{"flow", 0, 1},
		{"flow", 0, 2},
		{"flow", 0, 3},
	} {
		w := newWorld(t, t.TempDir())
		w.step(t, m)
		w.compare(t, t)
		for _, p := range w.live(t) {
			seen[p.State] = true
			if m.Kind == "late confirm" && (p.State != broker.Expired || !p.Spent) {
				t.Errorf("a late confirm left %s, spent %t", p.State, p.Spent)
			}
		}
		w.end(t, false)
	}
	w := newWorld(t, t.TempDir())
	for range 4 { // one more than are kept
		w.step(t, move{"propose", 0, 0})
	}
	w.step(t, move{"withdraw", 0, 0})
	w.step(t, move{"begin", 1, 0})
	w.compare(t, t)
	for _, p := range w.live(t) {
		seen[p.State] = true
	}
	for _, s := range []broker.State{
		broker.Pending, broker.Asking, broker.Created, broker.Rejected, broker.NotSent, broker.Unknown, broker.Absent, broker.Declined,
		broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled, broker.UnsupportedByClient, broker.Expired, broker.Withdrawn,
		broker.Superseded, broker.Stopped, broker.Evicted,
	} { // approved and sending pass within one call
		if !seen[s] {
			t.Errorf("no story comes to %s", s)
		}
	}
	w.end(t, true)
}

func (w *world) confirm(ctx context.Context, p broker.Proposed, a broker.Answer) {
	if _, err := w.Begin(ctx, caller, p.Token); err == nil {
		_, _ = w.Complete(ctx, p.Proposal.ID, a)
	}
}

// pick is one of the last proposals of this process.
func (w *world) pick(which int) (broker.Proposed, bool) {
	if len(w.tokens) == 0 {
		return broker.Proposed{}, false
	}
	return w.tokens[max(0, len(w.tokens)-1-which)], true
}

type failer interface{ Fatalf(string, ...any) }

func (w *world) compare(t testing.TB, f failer) {
	want := w.live(t)
	for id, p := range w.ended {
		want[id] = p
	}
	got, err := audit.Replay(w.dir, time.Time{})
	if err != nil {
		f.Fatalf("%v", err)
	}
	if len(got) != len(want) {
		f.Fatalf("%d proposals, want %d", len(got), len(want))
	}
	for _, g := range got {
		p := masked(want[g.ID])
		// Nothing happens at the instant of an expiry, so no line tells of it.
		if p.State == broker.Expired && g.State == broker.Pending && !p.Spent {
			g.State, g.Since = broker.Expired, p.Since
		}
		// The ledger has set the expiry by its own clock since the first line.
		if g.ExpiresAt.Sub(p.ExpiresAt).Abs() < time.Second {
			if g.Since.Equal(g.ExpiresAt) {
				g.Since = p.ExpiresAt
			}
			g.ExpiresAt = p.ExpiresAt
		}
		if g.State == broker.Pending { // recorded before the ledger has set it
			g.Since = p.Since
		}
		if diff := cmp.Diff(p, g, money); diff != "" {
			f.Fatalf("%s (-ledger +log)\n%s", g.ID, diff)
		}
	}
	if r, err := audit.Verify(w.dir); err != nil || !r.OK() {
		f.Fatalf("%v %s", err, r)
	}
}

// money has no exported fields; equal amounts are equal with ==.
var money = cmpopts.EquateComparable(pricing.Money{})

func TestReplayTellsOfDamage(t *testing.T) {
	w := newWorld(t, t.TempDir())
	for range 3 {
		w.step(t, move{"propose", 0, 0})
	}
	w.end(t, false)
	names, err := filepath.Glob(filepath.Join(w.dir, "audit-*.jsonl"))
	do(t, err)
	b, err := os.ReadFile(names[0])
	do(t, err)
	lines := strings.SplitAfter(string(b), "\n")
	lines[1] = strings.Replace(lines[1], "pending", "created", 1)
	do(t, os.WriteFile(names[0], []byte(strings.Join(lines, "")+`{"v":1`), 0o600))
	got, err := audit.Replay(w.dir, time.Time{})
	if len(got) != 2 {
		t.Errorf("%d proposals", len(got))
	}
	if err == nil || !strings.Contains(err.Error(), "line 2 ") || !strings.Contains(err.Error(), "line 4 was not written to its end") {
		t.Errorf("%v", err)
	}
	if got, err := audit.Replay(filepath.Join(w.dir, "nothing"), time.Time{}); got != nil || err == nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReplayFromATime(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.step(t, move{"propose", 0, 0})
	w.sleep(time.Hour)
	since := w.clock()
	w.step(t, move{"flow", 1, 0})
	w.end(t, false)
	got, err := audit.Replay(w.dir, since)
	do(t, err)
	if len(got) != 1 || got[0].State != broker.Created || got[0].Result.UUID != thing {
		t.Errorf("%+v", got)
	}
}

// Two calls may write their lines in another order than the ledger made the steps.
func TestReplayDoesNotGoBack(t *testing.T) {
	p := broker.Proposal{ID: "p-1", Caller: caller, State: broker.Pending, MintedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	for _, tc := range []struct {
		rule  string
		steps []broker.State
		want  broker.State
	}{
		{"asked after withdrawn", []broker.State{broker.Pending, broker.Withdrawn, broker.Asking}, broker.Withdrawn},
		{"asked after answered", []broker.State{broker.Pending, broker.Approved, broker.Asking, broker.Sending}, broker.Sending},
		{"unknown after created", []broker.State{broker.Sending, broker.Created, broker.Unknown}, broker.Created},
		{"unknown after absent", []broker.State{broker.Unknown, broker.Absent, broker.Unknown}, broker.Absent},
		{"created after absent", []broker.State{broker.Unknown, broker.Absent, broker.Created}, broker.Created},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			d, err := audit.OpenDir(filepath.Join(t.TempDir(), "state"))
			do(t, err)
			l, err := d.Log(audit.LogOptions{NoSync: true})
			do(t, err)
			kinds := map[broker.State]broker.EventKind{
				broker.Pending: broker.EventProposed, broker.Asking: broker.EventAsked, broker.Approved: broker.EventAnswered, broker.Sending: broker.EventSending,
				broker.Withdrawn: broker.EventWithdrawn, broker.Created: broker.EventCreated, broker.Unknown: broker.EventUnknown, broker.Absent: broker.EventResolved,
			}
			for _, s := range tc.steps {
				q := p
				q.State = s
				do(t, l.Record(t.Context(), broker.Event{Time: p.MintedAt, Kind: kinds[s], Proposal: q, Caller: caller}))
			}
			do(t, l.Close())
			got, err := audit.Replay(d.Path(), time.Time{})
			do(t, err)
			if len(got) != 1 || got[0].State != tc.want {
				t.Errorf("%+v, want %s", got, tc.want)
			}
			do(t, d.Close())
		})
	}
}
