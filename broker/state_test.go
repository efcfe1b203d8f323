package broker_test

import (
	"context"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger"
)

// table is design §5, written down once more on purpose.
var table = map[broker.State][]broker.State{
	broker.Pending: {broker.Asking, broker.Expired, broker.Evicted, broker.Withdrawn},
	broker.Asking: {
		broker.Approved, broker.Declined, broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled,
		broker.UnsupportedByClient, broker.Expired, broker.Withdrawn, broker.Superseded, broker.Stopped,
	},
	broker.Approved: {broker.Sending, broker.Stopped, broker.CallCancelled, broker.Expired, broker.Created},
	broker.Sending:  {broker.Created, broker.Rejected, broker.Unknown, broker.NotSent},
	broker.Unknown:  {broker.Created, broker.Absent, broker.Rejected, broker.NotSent},
	broker.Absent:   {broker.Created, broker.Absent, broker.Rejected, broker.NotSent},
}

var outcomes = map[broker.State]broker.Outcome{
	broker.Pending: "", broker.Asking: "", broker.Approved: "", broker.Sending: "",
	broker.Created: "created", broker.Rejected: "rejected", broker.Unknown: "unknown", broker.Absent: "absent",
	broker.NotSent: "not_sent", broker.Declined: "not_sent", broker.Cancelled: "not_sent", broker.TimedOut: "not_sent",
	broker.Failed: "not_sent", broker.CallCancelled: "not_sent", broker.UnsupportedByClient: "not_sent",
	broker.Expired: "not_sent", broker.Withdrawn: "not_sent", broker.Superseded: "not_sent",
	broker.Stopped: "not_sent", broker.Evicted: "not_sent",
}

func has(list []broker.State, s broker.State) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func TestEveryPairOfStates(t *testing.T) {
	for from := range outcomes {
		for to := range outcomes {
			if got, want := from.CanBecome(to), has(table[from], to); got != want {
				t.Errorf("%s to %s: %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestWhatAStateSays(t *testing.T) {
	for s, want := range outcomes {
		if got := s.Outcome(); got != want {
			t.Errorf("%s has the outcome %q, want %q", s, got, want)
		}
		if got, want := s.Settled(), len(table[s]) == 0; got != want {
			t.Errorf("%s settled: %v, want %v", s, got, want)
		}
		if got, want := s.Unresolved(), s == broker.Sending || s == broker.Unknown; got != want {
			t.Errorf("%s unresolved: %v, want %v", s, got, want)
		}
	}
}

func TestAStateOutsideTheSetIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an invented state has an outcome")
		}
	}()
	_ = broker.State("invented").Outcome()
}

// reached puts a proposal of its own into s by the steps of the table.
func reached(t *testing.T, m *ledger.Memory, n int, s broker.State) broker.ID {
	t.Helper()
	id := uuidOf(n)
	_, err := m.Add(t.Context(), broker.Proposal{
		ID: id, Hash: broker.HashRequest("x", []byte(id)), Caller: ada, Account: "a", Payload: &broker.Payload{},
	}, broker.AddOptions{Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range path(broker.Pending, s, nil) {
		p, err := m.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Move(t.Context(), broker.Step{ID: id, From: []broker.State{p.State}, To: step}); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return id
}

func path(from, to broker.State, seen []broker.State) []broker.State {
	if from == to {
		return []broker.State{}
	}
	for _, next := range table[from] {
		if has(seen, next) {
			continue
		}
		if rest := path(next, to, append(seen, from)); rest != nil {
			return append([]broker.State{next}, rest...)
		}
	}
	return nil
}

func TestALedgerRefusesWhatTheTableLacks(t *testing.T) {
	m, n := ledger.NewMemory(ledger.Options{}), 0
	for from := range outcomes {
		for to := range outcomes {
			n++
			id := reached(t, m, n, from)
			_, err := m.Move(context.Background(), broker.Step{ID: id, From: []broker.State{from}, To: to})
			p, lerr := m.Load(context.Background(), id)
			if lerr != nil {
				t.Fatal(lerr)
			}
			if want := has(table[from], to); (err == nil) != want || want && p.State != to || !want && p.State != from {
				t.Errorf("%s to %s: error %v, and it is %s", from, to, err, p.State)
			}
		}
	}
}
