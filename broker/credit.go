package broker

import (
	"context"
	"slices"
	"strings"
)

// mayBe returns the assets that s finds and that the lost create of p may have made,
// and whether a single one is surely it. What another create is on record as
// having made is not among them, and one that another unresolved create may have
// made just as well is nobody's until that one is resolved: two bills under one
// uuid would hide one of them.
func (b *Broker) mayBe(ctx context.Context, p Proposal, s Search) (found []Asset, sure bool, err error) {
	found, err = b.find(ctx, s)
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	made, err := b.o.Ledger.List(ctx, Query{Account: p.Account, States: []State{Created}})
	if err != nil {
		return nil, false, err
	}
	made = append(made, b.told(p.MintedAt)...)
	found = slices.DeleteFunc(found, func(a Asset) bool {
		return slices.ContainsFunc(made, func(e Proposal) bool { return e.ID != p.ID && e.made(a) })
	})
	if len(found) != 1 {
		return found, false, nil
	}
	rival, err := b.rival(ctx, p, found[0])
	return found, !rival, err
}

// made reports whether p is on record as having made a. The record of another
// process has the uuid of a service token masked.
func (p Proposal) made(a Asset) bool {
	if p.State != Created || p.Result == nil || p.Result.UUID == "" {
		return false
	}
	return p.Result.UUID == a.UUID ||
		p.ChangeType == ServiceTokenCreate && p.Result.UUID == MaskValue(a.UUID) && strings.EqualFold(p.Name, a.Name)
}

// rival reports whether another create that is unresolved may have made a too.
func (b *Broker) rival(ctx context.Context, p Proposal, a Asset) (bool, error) {
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		return false, err
	}
	for _, i := range intents {
		if i.ProposalID == "" || i.ProposalID == p.ID || i.Account != p.Account || i.ChangeType != p.ChangeType || !strings.EqualFold(i.Name, p.Name) {
			continue
		}
		found, err := b.find(ctx, i.search())
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(found, func(f Asset) bool { return f.UUID == a.UUID }) {
			return true, nil
		}
	}
	return false, nil
}
