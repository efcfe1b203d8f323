package broker

import (
	"context"
	"time"
)

// recordEvery is how often a record that could not be made is tried again.
const recordEvery = 2 * time.Second

var eventOf = map[State]EventKind{
	Created: EventCreated, Rejected: EventRejected, Unknown: EventUnknown, NotSent: EventNotSent,
}

// settle puts an outcome on record. Nothing that goes wrong here changes the
// answer (I11): the caller gets the outcome, the log gets the uuid, and
// recording goes on in the background until it stands.
func (b *Broker) settle(ctx context.Context, p Proposal, to State, code Code, res Result) Confirmed {
	if to == Unknown {
		res.Outcome = OutcomeUnknown // whatever else the provider called it
	}
	ended := p
	ended.State, ended.Code, ended.Result, ended.Since = to, code, &res, b.now()
	moved, recorded := b.settleOnce(ctx, ended)
	if recorded {
		ended = moved
	} else {
		b.o.Log.ErrorContext(ctx, "an outcome is not on record yet", "proposal", p.ID, "outcome", res.Outcome, "uuid", ended.ShownUUID())
		done := b.unrecorded.enter()
		go func() { defer done(); b.settleUntil(ctx, ended) }()
	}
	c, _ := b.finish(ended, nil)
	c.Recorded = recorded
	return c
}

// settleOnce tries to record everything once: the state, the event, and last
// the removal of the intent, which only a recorded and known outcome allows.
func (b *Broker) settleOnce(ctx context.Context, p Proposal) (Proposal, bool) {
	moved, err := b.move(ctx, Step{ID: p.ID, From: from(p.State), To: p.State, Code: p.Code, Result: p.Result})
	if err != nil {
		now, lerr := b.o.Ledger.Load(ctx, p.ID)
		if lerr != nil || now.State != p.State {
			b.o.Log.ErrorContext(ctx, "outcome not recorded", "proposal", p.ID, "err", err)
			return p, false
		}
		moved = now // an earlier try stands
	}
	hook("settled")
	if b.record(ctx, eventOf[p.State], moved, moved.Caller, p.Code) != nil {
		return moved, false
	}
	hook("told")
	if p.State != Unknown {
		b.release(ctx, p)
	}
	return moved, true
}

// from are the states that an outcome may follow. The sender's own answer also
// ends what another process has meanwhile taken over as unknown.
func from(to State) []State {
	switch to { //nolint:exhaustive // the outcomes of a create
	case Created:
		return []State{Approved, Sending, Unknown, Absent}
	case Rejected, NotSent:
		return []State{Sending, Unknown, Absent}
	}
	return []State{Sending}
}

// settleUntil records an outcome until it stands. Drain waits for it.
func (b *Broker) settleUntil(ctx context.Context, p Proposal) {
	for {
		<-time.After(recordEvery)
		if _, ok := b.settleOnce(ctx, p); ok {
			b.o.Log.InfoContext(ctx, "the outcome is on record now", "proposal", p.ID)
			return
		}
	}
}

// recordedWith is the error that goes with a settled create.
func recordedWith(c Confirmed) error {
	err := recorded(c.Proposal)
	if r, ok := err.(*Refusal); ok { //nolint:errorlint // recorded returns it bare
		r.Checks, r.Spent = &c.Checks, true
	}
	return err
}
