package broker

import (
	"context"
	"errors"
	"fmt"
)

// Reconcile looks once for what became of a create whose answer was lost, and
// records what it finds: exactly one asset, which no other create may have made,
// is it; none, at the last look, is absent; others stay undecided and are
// returned.
func (b *Broker) Reconcile(ctx context.Context, id ID) (Proposal, []Asset, error) {
	p, err := b.o.Ledger.Load(ctx, id)
	if err != nil {
		return p, nil, b.ledgerFailed(ctx, err)
	}
	if p.State != Unknown && p.State != Absent {
		b.looks.known(id)
		return p, nil, nil
	}
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "unresolved creates cannot be listed", "err", err)
	}
	if v := verdictOn(intents, id); v != nil {
		return b.judged(ctx, p, *v)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, sure, err := b.mayBe(ctx, p, searchFor(intents, p))
	if err != nil {
		b.o.Log.WarnContext(ctx, "a lost create could not be looked for", "proposal", id, "err", err)
		return p, nil, fmt.Errorf("broker: look for %s: %w", id, err)
	}
	if now, err := b.o.Intents.List(ctx); err == nil {
		if v := verdictOn(now, id); v != nil { // given while it was looked for: a person has the last word
			return b.judged(ctx, p, *v)
		}
	}
	switch {
	case sure:
		p, err = b.resolve(ctx, p, Created, Result{
			Outcome: OutcomeCreated, UUID: found[0].UUID, Name: found[0].Name, State: found[0].State, Href: found[0].Href,
			Detail: "found on the provider's side after its answer was lost",
		})
	case len(found) == 0 && p.State == Unknown && b.unknownFor(p) >= finalLook:
		p, err = b.resolve(ctx, p, Absent, Result{
			Outcome: OutcomeAbsent, Name: p.Name,
			Detail: "the answer was lost, and nothing was found of it on the provider's side; this is not final",
		})
	}
	return p, found, err
}

func (b *Broker) judged(ctx context.Context, p Proposal, v Verdict) (Proposal, []Asset, error) {
	err := b.apply(ctx, p, v)
	now, lerr := b.o.Ledger.Load(ctx, p.ID)
	return now, nil, errors.Join(err, lerr)
}

// find never lets a look end the process.
func (b *Broker) find(ctx context.Context, s Search) (found []Asset, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("broker: find panicked: %v", p)
		}
	}()
	return b.o.Provider.Find(ctx, s)
}

// apply records a person's verdict.
func (b *Broker) apply(ctx context.Context, p Proposal, v Verdict) error {
	to, res := Absent, Result{Outcome: OutcomeAbsent, Name: p.Name, Detail: "a person says that it does not exist: " + Quote(v.Reason)}
	if v.UUID != "" {
		to = Created
		res = Result{Outcome: OutcomeCreated, UUID: v.UUID, Name: p.Name, Detail: "a person says that this asset is it"}
	}
	_, err := b.resolve(ctx, p, to, res)
	return err
}

// resolve ends an unknown, records it and gives up the intent. A definite
// answer that came meanwhile wins.
func (b *Broker) resolve(ctx context.Context, p Proposal, to State, res Result) (Proposal, error) {
	moved, err := b.move(ctx, Step{ID: p.ID, From: []State{Unknown, Absent}, To: to, Result: &res})
	if lost, ok := errors.AsType[*LostError](err); ok {
		return lost.Proposal, nil
	}
	if err != nil {
		return p, b.ledgerFailed(ctx, err)
	}
	b.looks.known(p.ID)
	if to == Created {
		b.looks.found(p.ID)
	}
	if err := b.record(ctx, EventResolved, moved, moved.Caller, ""); err != nil {
		return moved, err
	}
	b.release(ctx, moved)
	b.o.Log.InfoContext(ctx, "an unknown create is resolved", "proposal", p.ID, "outcome", to, "uuid", moved.ShownUUID())
	return moved, nil
}

func verdictOn(intents []Intent, id ID) *Verdict {
	for _, i := range intents {
		if i.ProposalID == id {
			return i.Verdict
		}
	}
	return nil
}

// searchFor is the search of p's intent or, where that is gone, what p itself
// still says.
func searchFor(intents []Intent, p Proposal) Search {
	for _, i := range intents {
		if i.ProposalID == p.ID {
			return i.search()
		}
	}
	s := Search{ChangeType: p.ChangeType, Name: p.Name, Since: p.MintedAt.Add(-skew)}
	if p.Payload != nil {
		s.Body = p.Payload.Body
	}
	return s
}
