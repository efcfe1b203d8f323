package broker

import (
	"context"
	"errors"
	"time"
)

// Confirmed is what a confirm came to.
type Confirmed struct {
	Proposal Proposal
	Checks   Checks
	// Recorded is false where the outcome could not be recorded yet. The create
	// itself is not affected.
	Recorded bool
	// Notes are what the person and the agent should know, in plain words.
	Notes []string
}

// Complete takes the answer to a question. On an approval it sends the create
// and returns when the outcome is known or lost. The first answer wins; a later
// one gets what the first one came to.
//
// Confirmed always names the proposal; where even that could not be read it has
// no State, and nobody here knows what became of it. A non-nil error is a *Refusal: what stopped an
// approved request, or why the provider did not create it.
func (b *Broker) Complete(ctx context.Context, id ID, a Answer) (Confirmed, error) {
	defer b.work.enter()()
	// What follows an answer is recorded even when the caller is gone.
	detached := context.WithoutCancel(ctx)
	p, err := b.o.Ledger.Load(detached, id)
	if err != nil {
		return Confirmed{Proposal: Proposal{ID: id}, Recorded: true}, b.ledgerFailed(ctx, err)
	}
	if p.State != Asking { // an answer that comes second needs no step to be told
		return b.Outcome(ctx, id)
	}
	if b.now().After(p.AskUntil) {
		// The asking deadline decides before anything else.
		a = Answer{State: TimedOut, Status: string(TimedOut), Channel: a.Channel, Detail: "the answer came after the deadline"}
	}
	step := Step{ID: id, From: []State{Asking}, To: a.State, Answer: &a, Unexpired: a.State == Approved}
	moved, err := b.move(detached, step)
	if errors.Is(err, ErrTokenExpired) {
		step.To, step.Unexpired = Expired, false
		moved, err = b.move(detached, step)
	}
	if lost, ok := errors.AsType[*LostError](err); ok {
		return b.Outcome(ctx, lost.Proposal.ID)
	}
	if err != nil {
		return b.finish(p, b.ledgerFailed(ctx, err))
	}
	b.answered(detached, moved)
	if moved.State != Approved {
		return b.finish(moved, nil)
	}
	if a.Hash != "" && a.Hash != moved.Hash { // altered between the question and the answer
		return b.stopped(detached, moved, refuseChanged())
	}
	return b.send(ctx, moved)
}

// Outcome waits until a proposal has ended and returns what it came to: for a
// retry that was sent again, and for an answer that came second. When ctx ends
// first, that is how far it is.
func (b *Broker) Outcome(ctx context.Context, id ID) (Confirmed, error) {
	p, err := b.Wait(ctx, id, Asking, Approved, Sending)
	if _, refused := errors.AsType[*Refusal](err); refused {
		return Confirmed{Proposal: Proposal{ID: id}, Recorded: true}, err
	}
	return b.finish(p, nil)
}

// answered counts and records an answer.
func (b *Broker) answered(ctx context.Context, p Proposal) {
	if p.State == Declined || p.State == Cancelled {
		b.limits.no(p.Caller.Principal, b.now())
	}
	b.note(ctx, EventAnswered, p, p.Caller, "")
	if p.State == Expired {
		b.note(ctx, EventExpired, p, p.Caller, ErrTokenExpired)
	}
}

// finish turns an ended proposal into what its caller is told. err, when not
// nil, is the fresh refusal; otherwise it is rebuilt from the record.
func (b *Broker) finish(p Proposal, err error) (Confirmed, error) {
	ok := Checks{yes(true), yes(true), yes(true), yes(true), yes(true)}
	switch {
	case p.State == Expired:
		ok.NotExpired = yes(false)
	case p.Code == ErrRequestChanged:
		ok.RequestMatchesBinding = yes(false)
	}
	c := Confirmed{Proposal: p, Checks: ok, Recorded: true}
	if err == nil {
		err = recorded(p)
	}
	if r, is := errors.AsType[*Refusal](err); is {
		r.Checks, r.Spent = &c.Checks, true
		return c, r
	}
	return c, err
}

// recorded is the refusal that a proposal's record amounts to, nil where its
// end is no error.
func recorded(p Proposal) error {
	switch p.State {
	case Expired:
		return Refuse(ErrTokenExpired, "propose the change again if it is still wanted", "the answer came after the proposal had expired; nothing was sent")
	case Created:
		if p.Code != ErrDryRunCreated {
			return nil
		}
	case Stopped, Rejected, NotSent:
	case Pending, Asking, Approved, Sending, Unknown, Absent, Declined, Cancelled, TimedOut,
		Failed, CallCancelled, UnsupportedByClient, Withdrawn, Superseded, Evicted:
		return nil
	}
	r := &Refusal{Code: p.Code, Message: "nothing was sent", NextStep: nextStep(p.Code)}
	if p.Result != nil {
		r.Upstream = p.Result.Upstream
		if p.Result.Detail != "" {
			r.Message = p.Result.Detail
		}
		if r.Code == "" {
			r.Code = p.Result.Code
			r.NextStep = nextStep(r.Code)
		}
	}
	if r.Code == "" {
		r.Code = ErrInternal
	}
	return r
}

// nextStep says what to do after an end that is not the person's no.
func nextStep(c Code) string {
	if s, ok := nextSteps[c]; ok {
		return s
	}
	return "read the error, correct the spec where it names one, then propose the change again"
}

var nextSteps = map[Code]string{
	ErrSameRequestUnresolved: "do not propose it again; an earlier create of the same request must be resolved first",
	ErrDryRunCreated:         "an operator must look at what was created, and end the halt with fabric-broker resume",
	ErrHalted:                "an operator must look into it, and end the halt with fabric-broker resume",
	ErrPriceChanged:          "show the person the new price, then propose the change again",
	ErrUpstreamUnauthorized:  "an operator must check the API credentials",
	ErrDailyCeiling:          "an operator can raise EQUINIX_MCP_MAX_CREATES_PER_DAY, or wait until tomorrow",
	ErrAuditUnavailable:      "an operator must make the record writable again; then propose the change again",
	ErrLedgerUnavailable:     "an operator must make the record writable again; then propose the change again",
}

// stop ends a proposal that must not be sent, and says so to its caller. The
// refusal is stored too, so that a re-sent retry reads the same.
func (b *Broker) stop(ctx context.Context, p Proposal, r *Refusal) error {
	ctx = context.WithoutCancel(ctx)
	moved, err := b.move(ctx, Step{
		ID: p.ID, From: []State{p.State}, To: Stopped, Code: r.Code,
		Result: &Result{Outcome: OutcomeNotSent, Code: r.Code, Upstream: r.Upstream, Detail: r.Message},
	})
	if lost, ok := errors.AsType[*LostError](err); ok {
		_, err := b.finish(lost.Proposal, nil)
		return err
	}
	if err != nil {
		return b.ledgerFailed(ctx, err)
	}
	b.note(ctx, EventStopped, moved, moved.Caller, r.Code)
	_, err = b.finish(moved, r)
	return err
}

// move makes a step and wakes whoever waits for it.
func (b *Broker) move(ctx context.Context, s Step) (Proposal, error) {
	m, err := b.o.Ledger.Move(ctx, s)
	if err != nil {
		return m.Proposal, err
	}
	b.waits.wake(s.ID)
	for _, p := range m.Superseded {
		b.note(ctx, EventSuperseded, p, p.Caller, "")
		b.waits.wake(p.ID)
	}
	return m.Proposal, nil
}

// zeroTime has Compile skip the rules that look at the clock.
var zeroTime time.Time
