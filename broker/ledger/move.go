package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fabricbroker/broker"
)

// ceilingWindow is the time over which creates are counted.
const ceilingWindow = 24 * time.Hour

// Move implements broker.Ledger. Beside its documented errors it fails for a
// step that the transition table does not have, which is a bug of the caller.
//
// A pending proposal that has expired is expired from then on, whatever the
// step; one that a spending step finds expired is spent by it (I5). From asking
// on the broker says how an expired proposal ends: it stays where it is. A step
// to sending is always refused after the expiry. A MaxAsking of zero is no
// bound. A MaxCreates of zero neither bounds this step nor counts it.
func (m *Memory) Move(_ context.Context, s broker.Step) (broker.Moved, error) {
	if err := possible(s); err != nil {
		return broker.Moved{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.read()
	r := m.rows[s.ID]
	if r == nil {
		return broker.Moved{}, refuseUnknown()
	}
	m.lapse(r, now)
	if err := r.timely(s, now); err != nil {
		return broker.Moved{}, err
	}

	var superseded []*row
	switch s.To { //nolint:exhaustive // the other steps have no conditions of their own
	case broker.Asking:
		var err error
		if superseded, err = m.ask(r, s, now); err != nil {
			return broker.Moved{}, err
		}
	case broker.Sending:
		if err := m.send(r, s, now); err != nil {
			return broker.Moved{}, err
		}
	}

	r.set(s)
	m.enter(r, s.To, now.wall)
	out := broker.Moved{Proposal: clone(r.p)}
	for _, o := range superseded {
		m.enter(o, broker.Superseded, now.wall)
		out.Superseded = append(out.Superseded, clone(o.p))
	}
	return out, nil
}

// possible refuses a step that cannot happen to any proposal.
func possible(s broker.Step) error {
	if len(s.From) == 0 {
		return errors.New("ledger: move: a step from nowhere")
	}
	for _, from := range s.From {
		if !from.CanBecome(s.To) {
			return fmt.Errorf("ledger: move: %q never becomes %q", from, s.To)
		}
	}
	return nil
}

// timely checks the state and the expiry, and spends what comes too late.
func (r *row) timely(s broker.Step, now reading) error {
	late := r.p.State == broker.Expired && !r.p.Spent &&
		s.Unexpired && slices.Contains(s.From, broker.Pending)
	if late {
		r.p.Spent = s.Spend
		return refuseExpired(r.p)
	}
	if !slices.Contains(s.From, r.p.State) {
		return &broker.LostError{Proposal: clone(r.p)}
	}
	if (s.Unexpired || s.To == broker.Sending) && r.expired(now) {
		return refuseExpired(r.p)
	}
	return nil
}

// ask returns the principal's prompts that r takes the place of, unless too many
// others wait. A prompt past its own deadline waits for nobody.
func (m *Memory) ask(r *row, s broker.Step, now reading) ([]*row, error) {
	var equal []*row
	waiting := 0
	for _, o := range m.open[r.p.Caller.Principal] {
		switch {
		case o == r || o.p.State != broker.Asking:
		case o.binding() == r.binding():
			equal = append(equal, o)
		case o.waits(now):
			waiting++
		}
	}
	if s.MaxAsking > 0 && waiting >= s.MaxAsking {
		return nil, refuseAsking(waiting)
	}
	return equal, nil
}

func (r *row) waits(now reading) bool {
	return r.p.State == broker.Asking && (r.p.AskUntil.IsZero() || now.wall.Before(r.p.AskUntil))
}

// send counts a create, unless its equal is unresolved (I12) or the ceiling is
// reached.
func (m *Memory) send(r *row, s broker.Step, now reading) error {
	if o := m.live[r.binding()]; o != nil {
		return refuseUnresolved(o.p.ID)
	}
	if s.MaxCreates <= 0 {
		return nil
	}
	m.sent = slices.DeleteFunc(m.sent, func(t time.Time) bool { return now.wall.Sub(t) >= ceilingWindow })
	if len(m.sent) >= s.MaxCreates {
		return refuseCeiling(s.MaxCreates, slices.MinFunc(m.sent, time.Time.Compare).Add(ceilingWindow))
	}
	m.sent = append(m.sent, now.wall)
	return nil
}

// set writes what the step sets; zero values leave what is there.
func (r *row) set(s broker.Step) {
	p := &r.p
	p.Spent = p.Spent || s.Spend
	if s.Code != "" {
		p.Code = s.Code
	}
	if s.Answer != nil {
		p.Answer = cloneAnswer(s.Answer)
	}
	if s.Result != nil {
		p.Result = cloneResult(s.Result)
	}
	if !s.AskUntil.IsZero() {
		p.AskUntil = s.AskUntil.Round(0)
	}
	if !s.SendBy.IsZero() {
		p.SendBy = s.SendBy.Round(0)
	}
	if p.Payload == nil {
		return
	}
	if s.Attention != nil {
		p.Payload.Attention = slices.Clone(s.Attention)
	}
	if s.ConfirmCode != "" {
		p.Payload.ConfirmCode = s.ConfirmCode
	}
}
