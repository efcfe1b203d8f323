package broker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fabricbroker/pricing"
)

// CodeMode says when a person must type a code that stands in the prompt only.
// A client that fills in forms by itself does not know it.
type CodeMode string

// The modes of the confirm code.
const (
	CodeAuto   CodeMode = "auto" // where something needs attention, or costs much or nobody knows how much
	CodeAlways CodeMode = "always"
	CodeNever  CodeMode = "never"
)

// codeFrom is the whole commitment, in any currency, from which CodeAuto asks.
var codeFrom = mustMoney("1000")

func mustMoney(s string) pricing.Money {
	m, err := pricing.ParseMoney(s)
	if err != nil {
		panic("broker: " + err.Error())
	}
	return m
}

// code returns the confirm code to ask for, "" for none.
func (b *Broker) code(p Proposal, attention []string) string {
	switch b.o.CodeMode {
	case CodeAlways:
		return b.o.NewCode()
	case CodeNever:
		return ""
	case CodeAuto, "":
	}
	total, known := p.Quote.Commitment()
	if len(attention) > 0 || p.Payload.Brief.Billable && (!known || total.Cmp(codeFrom) >= 0) {
		return b.o.NewCode()
	}
	return ""
}

// attention are the lines that stand above the prompt: what the dry run would
// change, and what became of earlier attempts at the very same request.
func (b *Broker) attention(ctx context.Context, p Proposal) []string {
	lines := twins(p, b.now())
	lines = append(lines, b.earlierTwin(ctx, p)...)
	for _, d := range p.Payload.Differences {
		lines = append(lines, fmt.Sprintf("the dry run would change %s from %s to %s", Quote(d.Path), brief(d.Sent), brief(d.Returned)))
	}
	// A list that cannot be had costs a hint, not the proposal.
	same, err := b.o.Ledger.List(ctx, Query{Principal: p.Caller.Principal, Hash: p.Hash, Account: p.Account, Limit: 20})
	if err != nil {
		return lines
	}
	for _, e := range same {
		if e.ID == p.ID {
			continue
		}
		if line := earlier(e, b.now()); line != "" {
			return append(lines, line) // the newest one says it all
		}
	}
	return lines
}

// twins are the assets of the same effect that exist on the provider's side: a
// second one is a second bill.
func twins(p Proposal, now time.Time) []string {
	var lines []string
	for _, a := range p.Payload.Twins {
		line := fmt.Sprintf("a second one: %s does the same, is %s", Quote(a.UUID), QuoteMax(a.State, 30))
		if p.ChangeType == ServiceTokenCreate {
			line = fmt.Sprintf("a second one: token %s does the same, is %s", Quote(MaskValue(a.UUID)), QuoteMax(a.State, 30))
		}
		if t, err := time.Parse(time.RFC3339, a.CreatedAt); err == nil {
			line += fmt.Sprintf(", made %s ago", max(now.Sub(t), 0).Truncate(time.Second))
		}
		lines = append(lines, line)
	}
	return lines
}

// earlierTwin tells of a create of the same effect in the last 24 hours that
// went through here under another request or for somebody else: one that is
// known to exist, or that may.
func (b *Broker) earlierTwin(ctx context.Context, p Proposal) []string {
	if p.Twin == "" {
		return nil
	}
	for _, e := range b.sameEffect(ctx, p) {
		if e.Hash == p.Hash && e.Caller.Principal == p.Caller.Principal || known(p.Payload.Twins, e) {
			continue
		}
		ago := max(b.now().Sub(e.Since), 0).Truncate(time.Second)
		if e.State == Created {
			return []string{fmt.Sprintf("a second one: %s does the same, made %s ago", Quote(e.ShownUUID()), ago)}
		}
		return []string{fmt.Sprintf("a second one? a create of the same thing lost its answer %s ago", ago)}
	}
	return nil
}

// sameEffect returns the creates of p's effect that are on record anywhere: in
// the ledger, as unresolved by whatever process, and in the records of others. A
// list that cannot be had costs a hint, not the proposal.
func (b *Broker) sameEffect(ctx context.Context, p Proposal) []Proposal {
	left := []State{Created, Sending, Unknown, Absent}
	same, err := b.o.Ledger.List(ctx, Query{Twin: p.Twin, Account: p.Account, States: left, Limit: 20})
	if err != nil {
		same = nil
	}
	seen := map[ID]bool{p.ID: true}
	for _, e := range same {
		seen[e.ID] = true
	}
	intents, err := b.o.Intents.List(ctx)
	if err != nil {
		intents = nil
	}
	others := b.told(b.now().Add(-twinWindow))
	for _, i := range intents {
		others = append(others, b.lost(i))
	}
	for _, e := range others {
		if e.Twin == p.Twin && e.Account == p.Account && slices.Contains(left, e.State) && !seen[e.ID] {
			seen[e.ID] = true
			same = append(same, e)
		}
	}
	return same
}

// twinWindow is how far back a create of the same effect is told of.
const twinWindow = 24 * time.Hour

func (b *Broker) told(since time.Time) []Proposal {
	if b.o.Told == nil {
		return nil
	}
	return b.o.Told(since)
}

func known(twins []Asset, e Proposal) bool {
	return e.Result != nil && slices.ContainsFunc(twins, func(a Asset) bool { return a.UUID == e.Result.UUID })
}

func earlier(e Proposal, now time.Time) string {
	ago := max(now.Sub(e.Since), 0).Truncate(time.Second)
	switch e.State {
	case Created:
		return fmt.Sprintf("this very request was created %s ago as %s", ago, Quote(e.ShownUUID()))
	case Declined, Cancelled:
		return fmt.Sprintf("you said no to this very request %s ago", ago)
	case TimedOut, CallCancelled, Failed:
		return fmt.Sprintf("an attempt %s ago got no answer", ago)
	case Absent:
		return fmt.Sprintf("an attempt %s ago lost its answer, and nothing was found of it", ago)
	case Pending, Asking, Approved, Sending, Rejected, NotSent, Unknown,
		UnsupportedByClient, Expired, Withdrawn, Superseded, Stopped, Evicted:
	}
	return ""
}

// brief shortens a JSON text. Strings are JSON-quoted already; Quote makes
// whatever they hold safe.
func brief(s string) string {
	const most = 40
	if len(s) > 1 && s[0] == '"' {
		return QuoteMax(s[1:len(s)-1], most)
	}
	if len(s) > most {
		s = s[:most]
	}
	q := Quote(s)
	return q[1 : len(q)-1]
}
