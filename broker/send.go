package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// beforeTimeout bounds the search for what matches before the create is sent.
const beforeTimeout = 10 * time.Second

// send takes an approved proposal to the provider, once. Until the step to
// sending everything can still stop it; from then on the work is detached from
// the caller and has its own deadline.
func (b *Broker) send(ctx context.Context, p Proposal) (Confirmed, error) {
	if ctx.Err() != nil {
		return b.cancelled(ctx, p)
	}
	hook("approved")
	detached := context.WithoutCancel(ctx)
	r, refusal := b.maySend(ctx, p)
	if refusal != nil {
		return b.stopped(detached, p, refusal)
	}
	intent := b.intent(ctx, p, r)
	if err := b.claim(detached, intent); err != nil {
		return b.stopped(detached, p, asRefusal(err))
	}
	hook("claimed")
	notes, err := b.recheck(ctx, p, r)
	if err != nil {
		return b.stopClaimed(ctx, p, err)
	}
	if ctx.Err() != nil { // the last moment at which a cancel counts
		b.release(detached, p)
		return b.cancelled(ctx, p)
	}
	if err := b.halted(detached); err != nil { // set during the last dry run
		b.release(detached, p)
		return b.stopped(detached, p, asRefusal(err))
	}
	hook("rechecked")
	sending, err := b.move(detached, Step{
		ID: p.ID, From: []State{Approved}, To: Sending,
		Unexpired: true, MaxCreates: b.o.MaxCreates, SendBy: intent.SendBy,
	})
	if err != nil {
		return b.notSending(detached, p, err)
	}
	hook("sending")
	c, err := b.create(detached, sending, r, intent)
	c.Notes = append(c.Notes, notes...)
	return c, err
}

// maySend recompiles an approved request and refuses what must not be sent.
func (b *Broker) maySend(ctx context.Context, p Proposal) (Request, *Refusal) {
	r, err := b.compiled(p)
	switch {
	case err != nil || !b.binds(p, r, p.Hash):
		return r, refuseChanged()
	case b.o.Preview: // another process, which is live, may have asked
		return r, refusePreview("nothing was sent")
	}
	if err := b.halted(ctx); err != nil {
		return r, asRefusal(err)
	}
	return r, nil
}

// intent describes the create before it is sent. What already matches it on the
// provider's side cannot be what it made; where that cannot be read, its time
// alone must tell.
func (b *Broker) intent(ctx context.Context, p Proposal, r Request) Intent {
	i := Intent{
		Account: p.Account, ProposalID: p.ID, ChangeType: p.ChangeType, Name: p.Name, Hash: p.Hash, Twin: p.Twin,
		Principal: p.Caller.Principal, MintedAt: p.MintedAt, Path: r.Path, Request: r.Mask().JSON(r.Body),
		Since: p.MintedAt.Add(-skew),
	}
	if d := p.Payload.DryRunDate; !d.IsZero() {
		i.Since = d.Add(-skew)
	}
	ctx, cancel := context.WithTimeout(ctx, beforeTimeout)
	defer cancel()
	before, err := b.find(ctx, i.search())
	if err != nil {
		b.o.Log.WarnContext(ctx, "what matches the request before it is sent could not be read", "proposal", p.ID, "err", err)
	}
	for _, a := range before {
		i.Before = append(i.Before, a.UUID)
	}
	i.ClaimedAt = b.now()
	i.SendBy = i.ClaimedAt.Add(recheckTimeout + b.o.CreateTimeout)
	return i
}

// claim makes the intent durable before anything can leave (I7, I12).
func (b *Broker) claim(ctx context.Context, i Intent) error {
	err := b.o.Intents.Claim(ctx, i)
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrSameRequestUnresolved) {
		if ref, ok := errors.AsType[*Refusal](err); ok {
			return ref
		}
		return Refuse(ErrSameRequestUnresolved, nextStep(ErrSameRequestUnresolved), "the very same request is being sent, or was sent and its outcome is not known")
	}
	if errors.Is(err, ErrLedgerUnavailable) { // where intents are rows of the ledger
		return b.ledgerFailed(ctx, err)
	}
	b.o.Log.ErrorContext(ctx, "intent not written", "proposal", i.ProposalID, "err", err)
	return Refuse(ErrAuditUnavailable, nextStep(ErrAuditUnavailable), "the intent to create could not be written and synced; nothing was sent")
}

// release gives a claim back. Only where no byte can have left, or where the
// outcome is on record. What cannot be given back Run tries again.
func (b *Broker) release(ctx context.Context, p Proposal) {
	err := b.o.Intents.Settle(ctx, p.Account, p.Hash, p.ID)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "intent not removed; the same request stays refused", "proposal", p.ID, "err", err)
	}
	b.claims.ended(p, err == nil)
}

// stopClaimed ends a proposal that its last dry run or price has stopped. A dry
// run that created something counts as its create: nothing more is sent.
func (b *Broker) stopClaimed(ctx context.Context, p Proposal, err error) (Confirmed, error) {
	cancelled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	r := asRefusal(err)
	if r.Code != ErrDryRunCreated {
		b.release(ctx, p)
		if cancelled {
			return b.cancelled(ctx, p)
		}
		return b.stopped(ctx, p, r)
	}
	res := Result{Outcome: OutcomeCreated, Code: ErrDryRunCreated, Detail: r.Message, Name: p.Name}
	if r.Result != nil {
		res.UUID, res.State, res.Href = r.Result.UUID, r.Result.State, r.Result.Href
	}
	made := p
	made.Result = &res
	b.halt(ctx, made)
	c := b.settle(ctx, p, Created, ErrDryRunCreated, res)
	return c, recordedWith(c)
}

// notSending explains why the step to sending was refused. Nothing has left.
func (b *Broker) notSending(ctx context.Context, p Proposal, err error) (Confirmed, error) {
	b.release(ctx, p)
	lost, isLost := errors.AsType[*LostError](err)
	switch {
	case isLost:
		return b.finish(lost.Proposal, nil)
	case errors.Is(err, ErrTokenExpired):
		moved, merr := b.move(ctx, Step{ID: p.ID, From: []State{Approved}, To: Expired})
		if merr != nil {
			return b.finish(p, b.ledgerFailed(ctx, merr))
		}
		b.note(ctx, EventExpired, moved, moved.Caller, ErrTokenExpired)
		return b.finish(moved, nil)
	case errors.Is(err, ErrSameRequestUnresolved):
		return b.stopped(ctx, p, Refuse(ErrSameRequestUnresolved, nextStep(ErrSameRequestUnresolved), "the very same request is being sent, or was sent and its outcome is not known"))
	case errors.Is(err, ErrDailyCeiling):
		return b.stopped(ctx, p, Refuse(ErrDailyCeiling, nextStep(ErrDailyCeiling), "%d creates were sent in the last 24 hours, which is the ceiling; nothing was sent", b.o.MaxCreates))
	case errors.Is(err, ErrHalted):
		return b.stopped(ctx, p, Refuse(ErrHalted, nextStep(ErrHalted), "everything that could create is halted; nothing was sent"))
	}
	// The step may stand although its answer was lost. Nothing has left, so if it
	// does, this is how it ended.
	refusal := b.ledgerFailed(ctx, err)
	if moved, merr := b.move(ctx, Step{
		ID: p.ID, From: []State{Sending}, To: NotSent, Code: ErrLedgerUnavailable,
		Result: &Result{Outcome: OutcomeNotSent, Code: ErrLedgerUnavailable, Name: p.Name, Detail: "the ledger could not be reached; nothing was sent"},
	}); merr == nil {
		p = moved
	}
	return b.finish(p, refusal)
}

// create sends the request and settles the proposal. It is the only caller of
// Provider.Create, and calls it once (I2).
func (b *Broker) create(ctx context.Context, p Proposal, r Request, i Intent) (Confirmed, error) {
	var res Result
	err := b.record(ctx, EventSending, p, p.Caller, "")
	if err == nil {
		err = b.halted(ctx) // set since the step to sending
	}
	switch {
	case err != nil: // no record, no send
		ref := asRefusal(err)
		res = Result{Outcome: OutcomeNotSent, Code: ref.Code, Detail: ref.Message + "; nothing was sent"}
	case !b.now().Before(p.SendBy): // the process was stopped meanwhile; others may have taken over
		res = Result{Outcome: OutcomeNotSent, Code: ErrUpstreamUnavailable, Detail: "the time in which it could be sent was over before the first byte left; nothing was sent"}
	default:
		hook("recorded")
		res = b.sendOnce(ctx, r, p)
		hook("answered")
	}
	if res.Outcome == OutcomeUnknown && res.Code == ErrUpstreamRejected {
		res = b.ours(ctx, p, res, i)
	}
	c := b.settle(ctx, p, stateOf(res.Outcome), res.Code, res)
	if c.Proposal.State == Unknown {
		b.look(c.Proposal)
	}
	return c, recordedWith(c)
}

// ours decides about a refusal that our own create may have caused: a VLAN that
// is in use may be in use by what was just made. Only after a look that found
// none of ours it is a refusal.
func (b *Broker) ours(ctx context.Context, p Proposal, res Result, i Intent) Result {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, sure, err := b.mayBe(ctx, p, i.search())
	switch {
	case err == nil && len(found) == 0:
		res.Outcome = OutcomeRejected
	case sure:
		f := found[0]
		return Result{Outcome: OutcomeCreated, UUID: f.UUID, Name: f.Name, State: f.State, Href: f.Href, CorrelationID: res.CorrelationID}
	default:
		res.Code = ""
	}
	return res
}

func (b *Broker) sendOnce(ctx context.Context, r Request, p Proposal) (res Result) {
	ctx, cancel := context.WithTimeout(ctx, b.o.CreateTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			b.o.Log.ErrorContext(ctx, "create panicked", "proposal", p.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			res = Result{Outcome: OutcomeUnknown, Detail: "the server failed while the create was under way"}
		}
	}()
	return b.o.Provider.Create(ctx, r, p.ID, p.SendBy)
}

func stateOf(o Outcome) State {
	switch o {
	case OutcomeCreated:
		return Created
	case OutcomeRejected:
		return Rejected
	case OutcomeNotSent:
		return NotSent
	case OutcomeUnknown, OutcomeAbsent, OutcomeNone:
	}
	return Unknown // an outcome that is none of the four proves nothing (I8)
}

func (b *Broker) stopped(ctx context.Context, p Proposal, r *Refusal) (Confirmed, error) {
	err := b.stop(ctx, p, r)
	if now, lerr := b.o.Ledger.Load(ctx, p.ID); lerr == nil {
		p = now
	}
	return b.finish(p, err)
}

// cancelled ends an approved proposal whose call was cancelled before sending.
func (b *Broker) cancelled(ctx context.Context, p Proposal) (Confirmed, error) {
	ctx = context.WithoutCancel(ctx)
	a := Answer{State: CallCancelled, Status: string(CallCancelled), Detail: "the call was cancelled before anything was sent"}
	if p.Answer != nil {
		a.Channel, a.By = p.Answer.Channel, p.Answer.By
	}
	moved, err := b.move(ctx, Step{ID: p.ID, From: []State{Approved}, To: CallCancelled, Answer: &a})
	if err != nil {
		return b.finish(p, b.ledgerFailed(ctx, err))
	}
	b.note(ctx, EventAnswered, moved, moved.Caller, "")
	return b.finish(moved, nil)
}

func asRefusal(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	return Refuse(ErrInternal, "report this to the operator of the server", "the request could not be checked again; nothing was sent")
}
