package broker

import (
	"context"
	"errors"
)

// Status is a proposal and, where several assets may be what its lost create
// made, those.
type Status struct {
	Proposal   Proposal
	Candidates []Asset
	// Reveal says that this is the first report of a creation to its principal
	// after its answer was lost: a service token's uuid may be given once (I9).
	Reveal bool
}

// Status returns one proposal of the caller, or with an empty id the caller's
// most recent ones, newest first. A create whose answer was lost is looked for
// once more.
func (b *Broker) Status(ctx context.Context, c Caller, id ID, limit int) ([]Status, error) {
	var ps []Proposal
	if id != "" {
		p, err := b.load(ctx, c, id)
		if errors.Is(err, ErrProposalUnknown) {
			p, err = b.elsewhereBy(ctx, c, id, err)
		}
		if err != nil {
			return nil, err
		}
		ps = []Proposal{p}
	} else if c.Principal != (Principal{}) { // nobody has none; a query for nobody's selects all
		var err error
		if ps, err = b.o.Ledger.List(ctx, Query{Principal: c.Principal, Limit: limit}); err != nil {
			return nil, b.ledgerFailed(ctx, err)
		}
		// Unresolved ones come first: they are why somebody asks.
		ps = append(b.elsewhere(ctx, c.Principal), ps...)
	}
	out := make([]Status, len(ps))
	for i, p := range ps {
		out[i].Proposal = p
		if p.State == Unknown || p.State == Absent {
			// A look that fails changes nothing: the proposal stays unknown.
			now, found, err := b.Reconcile(ctx, p.ID)
			if err == nil {
				out[i].Proposal = now
			}
			if s := out[i].Proposal.State; s == Unknown || s == Absent {
				out[i].Candidates = found
			}
		}
		out[i].Reveal = out[i].Proposal.State == Created && b.looks.first(p.ID)
	}
	return out, nil
}

// Withdraw ends a proposal of the caller that nobody has decided yet. Of a
// pending one the token stays unspent; a question that is asked ends.
func (b *Broker) Withdraw(ctx context.Context, c Caller, id ID) (Proposal, error) {
	p, err := b.load(ctx, c, id)
	if err != nil {
		return p, err
	}
	moved, err := b.move(ctx, Step{ID: id, From: []State{Pending, Asking}, To: Withdrawn})
	if lost, ok := errors.AsType[*LostError](err); ok {
		p = lost.Proposal
		return p, &Refusal{
			Code: ErrNotPending, Message: "the proposal is " + string(p.State) + " and cannot be withdrawn",
			NextStep: afterReplay(p), Previous: previous(p), Spent: p.Spent,
		}
	}
	if err != nil {
		return p, b.ledgerFailed(ctx, err)
	}
	b.note(ctx, EventWithdrawn, moved, c, "")
	return moved, nil
}

// load returns a proposal of the caller. Another's does not exist for them (I10).
func (b *Broker) load(ctx context.Context, c Caller, id ID) (Proposal, error) {
	p, err := b.o.Ledger.Load(ctx, id)
	if errors.Is(err, ErrProposalUnknown) || err == nil && p.Caller.Principal != c.Principal {
		err = ErrProposalUnknown // in the same words: they must not tell what exists
	}
	if err != nil {
		return Proposal{}, b.ledgerFailed(ctx, err)
	}
	return p, nil
}

// Confirmation returns what became of the question: a status of
// human_confirmation and plain words. "" while nobody was asked.
func (p Proposal) Confirmation() (status, detail string) {
	if p.Answer != nil {
		return p.Answer.Status, p.Answer.Detail
	}
	switch p.State {
	case Asking:
		return string(Asking), "the person has not answered yet"
	case Withdrawn:
		if p.Spent {
			return string(Withdrawn), "the proposal was withdrawn while the person was asked"
		}
	case Superseded:
		return string(Superseded), "another confirm of the same request asks the person instead"
	case Pending, Approved, Sending, Created, Rejected, NotSent, Unknown, Absent, Declined, Cancelled,
		TimedOut, Failed, CallCancelled, UnsupportedByClient, Expired, Stopped, Evicted:
	}
	return "", ""
}

// ShownUUID returns the asset's uuid as anyone may see it: a service token's
// uuid lets its holder order, so only its last four characters show (I9).
func (p Proposal) ShownUUID() string {
	if p.Result == nil {
		return ""
	}
	if p.ChangeType == ServiceTokenCreate && p.Result.UUID != "" {
		return MaskValue(p.Result.UUID)
	}
	return p.Result.UUID
}
