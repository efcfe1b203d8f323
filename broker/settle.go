package broker

import (
	"context"
	"errors"
	"fmt"
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
	moved, err := b.settleOnce(ctx, ended)
	if err == nil {
		ended = moved
	} else {
		b.o.Log.ErrorContext(ctx, "an outcome is not on record yet", "proposal", p.ID, "outcome", res.Outcome, "uuid", ended.ShownUUID())
		done := b.unrecorded.enter()
		go func() { defer done(); b.settleUntil(ctx, ended, err) }()
	}
	c, _ := b.finish(ended, nil)
	c.Recorded = err == nil
	return c
}

// errNever says that an outcome can never be put on record: the row is gone, or
// it has ended in another way.
var errNever = errors.New("broker: the record does not take this outcome")

// settleOnce tries to record everything once: the state, the event, and last
// the removal of the intent, which only a recorded and known outcome allows.
func (b *Broker) settleOnce(ctx context.Context, p Proposal) (Proposal, error) {
	moved, err := b.move(ctx, Step{ID: p.ID, From: from(p.State), To: p.State, Code: p.Code, Result: p.Result})
	if err != nil {
		now, lerr := b.o.Ledger.Load(ctx, p.ID)
		_, lost := errors.AsType[*LostError](err)
		switch {
		case lerr == nil && now.State == p.State: // an earlier try stands
			moved = now
		case lerr == nil && lost && p.State == Unknown && Unknown.CanBecome(now.State):
			return now, nil // a look of another process has found out meanwhile
		case errors.Is(lerr, ErrProposalUnknown), lerr == nil && lost && !now.State.CanBecome(p.State):
			return p, fmt.Errorf("%w: %w", errNever, err)
		default:
			b.o.Log.ErrorContext(ctx, "outcome not recorded", "proposal", p.ID, "err", err)
			return p, err
		}
	}
	hook("settled")
	if err := b.record(ctx, eventOf[p.State], moved, moved.Caller, p.Code); err != nil {
		return moved, err
	}
	hook("told")
	if p.State != Unknown {
		b.release(ctx, p)
	}
	return moved, nil
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

// settleUntil records an outcome until it stands, or never can. Drain waits for
// it. err is why it does not stand yet.
func (b *Broker) settleUntil(ctx context.Context, p Proposal, err error) {
	for ; err != nil; _, err = b.settleOnce(ctx, p) {
		if errors.Is(err, errNever) {
			b.note(ctx, eventOf[p.State], p, p.Caller, p.Code) // the audit log may still take it
			b.o.Log.ErrorContext(ctx, "an outcome cannot be recorded any more: a person must", "proposal", p.ID,
				"outcome", p.State, "uuid", p.ShownUUID(), "err", err)
			return
		}
		<-time.After(recordEvery)
	}
	b.o.Log.InfoContext(ctx, "the outcome is on record now", "proposal", p.ID)
}

// recordedWith is the error that goes with a settled create.
func recordedWith(c Confirmed) error {
	err := recorded(c.Proposal)
	if r, ok := err.(*Refusal); ok { //nolint:errorlint // recorded returns it bare
		r.Checks, r.Spent = &c.Checks, true
	}
	return err
}
