package broker_test

import (
	"context"
	"slices"
	"time"

	"fabricbroker/broker"
)

// watchCreate looks at the world in the moment in which the first byte leaves.
func (w *world) watchCreate(r broker.Request, id broker.ID, sendBy time.Time) {
	now := w.clock.now()
	w.provider.mu.Lock()
	passed, calls := w.provider.passed[string(r.Body)], slices.Clone(w.provider.calls)
	w.provider.mu.Unlock()
	if !passed { // I1: only bytes that passed a dry run
		w.find("I1: %s sent %s, which never passed a dry run", id, r.Body)
	}
	for _, c := range calls {
		switch {
		case c.id == id: // I2: at most one create
			w.find("I2: %s is sent twice", id)
		case c.hash == r.Hash && c.outcome == broker.OutcomeUnknown: // I8, I12: nothing of this hash is unresolved
			w.find("I12: %s is sent while its equal %s is under way or unknown", id, c.id)
		}
	}
	p, err := w.ledger.Memory.Load(context.Background(), id)
	switch {
	case err != nil:
		w.find("I7: %s is sent and is in no ledger: %v", id, err)
		return
	case p.State != broker.Sending:
		w.find("I7: %s is sent while it is %s", id, p.State)
	case p.Answer == nil || p.Answer.State != broker.Approved: // I3: an approval of that very proposal
		w.find("I3: %s is sent with the answer %+v", id, p.Answer)
	}
	hash := broker.HashRequest(r.ChangeType, r.Body)
	if w.mu.Lock(); w.shown[id] != hash || p.Hash != hash || r.Hash != hash { // I4: shown, bound and sent
		w.mu.Unlock()
		w.find("I4: %s sends %s, was shown %s and bound %s", id, hash, w.shown[id], p.Hash)
	} else {
		w.mu.Unlock()
	}
	if !now.Before(sendBy) || !sendBy.Equal(p.SendBy) { // I6: not after its deadline
		w.find("I6: %s is sent at %s, to be sent by %s (on record %s)", id, now, sendBy, p.SendBy)
	}
	if reason, _ := w.halt.Halted(context.Background()); reason != "" {
		w.find("I6: %s is sent while everything is halted: %s", id, reason)
	}
	if holder := w.intents.holder(r.Hash); holder != id { // I7: the intent stands
		w.find("I7: %s is sent without its intent; %q holds it", id, holder)
	}
	if w.recorder.count(broker.EventSending, id) != 1 { // I7: and the record of it
		w.find("I7: %s is sent without a record of it", id)
	}
}

// watchStep looks at what a ledger is asked to do: the expiry is a condition of
// the step itself, whatever a ledger does on its own (I6).
func (w *world) watchStep(s broker.Step) {
	if !s.From[0].CanBecome(s.To) {
		return // no ledger does that
	}
	if (s.To == broker.Asking || s.To == broker.Approved || s.To == broker.Sending) && !s.Unexpired {
		w.find("I6: the step to %s does not carry the expiry", s.To)
	}
	if s.To == broker.Asking && !s.Spend { // I5
		w.find("I5: the step to asking does not spend")
	}
}

// watchMove looks at every step that a ledger made.
func (w *world) watchMove(was broker.State, p broker.Proposal) {
	if !was.CanBecome(p.State) {
		w.find("%s went from %s to %s", p.ID, was, p.State)
	}
	if now := w.clock.now(); p.State == broker.Sending && !now.Before(p.ExpiresAt) {
		w.find("I6: %s goes to sending at %s and expired at %s", p.ID, now, p.ExpiresAt)
	}
	if p.State == broker.Sending && p.Answer.State != broker.Approved {
		w.find("I3: %s goes to sending with %+v", p.ID, p.Answer)
	}
}

// check looks at everything that must hold between any two steps.
func (w *world) check() {
	ctx := context.Background()
	all, _ := w.ledger.Memory.List(ctx, broker.Query{})
	calls := map[broker.ID]call{}
	for _, c := range w.provider.log() {
		calls[c.id] = c
	}
	live := map[broker.Hash]int{}
	for _, p := range all {
		c, sent := calls[p.ID]
		if p.State.Unresolved() {
			live[p.Hash]++
		}
		if p.State == broker.Unknown && w.intents.holder(p.Hash) != p.ID { // I8: kept until resolved
			w.find("I8: %s is unknown and its intent is gone", p.ID)
		}
		if sent && p.State != broker.Sending && p.State.Outcome() != c.outcome { // I8, I11: never another outcome
			w.find("I11: the create of %s came to %s and is on record as %s", p.ID, c.outcome, p.State)
		}
		if !sent && slices.Contains([]broker.State{broker.Unknown, broker.Rejected}, p.State) {
			w.find("%s is %s though nothing was sent", p.ID, p.State)
		}
		if p.State != broker.Pending && p.State != broker.Expired && p.State != broker.Withdrawn && p.State != broker.Evicted && !p.Spent {
			w.find("I5: %s is %s and its token is unspent", p.ID, p.State)
		}
		if p.State.Settled() && p.Payload != nil {
			w.find("%s is %s and keeps its payload", p.ID, p.State)
		}
	}
	for h, n := range live {
		if n > 1 { // I12: one of a kind
			w.find("I12: %d proposals of %s are sending or unknown", n, h)
		}
	}
}
