package metrics

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

// page returns what is served: each series with its value.
func page(t testing.TB, m *Metrics) map[string]float64 {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(context.Background(), "GET", "/metrics", nil))
	if rec.Code != 200 {
		t.Fatalf("status %d", rec.Code)
	}
	out := map[string]float64{}
	for line := range strings.Lines(rec.Body.String()) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[name] = v
	}
	return out
}

// moved returns the series that f changed, and by how much. Buckets are left out.
func moved(t testing.TB, m *Metrics, f func()) map[string]float64 {
	t.Helper()
	before := page(t, m)
	f()
	out := map[string]float64{}
	for name, v := range page(t, m) {
		was, there := before[name]
		if !there {
			t.Errorf("%s was not there from the start", name)
		}
		if v != was && !strings.Contains(name, "_bucket") {
			out[name] = v - was
		}
	}
	return out
}

func expect(t testing.TB, rule string, got, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", rule, diff)
	}
}

func record(t testing.TB, m *Metrics, e broker.Event) {
	t.Helper()
	if err := m.Record(context.Background(), e); err != nil {
		t.Errorf("%s: %v", e.Kind, err)
	}
}

// constants returns the values of a package's constants whose names begin so.
func constants(t testing.TB, file, prefix string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, prefix) && len(v.Values) == 1 {
			if s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}

func TestEveryEventAndCodeIsThereFromTheStart(t *testing.T) {
	got := page(t, New())
	want := map[string]bool{"fabric_broker_proposals_pending": true, "fabric_broker_proposals_unknown": true}
	kinds, refusals := constants(t, "ports.go", "Event"), constants(t, "code.go", "Err")
	if len(kinds) != 16 || len(refusals) != 35 {
		t.Errorf("%d events, %d codes", len(kinds), len(refusals))
	}
	for _, k := range append(kinds, other) {
		want[fmt.Sprintf("fabric_broker_events_total{event=%q}", k)] = true
	}
	for _, c := range append(refusals, other) {
		want[fmt.Sprintf("fabric_broker_refusals_total{code=%q}", c)] = true
	}
	for _, s := range []string{"look_up", "dry_run", "price", "decision", "create", other} {
		for _, series := range []string{"sum", "count"} {
			want[fmt.Sprintf("fabric_broker_step_duration_seconds_%s{step=%q}", series, s)] = true
		}
	}
	for name, v := range got {
		if strings.Contains(name, "_bucket{") {
			continue
		}
		if !want[name] || v != 0 {
			t.Errorf("unexpected %s %g", name, v)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

func TestEveryEventIsCounted(t *testing.T) {
	m := New()
	for kind := range events {
		got := moved(t, m, func() {
			record(t, m, broker.Event{Kind: kind, Proposal: broker.Proposal{Answer: &broker.Answer{}}, Code: broker.ErrHalted})
		})
		want := map[string]float64{fmt.Sprintf("fabric_broker_events_total{event=%q}", kind): 1}
		switch kind { //nolint:exhaustive // those that say no
		case broker.EventRefused, broker.EventStopped, broker.EventExpired, broker.EventRejected, broker.EventNotSent:
			want[`fabric_broker_refusals_total{code="halted"}`] = 1
		}
		expect(t, string(kind), got, want)
	}
}

func TestEveryRefusalIsCounted(t *testing.T) {
	m := New()
	for code := range codes {
		expect(t, string(code), moved(t, m, func() { record(t, m, broker.Event{Kind: broker.EventRefused, Code: code}) }), map[string]float64{
			`fabric_broker_events_total{event="refused"}`:              1,
			fmt.Sprintf("fabric_broker_refusals_total{code=%q}", code): 1,
		})
	}
}

func TestWhatCountsAsARefusal(t *testing.T) {
	for _, tc := range []struct {
		rule string
		e    broker.Event
		want map[string]float64
	}{
		{
			"a summed one counts as many",
			broker.Event{Kind: broker.EventRefused, Code: broker.ErrTokenForged, Count: 7},
			map[string]float64{`fabric_broker_events_total{event="refused"}`: 7, `fabric_broker_refusals_total{code="token_forged"}`: 7},
		},
		{
			"a stop before an answer is refused too, and counted there",
			broker.Event{Kind: broker.EventStopped, Code: broker.ErrRequestChanged},
			map[string]float64{`fabric_broker_events_total{event="stopped"}`: 1},
		},
		{
			"an outcome without a code",
			broker.Event{Kind: broker.EventNotSent},
			map[string]float64{`fabric_broker_events_total{event="not_sent"}`: 1},
		},
		{
			"unknown values are other",
			broker.Event{Kind: "c3f1a2b4", Code: "secret"},
			map[string]float64{`fabric_broker_events_total{event="other"}`: 1},
		},
		{
			"an unknown code is other",
			broker.Event{Kind: broker.EventRefused, Code: "secret"},
			map[string]float64{`fabric_broker_events_total{event="refused"}`: 1, `fabric_broker_refusals_total{code="other"}`: 1},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			m := New()
			expect(t, tc.rule, moved(t, m, func() { record(t, m, tc.e) }), tc.want)
		})
	}
}

func TestStepsAreObserved(t *testing.T) {
	m := New()
	for _, step := range []string{StepLookUp, StepDryRun, StepPrice, StepDecision, StepCreate, "invented"} {
		label := step
		if step == "invented" {
			label = other
		}
		got := moved(t, m, func() { m.Observe(step, 1500*time.Millisecond); m.Observe(step, -time.Second) })
		expect(t, step, got, map[string]float64{
			fmt.Sprintf("fabric_broker_step_duration_seconds_sum{step=%q}", label):   1.5,
			fmt.Sprintf("fabric_broker_step_duration_seconds_count{step=%q}", label): 2,
		})
	}
}

func TestGauges(t *testing.T) {
	m := New()
	pending, unknown := 3, 1
	var failure error
	got := moved(t, m, func() {
		m.Watch(func(context.Context) (int, int, error) { return pending, unknown, failure })
	})
	expect(t, "both", got, map[string]float64{"fabric_broker_proposals_pending": 3, "fabric_broker_proposals_unknown": 1})
	pending, unknown = 0, 2
	if p := page(t, m); p["fabric_broker_proposals_pending"] != 0 || p["fabric_broker_proposals_unknown"] != 2 {
		t.Error("they stand still")
	}
	failure = errors.New("the ledger is away")
	p := page(t, m)
	if _, told := p["fabric_broker_proposals_unknown"]; told || len(p) < 10 {
		t.Errorf("what nobody knows is told, or nothing else: %v", p)
	}
}

func TestDecisionsOfPeopleAreTimed(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	answered := func(status string) broker.Event {
		return broker.Event{
			Time: at.Add(42 * time.Second), Kind: broker.EventAnswered,
			Proposal: broker.Proposal{ID: "p-1", Answer: &broker.Answer{State: broker.Approved, Status: status}},
		}
	}
	asked := broker.Event{Time: at, Kind: broker.EventAsked, Proposal: broker.Proposal{ID: "p-1"}}
	for _, tc := range []struct {
		rule   string
		events []broker.Event
		want   float64
	}{
		{"accepted", []broker.Event{asked, answered(broker.StatusAccepted)}, 42},
		{"declined", []broker.Event{asked, answered("declined")}, 42},
		{"cancelled", []broker.Event{asked, answered("cancelled")}, 42},
		{"a deadline decides nothing", []broker.Event{asked, answered("timed_out")}, 0},
		{"nor does a client that cannot ask", []broker.Event{asked, answered("unsupported_by_client")}, 0},
		{"asked elsewhere", []broker.Event{answered(broker.StatusAccepted)}, 0},
		{"answered once", []broker.Event{asked, answered(broker.StatusAccepted), answered(broker.StatusAccepted)}, 42},
		{"withdrawn first", []broker.Event{asked, {Kind: broker.EventWithdrawn, Proposal: broker.Proposal{ID: "p-1"}}, answered(broker.StatusAccepted)}, 0},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			m := New()
			for _, e := range tc.events {
				record(t, m, e)
			}
			if got := page(t, m)[`fabric_broker_step_duration_seconds_sum{step="decision"}`]; got != tc.want {
				t.Errorf("%g s, want %g", got, tc.want)
			}
			if len(m.asked.at) != 0 {
				t.Error("it is still remembered")
			}
		})
	}
}

func TestQuestionsAreRememberedInBoundedMemory(t *testing.T) {
	m := New()
	for n := range maxAsked + 10 {
		record(t, m, broker.Event{Kind: broker.EventAsked, Proposal: broker.Proposal{ID: broker.ID(fmt.Sprint(n))}})
	}
	if n := len(m.asked.at); n != maxAsked {
		t.Errorf("%d are remembered", n)
	}
}

// Whatever a caller chooses, no label has it.
func TestI9NoLabelHoldsWhatACallerChose(t *testing.T) {
	const secret = "s3cr3t"
	m := New()
	got := moved(t, m, func() {
		for kind := range events {
			record(t, m, broker.Event{
				Kind: kind, Code: secret,
				Caller:   broker.Caller{Principal: broker.Principal{Subject: secret}, ClientName: secret},
				Proposal: broker.Proposal{ID: secret, Name: secret, State: secret, Result: &broker.Result{UUID: secret}},
			})
		}
		m.Observe(secret, time.Second)
	})
	for name := range got {
		if strings.Contains(name, secret) {
			t.Error(name)
		}
	}
}

func TestManyRecordAtOnce(t *testing.T) {
	m := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 100 {
				p := broker.Proposal{ID: broker.ID(fmt.Sprint(n))}
				for _, k := range []broker.EventKind{broker.EventAsked, broker.EventAnswered} {
					if err := m.Record(context.Background(), broker.Event{Kind: k, Proposal: p}); err != nil {
						t.Error(err)
					}
				}
				m.Watch(func(context.Context) (int, int, error) { return n, 0, nil })
			}
		})
		wg.Go(func() { page(t, m) })
	}
	wg.Wait()
	if got := page(t, m)[`fabric_broker_events_total{event="asked"}`]; got != 800 {
		t.Errorf("%g", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	m := New()
	e := broker.Event{Kind: broker.EventRefused, Code: broker.ErrTokenForged}
	for b.Loop() {
		_ = m.Record(context.Background(), e)
	}
}
