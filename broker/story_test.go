package broker_test

import (
	"context"
	"errors"
	"slices"
	"testing/synctest"
	"time"

	"fabricbroker/broker"
)

// These are the steps of a story that know what must come back.

var spendNothing = []broker.Code{
	broker.ErrTokenMissing, broker.ErrTokenMalformed, broker.ErrTokenForged, broker.ErrWrongTool, broker.ErrWrongPrincipal,
	broker.ErrPreviewMode, broker.ErrHalted, broker.ErrRateLimited, broker.ErrCoolingDown, broker.ErrNotPending, broker.ErrTokenEvicted,
}

func (s *story) now(id broker.ID) broker.Proposal {
	p, _ := s.ledger.Memory.Load(s.ctx, id)
	return p
}

// begins confirms as the owner, or now and then as somebody else (I5, I10).
func (s *story) begins(p broker.Proposed, how int) {
	c, ctx := p.Proposal.Caller, s.ctx
	if how == 0 {
		c.Principal.Subject = "mallory"
	}
	if how == 1 {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		ctx = gone
	}
	was := s.now(p.Proposal.ID)
	q, err := s.Begin(ctx, c, p.Token)
	is := s.now(p.Proposal.ID)
	r, refused := errors.AsType[*broker.Refusal](err)
	switch {
	case err == nil:
		s.show(q)
		if was.Spent || !is.Spent || is.State != broker.Asking {
			s.find("I5: a question is asked; spent %v before and %v after, now %s", was.Spent, is.Spent, is.State)
		}
		if s.asked == nil {
			s.asked = map[broker.ID]time.Time{}
		}
		s.asked[p.Proposal.ID] = is.AskUntil
	case !refused:
		s.find("begin fails with %v", err)
	case how == 0 && r.Code != broker.ErrWrongPrincipal && r.Code != broker.ErrRateLimited:
		s.find("I10: the token of another is refused with %s", r.Code)
	case slices.Contains(spendNothing, r.Code) && was.Spent != is.Spent:
		s.find("I5: %s spends the token", r.Code)
	case r.Code == broker.ErrTokenReplayed && (!was.Spent || r.Previous == nil || r.Previous.Outcome != is.State.Outcome() || r.Previous.ProposalID != is.ID):
		s.find("a replay of %+v is told %+v", is, r.Previous)
	case how > 1 && !s.faults && r.Spent != is.Spent:
		s.find("I5: %s says spent %v, the ledger %v", r.Code, r.Spent, is.Spent)
	}
}

// complete answers, in the background for it may take its time. Only a channel
// that has shown the question can have an answer to it.
func (s *story) complete(id broker.ID, a broker.Answer, how int) {
	if p := s.now(id); p.State == broker.Asking {
		q, err := s.Question(s.ctx, p.Caller, id)
		if err != nil {
			return
		}
		s.show(q)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	switch how {
	case 0:
		cancel()
	case 1:
		time.AfterFunc(5*time.Second, cancel)
	default:
		context.AfterFunc(s.ctx, cancel)
	}
	go func() {
		c, err := s.Complete(ctx, id, a)
		if err != nil && !isRefusal(err) && ctx.Err() == nil {
			s.find("complete fails with %v", err)
		}
		for _, sent := range s.provider.log() {
			if sent.id != id || c.Proposal.State == "" || err != nil && !isRefusal(err) || c.Proposal.State.Outcome() == broker.OutcomeNone {
				continue
			}
			// I8, I11: whatever could not be recorded, the answer is what the create came to.
			if got := c.Proposal.State.Outcome(); got != sent.outcome {
				s.find("I11: %s came to %s and its caller is told %s, %v", id, sent.outcome, got, err)
			}
			if sent.outcome == broker.OutcomeCreated && (c.Proposal.Result == nil || c.Proposal.Result.UUID != uuid || err != nil) {
				s.find("I11: %s was created and its caller is told %+v, %v", id, c.Proposal.Result, err)
			}
		}
	}()
}

func (s *story) withdraw(p broker.Proposed, c broker.Caller) {
	was := s.now(p.Proposal.ID)
	_, err := s.Withdraw(s.ctx, c, p.Proposal.ID)
	is := s.now(p.Proposal.ID)
	switch {
	case c.Principal != p.Proposal.Caller.Principal && (err == nil || was.State != is.State): // I10
		s.find("I10: %s withdraws the proposal of another: %v", c.Principal.Subject, err)
	case err != nil && !isRefusal(err):
		s.find("withdraw fails with %v", err)
	case err == nil && was.Spent != is.Spent:
		s.find("I5: a withdrawal spends the token")
	}
}

// strangers see nothing of another's proposal (I10).
func (s *story) strangers(p broker.Proposed) {
	other := ada
	if p.Proposal.Caller.Principal == ada.Principal {
		other = bob
	}
	if _, err := s.Status(s.ctx, other, p.Proposal.ID, 0); err == nil {
		s.find("I10: %s sees %s", other.Principal.Subject, p.Proposal.ID)
	}
	if _, err := s.Question(s.ctx, other, p.Proposal.ID); err == nil {
		s.find("I10: %s is asked %s", other.Principal.Subject, p.Proposal.ID)
	}
}

// question asks again, which moves no deadline (I6).
func (s *story) question(p broker.Proposed) {
	_, _ = s.Question(s.ctx, p.Proposal.Caller, p.Proposal.ID)
	is := s.now(p.Proposal.ID)
	if at, ok := s.asked[is.ID]; ok && !at.Equal(is.AskUntil) || is.ID != "" && !is.ExpiresAt.Equal(p.Proposal.ExpiresAt) {
		s.find("I6: a deadline of %s moved", p.Proposal.ID)
	}
}

func (s *story) held() []broker.Intent {
	all, _ := s.intents.List(s.ctx)
	return all
}

// end clears the faults, lets everything finish and looks once more: what was
// created is on record, and only what is unknown is still held.
func (s *story) end(cancel context.CancelFunc) {
	s.calm()
	time.Sleep(3 * time.Minute)
	synctest.Wait()
	s.check()
	ctx, stop := context.WithTimeout(s.ctx, time.Minute)
	defer stop()
	for _, c := range s.provider.log() {
		p := s.now(c.id)
		if p.ID != "" && p.State.Outcome() != c.outcome && p.State != broker.Sending {
			s.find("I11: %s came to %s and ends as %s", c.id, c.outcome, p.State)
		}
		if p.State == broker.Sending {
			s.find("I11: the create of %s is over, and it is sending for ever", c.id)
		}
		if c.outcome == broker.OutcomeCreated && (p.Result == nil || p.Result.UUID != uuid || s.recorder.count(broker.EventCreated, c.id) == 0) {
			s.find("I11: the uuid of %s is not on record: %+v", c.id, p.Result)
		}
	}
	for _, i := range s.held() { // I8: and nothing else stays refused
		if p := s.now(i.ProposalID); !s.stuck && p.State != broker.Unknown {
			s.find("%s is %s and its request stays refused", i.ProposalID, p.State)
		}
	}
	cancel()
	synctest.Wait()
	if err := s.Drain(context.WithoutCancel(ctx)); err != nil {
		s.find("drain: %v", err)
	}
}
