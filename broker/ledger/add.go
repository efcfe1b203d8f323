package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fabricbroker/broker"
)

// maxSize is how many bytes of text a proposal may hold. A request is shown
// whole in 6 KB, so only an upstream that says far too much gets here.
const maxSize = 256 << 10

// sweepEvery is how often Add looks for rows that are old enough to go.
const sweepEvery = time.Minute

// Add implements broker.Ledger. ExpiresAt is now plus o.Lifetime by this
// ledger's clock. A MaxPending of zero evicts nothing. Errors beside
// ErrRateLimited: ErrInvalidArguments for a proposal that is too large, and a
// failure for an id that is taken.
func (m *Memory) Add(_ context.Context, p broker.Proposal, o broker.AddOptions) (broker.Added, error) {
	if p.ID == "" {
		return broker.Added{}, errors.New("ledger: add: a proposal without an id")
	}
	if n := size(p); n > maxSize {
		return broker.Added{}, broker.Refuse(broker.ErrInvalidArguments, "propose a smaller request",
			"the request and what its dry run said have %d bytes, and at most %d are kept", n, maxSize)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.read()
	if m.rows[p.ID] != nil {
		return broker.Added{}, fmt.Errorf("ledger: add: proposal %s is already there", p.ID)
	}
	if !m.makeRoom(now) {
		return broker.Added{}, refuseFull(m.maxAll)
	}
	out := broker.Added{Evicted: m.evict(p.Caller.Principal, o.MaxPending, now)}

	r := &row{p: clone(p), deadline: now.run + o.Lifetime}
	r.p.State, r.p.Since, r.p.Spent = broker.Pending, now.wall, false
	r.p.MintedAt = p.MintedAt.Round(0)
	r.p.ExpiresAt = now.wall.Add(o.Lifetime)
	m.rows[r.p.ID] = r
	m.open[r.p.Caller.Principal] = append(m.open[r.p.Caller.Principal], r)
	out.Proposal = clone(r.p)
	return out, nil
}

// Restore puts back a proposal of a process that is gone: an unresolved one, as
// its intent tells it, so that its equals wait for it here too (I12), or an ended
// one, so that its token still learns what became of it. Nothing happens if its
// id is known, or if somebody could still decide it.
func (m *Memory) Restore(p broker.Proposal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.ID == "" || m.rows[p.ID] != nil || isOpen(p.State) || p.State == broker.Approved {
		return
	}
	r := &row{p: clone(p)}
	if p.State.Settled() {
		r.p.Payload = nil
	}
	m.rows[p.ID] = r
	if p.State.Unresolved() && m.live[r.binding()] == nil {
		m.live[r.binding()] = r
	}
}

// evict ends the principal's oldest pending proposals until one more fits.
func (m *Memory) evict(who broker.Principal, most int, now reading) []broker.Proposal {
	var pending []*row
	for _, r := range slices.Clone(m.open[who]) { // lapse and enter change it
		if m.lapse(r, now); r.p.State == broker.Pending {
			pending = append(pending, r)
		}
	}
	if most <= 0 || len(pending) < most {
		return nil
	}
	var out []broker.Proposal
	for _, r := range pending[:len(pending)-most+1] {
		m.enter(r, broker.Evicted, now.wall)
		out = append(out, clone(r.p))
	}
	return out
}

// makeRoom drops what is old and, where that is not enough, the longest ended of
// what was never spent: its token then is unknown rather than expired, and
// nothing else is lost. It reports whether one more row fits.
func (m *Memory) makeRoom(now reading) bool {
	full := len(m.rows) >= m.maxAll
	if !full && now.wall.Sub(m.swept).Abs() < sweepEvery {
		return true
	}
	m.swept = now.wall
	var unspent *row
	for id, r := range m.rows {
		m.lapse(r, now)
		switch {
		case m.old(r, now):
			m.drop(id)
		case r.p.State.Settled() && !r.p.Spent && (unspent == nil || r.p.Since.Before(unspent.p.Since)):
			unspent = r
		}
	}
	if len(m.rows) >= m.maxAll && unspent != nil {
		m.drop(unspent.p.ID)
	}
	return len(m.rows) < m.maxAll
}

// old reports whether r ended long enough ago. A prompt that nobody answered,
// and an approval that nothing followed, ended when they expired. What is
// unresolved never gets old (I8).
func (m *Memory) old(r *row, now reading) bool {
	switch {
	case r.p.State.Unresolved(), r.p.State == broker.Pending:
		return false
	case r.p.State == broker.Asking || r.p.State == broker.Approved:
		if !r.expired(now) || now.wall.Before(r.p.AskUntil) {
			return false
		}
	}
	return now.wall.Sub(r.p.Since) > m.keep
}

func (m *Memory) drop(id broker.ID) {
	r := m.rows[id]
	if isOpen(r.p.State) {
		m.enter(r, broker.Expired, r.p.Since) // out of the indexes
	}
	delete(m.rows, id)
}

func size(p broker.Proposal) int {
	n := len(p.Name) + len(p.Account) + len(p.Quote.Basis) + len(p.Quote.Note)
	if p.Payload == nil {
		return n
	}
	n += len(p.Payload.Spec) + len(p.Payload.Body) + len(p.Payload.Path)
	b := p.Payload.Brief
	n += len(b.What) + len(b.From) + len(b.To) + len(b.Account) + len(b.Pays)
	for _, d := range p.Payload.Differences {
		n += len(d.Path) + len(d.Sent) + len(d.Returned)
	}
	for _, w := range p.Payload.Warnings {
		n += len(w.Path) + len(w.Message)
	}
	for _, a := range p.Payload.Twins {
		n += len(a.UUID) + len(a.Name) + len(a.State) + len(a.Href) + len(a.CreatedAt)
	}
	return n
}
