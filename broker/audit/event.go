package audit

import (
	"encoding/json"

	"fabricbroker/broker"
)

// lineOf says what a line has of an event. What must not be seen is not in it:
// the request is the masked one, and a service token's uuid is masked wherever
// an upstream repeats it (I9).
func lineOf(e broker.Event) line {
	p := e.Proposal
	l := line{
		V: 1, Time: e.Time.UTC(), Event: e.Kind, ProposalID: p.ID, ChangeType: p.ChangeType, Name: p.Name, RequestHash: p.Hash,
		ProtocolVersion: short(e.Caller.ProtocolVersion), State: p.State, Code: e.Code, Count: e.Count,
	}
	if w := e.Caller.Principal; w != (broker.Principal{}) {
		l.Principal = &principal{w.Kind, w.Issuer, w.Tenant, w.Subject}
	}
	if n, v := short(e.Caller.ClientName), short(e.Caller.ClientVersion); n != "" || v != "" {
		l.Client = &client{n, v}
	}
	if e.Kind == broker.EventRefused {
		return l
	}
	l.Account, l.Twin, l.Since, l.Spent = p.Account, p.Twin, p.Since.UTC(), p.Spent
	l.MintedAt, l.ExpiresAt, l.AskUntil, l.SendBy = p.MintedAt.UTC(), p.ExpiresAt.UTC(), p.AskUntil.UTC(), p.SendBy.UTC()
	if p.State != "" {
		l.Outcome = p.State.Outcome()
	}
	switch e.Kind { //nolint:exhaustive // the events before which somebody decides
	case broker.EventProposed, broker.EventAsked, broker.EventSending:
		l.Price = priceOf(p)
	}
	switch e.Kind { //nolint:exhaustive // the design names these two
	case broker.EventProposed, broker.EventSending:
		if p.Payload != nil && json.Valid(p.Payload.Body) {
			l.Request = p.Payload.Body
		}
	}
	mask := uuidMask(p)
	if a := p.Answer; a != nil {
		l.Channel, l.Answer, l.AnswerState, l.By, l.AnswerDetail = a.Channel, a.Status, a.State, a.By, mask.Text(a.Detail)
	}
	if r := p.Result; r != nil {
		l.UUID, l.CorrelationID = p.ShownUUID(), mask.Text(r.CorrelationID)
		l.Result = &result{mask.Text(r.Name), mask.Text(r.State), mask.Text(r.Href), r.Code, mask.Text(r.Detail), nil}
		if len(r.Upstream) > 0 {
			l.Result.Upstream = mask.Errors(r.Upstream)
		}
		if r.Outcome != "" {
			l.Outcome = r.Outcome
		}
	}
	return l
}

// shorten drops what a line can do without. An outcome must never be too long to
// be put on record.
func (l *line) shorten() {
	l.Request = nil
	l.AnswerDetail = short(l.AnswerDetail)
	if r := l.Result; r != nil {
		l.Result = &result{short(r.Name), short(r.State), short(r.Href), r.Code, short(r.Detail), nil}
	}
}

// uuidMask hides the uuid of a service token: its holder may order (I9).
func uuidMask(p broker.Proposal) broker.Mask {
	if p.ChangeType != broker.ServiceTokenCreate || p.Result == nil || p.Result.UUID == "" {
		return broker.Mask{}
	}
	doc, err := json.Marshal([]string{p.Result.UUID})
	if err != nil {
		return broker.Mask{} // a string always has a JSON text
	}
	return broker.NewMask(doc, []string{"/0"})
}
