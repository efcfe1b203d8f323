package ledger

import (
	"slices"

	"fabricbroker/broker"
)

// clone returns p without anything that the caller and the ledger could both
// write to.
func clone(p broker.Proposal) broker.Proposal {
	p.Answer = cloneAnswer(p.Answer)
	p.Result = cloneResult(p.Result)
	if p.Payload != nil {
		q := *p.Payload
		q.Spec, q.Body = slices.Clone(q.Spec), slices.Clone(q.Body)
		q.Differences, q.Warnings = slices.Clone(q.Differences), slices.Clone(q.Warnings)
		q.Twins, q.Attention = slices.Clone(q.Twins), slices.Clone(q.Attention)
		p.Payload = &q
	}
	return p
}

func cloneAnswer(a *broker.Answer) *broker.Answer {
	if a == nil {
		return nil
	}
	b := *a
	return &b
}

func cloneResult(r *broker.Result) *broker.Result {
	if r == nil {
		return nil
	}
	s := *r
	s.Upstream = slices.Clone(s.Upstream)
	return &s
}
