package broker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// A person's verdict is their last word also where it comes during a look.
func TestAVerdictDuringALookCounts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.settleAs(t, broker.OutcomeUnknown, `{"name":"thing"}`)
		const theirs = "00000000-996b-4b59-8e21-8927e7b98058"
		w.provider.set(func(p *provider) {
			p.find = func() []broker.Asset {
				w.intents.judge(id, broker.Verdict{UUID: theirs})
				return []broker.Asset{{UUID: uuid, Name: "thing"}}
			}
		})
		if got, _, err := w.Reconcile(t.Context(), id); err != nil || got.State != broker.Created || got.Result.UUID != theirs {
			t.Errorf("got %s as %+v, %v", got.State, got.Result, err)
		}
	})
}

// A process that ended between recording that nothing was found and giving the
// request free must not keep it refused for ever.
func TestTheHeirOfAnAbsentOneGivesItsRequestFree(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.settleAs(t, broker.OutcomeUnknown, string(spec))
		w.provider.set(func(p *provider) { p.find = func() []broker.Asset { return nil } })
		w.intents.setFail(func(op string) error {
			if op == "settle" {
				return errFault
			}
			return nil
		})
		if _, _, err := w.Reconcile(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(16 * time.Minute)
		absent, _, err := w.Reconcile(t.Context(), id)
		if err != nil || absent.State != broker.Absent {
			t.Fatalf("%s, %v", absent.State, err)
		}
		w.intents.setFail(nil)
		w.intents.heir = true
		w.restart()
		w.ledger.Restore(absent)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go w.Run(ctx)
		synctest.Wait()
		w.propose(t)
	})
}
