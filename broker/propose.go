package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"fabricbroker/pricing"
)

// Proposed is a stored proposal and the token that confirms it.
type Proposed struct {
	Proposal   Proposal
	Validation Validation
	Request    Request
	Token      Secret
	Evicted    []Proposal
}

// Propose compiles spec, has it validated and priced, and stores it. Its errors
// are *Refusals; nothing is stored with one.
func (b *Broker) Propose(ctx context.Context, c Caller, t ChangeType, spec []byte) (Proposed, error) {
	out, err := b.propose(ctx, c, t, spec)
	if r, ok := errors.AsType[*Refusal](err); ok {
		b.note(ctx, EventRefused, Proposal{ChangeType: t, Caller: c, Hash: out.Request.Hash, Name: out.Request.Name}, c, r.Code)
	}
	return out, err
}

func (b *Broker) propose(ctx context.Context, c Caller, t ChangeType, spec []byte) (Proposed, error) {
	minted := b.now() // before the dry run: what it found must not be older than the TTL
	r, err := b.compile(t, spec, minted)
	if err != nil {
		return Proposed{}, err
	}
	out := Proposed{Request: r}
	if err := b.halted(ctx); err != nil {
		return out, err
	}
	if err := b.resolved(ctx, r.Hash); err != nil {
		return out, err
	}
	v, q, err := b.validate(ctx, r)
	if err != nil {
		return out, b.created(ctx, c, r, err)
	}
	p := Proposal{
		ID: b.o.NewID(), ChangeType: t, Name: r.Name, Hash: r.Hash, Caller: c,
		Twin: r.Twin, Account: b.o.Account.Identity, State: Pending, MintedAt: minted, Quote: q,
		Payload: &Payload{
			Spec: spec, Body: r.Mask().JSON(r.Body), Method: r.Method, Path: r.Path,
			Brief: v.Brief, Differences: v.Differences, DryRunAt: b.now(), DryRunDate: v.Date, Twins: v.Twins,
			Warnings: append(append([]Issue{}, r.Warnings...), v.Warnings...),
		},
	}
	lifetime := b.o.TTL - b.now().Sub(minted)
	p.ExpiresAt = minted.Add(b.o.TTL)
	if lifetime <= 0 {
		return out, Refuse(ErrUpstreamUnavailable, "propose again when the API answers faster",
			"the dry run took longer than a proposal lives (%s)", b.o.TTL)
	}
	if err := b.record(ctx, EventProposed, p, c, ""); err != nil {
		return out, err
	}
	added, err := b.o.Ledger.Add(ctx, p, AddOptions{Lifetime: lifetime, MaxPending: b.o.MaxPending})
	if err != nil {
		return out, b.ledgerFailed(ctx, err)
	}
	for _, e := range added.Evicted {
		b.note(ctx, EventEvicted, e, c, "")
		b.waits.wake(e.ID)
	}
	out.Proposal, out.Validation, out.Evicted = added.Proposal, v, added.Evicted
	out.Token, err = b.o.Tokens.Mint(added.Proposal, b.o.ConfirmTool)
	if err != nil {
		return out, fmt.Errorf("broker: mint a confirm token: %w", err)
	}
	return out, nil
}

// validate runs the dry run and the price side by side. Neither may take the
// process down: each recovers its own panic.
func (b *Broker) validate(ctx context.Context, r Request) (Validation, pricing.Quote, error) {
	var (
		v   Validation
		err error
		q   pricing.Quote
		wg  sync.WaitGroup
	)
	wg.Go(func() { q = b.quote(ctx, r) })
	v, err = b.dryRun(ctx, r)
	wg.Wait()
	return v, q, err
}

func (b *Broker) dryRun(ctx context.Context, r Request) (v Validation, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.ErrorContext(ctx, "dry run panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = Refuse(ErrInternal, "report this to the operator of the server", "the dry run could not be judged")
		}
	}()
	return b.o.Provider.Validate(ctx, r)
}

// quote never fails a proposal (I11).
func (b *Broker) quote(ctx context.Context, r Request) (q pricing.Quote) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.ErrorContext(ctx, "quote panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			q = pricing.Unpriced("the price could not be worked out")
		}
	}()
	return b.o.Quoter.Quote(ctx, r)
}

// resolved refuses a request whose equal may already have been created (I8):
// before the dry run, for any principal, also when another process sent it.
func (b *Broker) resolved(ctx context.Context, h Hash) error {
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "unresolved creates cannot be listed", "err", err)
		return Refuse(ErrAuditUnavailable, "nothing was sent; repair the state directory, then propose again",
			"the list of unresolved creates cannot be read")
	}
	for _, i := range intents {
		if i.Hash == h && i.Account == b.o.Account.Identity {
			return refuseUnresolved(i.ProposalID)
		}
	}
	same, err := b.o.Ledger.List(ctx, Query{Hash: h, Account: b.o.Account.Identity, States: []State{Sending, Unknown}, Limit: 1})
	if err != nil {
		return b.ledgerFailed(ctx, err)
	}
	if len(same) > 0 {
		return refuseUnresolved(same[0].ID)
	}
	return nil
}

func refuseUnresolved(id ID) *Refusal {
	return Refuse(ErrSameRequestUnresolved,
		"do not propose it again; look for the asset on the provider's side, and let an operator resolve the earlier create first",
		"the very same request was sent before (proposal %s) and its outcome is not known: it may exist and be billed", Quote(string(id)))
}

// created handles a dry run that created something: everything halts until an
// operator has looked, and the asset is told with its uuid.
func (b *Broker) created(ctx context.Context, c Caller, r Request, err error) error {
	ref, ok := errors.AsType[*Refusal](err)
	if !ok {
		b.o.Log.ErrorContext(ctx, "validate failed", "err", err)
		return Refuse(ErrInternal, "report this to the operator of the server", "the request could not be validated")
	}
	if ref.Code != ErrDryRunCreated {
		return ref
	}
	b.halt(ctx, Proposal{ChangeType: r.ChangeType, Name: r.Name, Hash: r.Hash, Caller: c, Result: ref.Result})
	return ref
}

// halt sets the stop switch because a dry run created something. The uuid also
// goes to the log: it is an asset that somebody pays for.
func (b *Broker) halt(ctx context.Context, p Proposal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	uuid := p.ShownUUID()
	b.o.Log.ErrorContext(ctx, "a dry run created an asset; everything is halted", "uuid", uuid, "change_type", p.ChangeType)
	if err := b.o.Halt.Set(ctx, "a dry run created "+uuid); err != nil {
		b.o.Log.ErrorContext(ctx, "the halt switch could not be set", "err", err)
	}
	b.note(ctx, EventHalted, p, p.Caller, ErrDryRunCreated)
}
