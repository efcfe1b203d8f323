package broker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// tidyEvery is how often Run looks for what other processes and people have
// left: intents of dead owners, verdicts, unknown proposals nobody looks for.
var tidyEvery = 30 * time.Second

// Run resolves what is unknown until ctx ends: it takes over the intents of
// processes that died, looks for lost creates on their schedule, and applies
// the verdicts of people. Without it a lost create is looked for only when its
// status is asked.
func (b *Broker) Run(ctx context.Context) {
	b.looks.mu.Lock()
	b.looks.ctx, b.looks.active = ctx, map[ID]bool{}
	b.looks.mu.Unlock()
	defer b.looks.wg.Wait()
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		b.tidy(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// claims are those that could not be given back yet.
type claims struct {
	mu   sync.Mutex
	left map[ID]Proposal
}

// ended notes whether the claim of p was given back.
func (c *claims) ended(p Proposal, given bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if given {
		delete(c.left, p.ID)
		return
	}
	if c.left == nil {
		c.left = map[ID]Proposal{}
	}
	c.left[p.ID] = p
}

func (c *claims) all() []Proposal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.left))
}

func (b *Broker) tidy(ctx context.Context) {
	for _, p := range b.claims.all() {
		b.release(ctx, p)
	}
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "unresolved creates cannot be listed", "err", err)
	}
	for _, i := range intents {
		b.adopt(ctx, i)
	}
	unknown, err := b.o.Ledger.List(ctx, Query{Account: b.o.Account.Identity, States: []State{Unknown}})
	if err != nil {
		return // the ledger's callers say so often enough
	}
	for _, p := range unknown {
		if v := verdictOn(intents, p.ID); v != nil {
			if err := b.apply(ctx, p, *v); err != nil {
				b.o.Log.ErrorContext(ctx, "a verdict could not be recorded", "proposal", p.ID, "err", err)
			}
			continue
		}
		b.look(p)
	}
}

// adopt takes over the intent of a process that died in the middle of a create.
func (b *Broker) adopt(ctx context.Context, i Intent) {
	if i.ProposalID == "" || i.Account != b.o.Account.Identity {
		return
	}
	mine, err := b.o.Intents.Adopt(ctx, i)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "an unresolved create could not be taken over", "proposal", i.ProposalID, "err", err)
	}
	if !mine {
		return
	}
	if p, err := b.o.Ledger.Load(ctx, i.ProposalID); err == nil && (p.State.Settled() || p.State == Absent) {
		// It died between recording how it ended and giving the intent up.
		b.release(ctx, p)
		return
	}
	if b.o.Restore == nil {
		return
	}
	p := b.lost(i)
	b.o.Restore(p)
	b.o.Log.WarnContext(ctx, "taken over from a process that ended in the middle of a create: its outcome is unknown and is being looked for",
		"proposal", p.ID, "change_type", p.ChangeType, "name", p.Name, "request_sha256", p.Hash)
	b.note(ctx, EventUnknown, p, p.Caller, "")
}

// lost is the proposal of an intent that another process holds or held: whatever
// that process knows, here its outcome is unknown.
func (b *Broker) lost(i Intent) Proposal {
	return Proposal{
		ID: i.ProposalID, ChangeType: i.ChangeType, Name: i.Name, Hash: i.Hash, Twin: i.Twin, Account: i.Account,
		Caller: Caller{Principal: i.Principal}, State: Unknown, Since: i.ClaimedAt, Spent: true,
		MintedAt: i.MintedAt, ExpiresAt: i.MintedAt.Add(b.o.TTL), SendBy: i.SendBy,
		Result:  &Result{Outcome: OutcomeUnknown, Name: i.Name, Detail: "another process sent it, and what became of it is not known here"},
		Payload: &Payload{Body: i.Request, Method: "POST", Path: i.Path},
	}
}

// elsewhere returns the creates of who that other processes have not seen the end
// of and this one's ledger does not have (I8).
func (b *Broker) elsewhere(ctx context.Context, who Principal) []Proposal {
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		b.o.Log.ErrorContext(ctx, "unresolved creates cannot be listed", "err", err)
		return nil
	}
	var out []Proposal
	for _, i := range intents {
		if i.ProposalID == "" || i.Account != b.o.Account.Identity || i.Principal != who {
			continue
		}
		if _, err := b.o.Ledger.Load(ctx, i.ProposalID); errors.Is(err, ErrProposalUnknown) {
			out = append(out, b.lost(i))
		}
	}
	return out
}

// elsewhereBy is the one of them with this id, or the error of not having it.
func (b *Broker) elsewhereBy(ctx context.Context, c Caller, id ID, err error) (Proposal, error) {
	for _, p := range b.elsewhere(ctx, c.Principal) {
		if p.ID == id {
			return p, nil
		}
	}
	return Proposal{}, err
}
