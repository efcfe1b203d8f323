package broker_test

import (
	"context"
	"testing"
	"time"

	"fabricbroker/broker"
)

// settleAs has a create of ada's come to o.
func (w *world) settleAs(t *testing.T, o broker.Outcome, spec string) broker.ID {
	t.Helper()
	p := w.proposeAs(t, ada, []byte(spec))
	w.begin(t, ada, p)
	w.provider.set(func(f *provider) { f.create = outcome(o, 0) })
	if _, err := w.Complete(t.Context(), p.Proposal.ID, yes); err != nil {
		t.Fatal(err)
	}
	return p.Proposal.ID
}

// One asset is one create's. A lost create that looks for itself must not take
// what another one made: it would hide that it made a second one, or none.
func TestALostCreateTakesNoOtherCreatesAsset(t *testing.T) {
	const one, other = `{"name":"thing","po":1}`, `{"name":"thing","po":2}`
	asset := broker.Asset{UUID: uuid, Name: "thing"}
	for rule, tc := range map[string]struct {
		second broker.Outcome
		// now and last are the states of the first at once and after its last look.
		now, last  broker.State
		candidates int
	}{
		"the second made it":      {broker.OutcomeCreated, broker.Unknown, broker.Absent, 0},
		"the second lost its too": {broker.OutcomeUnknown, broker.Unknown, broker.Unknown, 1},
	} {
		t.Run(rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				first := w.settleAs(t, broker.OutcomeUnknown, one)
				second := w.settleAs(t, tc.second, other)
				w.provider.set(func(p *provider) { p.find = func() []broker.Asset { return []broker.Asset{asset} } })
				for _, want := range []broker.State{tc.now, tc.last} {
					got, err := w.Status(t.Context(), ada, first, 0)
					if err != nil || got[0].Proposal.State != want || len(got[0].Candidates) != tc.candidates {
						t.Errorf("got %s with %v, %v; want %s", got[0].Proposal.State, got[0].Candidates, err, want)
					}
					time.Sleep(16 * time.Minute)
				}
				w.in(t, second, broker.State(tc.second), true)
				w.creates(t, 2)
			})
		})
	}
}

// A refusal for what is in use may be our own create's doing, but not where what
// is in use is another create's.
func TestARefusalForWhatAnotherCreateMadeIsARefusal(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.settleAs(t, broker.OutcomeCreated, `{"name":"thing","po":1}`)
		p := w.proposeAs(t, ada, []byte(`{"name":"thing","po":2}`))
		w.begin(t, ada, p)
		w.provider.set(func(f *provider) {
			f.create = func(context.Context, broker.Request) broker.Result {
				w.provider.set(func(f *provider) {
					f.find = func() []broker.Asset { return []broker.Asset{{UUID: uuid, Name: "thing"}} }
				})
				return broker.Result{Outcome: broker.OutcomeUnknown, Code: broker.ErrUpstreamRejected, Detail: "in use"}
			}
		})
		c, err := w.Complete(t.Context(), p.Proposal.ID, yes)
		refused(t, err, broker.ErrUpstreamRejected)
		if c.Proposal.State != broker.Rejected {
			t.Errorf("it is %s", c.Proposal.State)
		}
	})
}
