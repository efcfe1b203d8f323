package broker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fabricbroker/pricing"
)

// recheckTimeout bounds the last dry run and price. It is part of the time in
// which a create may leave, so that a claimed intent is never sent later.
var recheckTimeout = 45 * time.Second

// recheck has the very bytes judged and priced once more: what was true when
// the person was asked may not be true any more. A price that cannot be had
// changes nothing, and is said.
func (b *Broker) recheck(ctx context.Context, p Proposal, r Request) (notes []string, err error) {
	if !b.o.Recheck {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, recheckTimeout)
	defer cancel()
	v, q, err := b.validate(ctx, r)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(v.Differences, p.Payload.Differences) {
		return nil, Refuse(ErrDryRunUnclear, nextStep(ErrDryRunUnclear),
			"the dry run changed since the person was asked: it %s and now %s; nothing was sent",
			changes("would have changed", p.Payload.Differences), changes("would change", v.Differences))
	}
	if twin := b.newTwin(ctx, p, v.Twins); twin != "" {
		return nil, Refuse(ErrPreflightFailed, "show the person that it exists; if a second one is wanted, propose the change again",
			"since the person was asked, %s; nothing was sent", twin)
	}
	switch {
	case !q.Priced && p.Quote.Priced:
		return []string{"the price could not be looked up again before the create: " + q.Note}, nil
	case q.Priced && !p.Quote.Same(q):
		return nil, Refuse(ErrPriceChanged, nextStep(ErrPriceChanged),
			"price changed since the person was asked: it was %s (%s) and is now %s (%s); nothing was sent",
			p.Quote, why(p.Quote), q, why(q))
	}
	return nil, nil
}

func why(q pricing.Quote) string { return cmp.Or(q.Basis, q.Note) }

func changes(would string, ds []Difference) string {
	if len(ds) == 0 {
		return would + " nothing"
	}
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s from %s to %s", Quote(d.Path), brief(d.Sent), brief(d.Returned)))
	}
	return would + " " + strings.Join(out, ", ")
}

// newTwin tells of one of the same effect that has come since the person was
// asked: the lost create whose absence they were told of, or another's. Where
// nothing is billed a second one costs nobody anything.
func (b *Broker) newTwin(ctx context.Context, p Proposal, seen []Asset) string {
	if !p.Payload.Brief.Billable {
		return ""
	}
	told := strings.Join(p.Payload.Attention, "\n")
	for _, a := range seen {
		shown := Quote(a.UUID)
		if !strings.Contains(told, shown) && !slices.ContainsFunc(p.Payload.Twins, func(t Asset) bool { return t.UUID == a.UUID }) {
			return fmt.Sprintf("%s has turned up, which does the same", shown)
		}
	}
	if p.Twin == "" {
		return ""
	}
	asked := p.AskUntil.Add(-b.o.AskTimeout)
	for _, e := range b.sameEffect(ctx, p) {
		if e.State != Absent && e.Since.After(asked) && !known(p.Payload.Twins, e) {
			return fmt.Sprintf("proposal %s has led to a create of the same thing", Quote(string(e.ID)))
		}
	}
	return ""
}
