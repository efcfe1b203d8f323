package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// lookAt is when a lost create is looked for, counted from the loss. New assets
// reach the provider's search late, so one empty search proves nothing; after
// the last one the asset counts as absent, which is not final.
var lookAt = []time.Duration{0, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, finalLook}

const (
	finalLook   = 15 * time.Minute
	lookTimeout = 30 * time.Second
	// skew is what the provider's clock and its search may be behind.
	skew = time.Minute
)

// tidyEvery is how often Run looks for what other processes and people have
// left: intents of dead owners, verdicts, unknown proposals nobody looks for.
var tidyEvery = 30 * time.Second

// looks are the searches under way in this process.
type looks struct {
	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // the life of Run, which starts and ends every look
	active map[ID]bool
	// fresh are creations that were found after their answer was lost and that
	// no status has reported yet.
	fresh map[ID]bool
	seen  map[ID]sight
	wg    sync.WaitGroup
}

// sight is when this process first saw a create as unknown, and how long it had
// been that by then. From there on the clock counts that nobody sets: a wall
// clock that is set forward must not make a young unknown an absent one.
type sight struct {
	at  time.Time
	age time.Duration
}

// unknownFor returns for how long p has been unknown.
func (b *Broker) unknownFor(p Proposal) time.Duration {
	l := &b.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[p.ID]
	if !ok {
		s = sight{at: time.Now(), age: max(b.now().Sub(p.Since), 0)}
		if l.seen == nil {
			l.seen = map[ID]sight{}
		}
		l.seen[p.ID] = s
	}
	return s.age + time.Since(s.at)
}

// known forgets what is unknown no longer.
func (l *looks) known(id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, id)
}

// found notes that a lost create was found.
func (l *looks) found(id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh == nil {
		l.fresh = map[ID]bool{}
	}
	l.fresh[id] = true
}

// first reports, once, that a found create was not reported before.
func (l *looks) first(id ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer delete(l.fresh, id)
	return l.fresh[id]
}

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
	if p, err := b.o.Ledger.Load(ctx, i.ProposalID); err == nil && p.State.Settled() {
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
		ID: i.ProposalID, ChangeType: i.ChangeType, Name: i.Name, Hash: i.Hash, Account: i.Account,
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

// look starts to look for what became of p, unless that is under way.
func (b *Broker) look(p Proposal) {
	b.unknownFor(p) // counts from now
	l := &b.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil || l.ctx.Err() != nil || l.active[p.ID] {
		return
	}
	l.active[p.ID] = true
	l.wg.Go(func() {
		b.lookUntil(l.ctx, p)
		l.mu.Lock()
		delete(l.active, p.ID)
		l.mu.Unlock()
	})
}

// lookUntil looks on the schedule until p is no longer unknown. What several
// assets leave undecided is looked at again every finalLook.
func (b *Broker) lookUntil(ctx context.Context, p Proposal) {
	at := func(n int) time.Duration {
		if n < len(lookAt) {
			return lookAt[n]
		}
		return finalLook * time.Duration(n-len(lookAt)+2)
	}
	for n := 0; ; n++ {
		age := b.unknownFor(p)
		if age > at(n+1) {
			continue // taken over late: one look makes up for all that were missed
		}
		select {
		case <-time.After(max(at(n)-age, 0)):
		case <-ctx.Done():
			return
		}
		now, _, err := b.Reconcile(ctx, p.ID)
		if err == nil && now.State != Unknown || errors.Is(err, ErrProposalUnknown) {
			return
		}
	}
}

// Reconcile looks once for what became of a create whose answer was lost, and
// records what it finds: exactly one asset is it; none, at the last look, is
// absent; several stay undecided and are returned.
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
		err := b.apply(ctx, p, *v)
		now, lerr := b.o.Ledger.Load(ctx, id)
		return now, nil, errors.Join(err, lerr)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, err := b.find(ctx, searchFor(intents, p))
	if err != nil {
		b.o.Log.WarnContext(ctx, "a lost create could not be looked for", "proposal", id, "err", err)
		return p, nil, fmt.Errorf("broker: look for %s: %w", id, err)
	}
	switch {
	case len(found) == 1:
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
