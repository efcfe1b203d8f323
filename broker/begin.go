package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Begin verifies a confirm token, spends it and returns what to ask. Its errors
// are *Refusals with the checks that were reached. Until the ledger is reached
// they spend nothing; from then on the token is spent, whatever comes (I5).
//
// The order of the checks is fixed: shape, signature, tool, principal (all
// without any state), then the ledger by its own clock, last the recompiled
// request.
func (b *Broker) Begin(ctx context.Context, c Caller, token Secret) (Question, error) {
	claims, err := b.Open(ctx, c, token)
	if err != nil {
		return Question{}, err
	}
	p, err := b.o.Ledger.Load(ctx, claims.ID)
	if errors.Is(err, ErrProposalUnknown) { // a process that is gone may have sent it
		p, err = b.elsewhereBy(ctx, c, claims.ID, err)
	}
	if err != nil {
		return Question{}, b.refused(ctx, Proposal{ID: claims.ID}, c, b.unknownToken(ctx, err))
	}
	q, err := b.begin(ctx, c, claims, p)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return Question{}, b.refused(ctx, p, c, r)
	}
	return q, err
}

// Open verifies a confirm token without touching any state and without
// spending it. Confirms are counted here, before anything is recorded.
func (b *Broker) Open(ctx context.Context, c Caller, token Secret) (Claims, error) {
	if err := b.limits.look(c.Principal, b.now()); err != nil {
		return Claims{}, err
	}
	claims, err := b.o.Tokens.Open(token, b.o.ConfirmTool, c.Principal, b.o.Account.Identity)
	if err != nil {
		r, ok := errors.AsType[*Refusal](err)
		if !ok {
			r = Refuse(ErrTokenForged, "propose the change again", "the confirm token is not authentic")
		}
		r.Checks = &Checks{}
		return Claims{}, b.refused(ctx, Proposal{ID: claims.ID}, c, r)
	}
	return claims, nil
}

func (b *Broker) begin(ctx context.Context, c Caller, claims Claims, p Proposal) (Question, error) {
	if p.Caller.Principal != c.Principal { // the token's tag said so already (I10)
		return Question{}, Refuse(ErrWrongPrincipal, "propose the change yourself", "the confirm token belongs to somebody else")
	}
	// An expired one goes on to the ledger: the first confirm spends it (I5).
	if p.State != Pending && (p.State != Expired || p.Spent) {
		return Question{}, notPending(p)
	}
	ok := Checks{ProposalExists: yes(true), NotEvicted: yes(true), NotPreviouslyUsed: yes(true)}
	if err := b.mayAsk(ctx, c); err != nil {
		if r, isRefusal := errors.AsType[*Refusal](err); isRefusal {
			r.Checks = &ok
		}
		return Question{}, err
	}
	p, err := b.spend(ctx, p)
	if err != nil {
		return Question{}, b.notSpent(ctx, err, ok)
	}
	ok.NotExpired = yes(true)
	if !b.unchanged(p, claims.Hash) {
		return Question{}, b.stop(ctx, p, refuseChanged())
	}
	if err := b.record(ctx, EventAsked, p, c, ""); err != nil {
		r, _ := errors.AsType[*Refusal](err)
		return Question{}, b.stop(ctx, p, r)
	}
	return b.question(p), nil
}

// mayAsk are the refusals that spend nothing.
func (b *Broker) mayAsk(ctx context.Context, c Caller) error {
	if b.o.Preview {
		return refusePreview("the token is not spent")
	}
	if err := b.halted(ctx); err != nil {
		return err
	}
	if err := b.limits.cooling(c.Principal, b.now()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return Refuse(ErrNotPending, "confirm again if it is still wanted; the token is not spent", "the call was cancelled before it began")
	}
	return nil
}

func refusePreview(so string) *Refusal {
	return Refuse(ErrPreviewMode, "nothing can be created while EQUINIX_MCP_PREVIEW is set; tell the person", "this server runs in preview: %s", so)
}

// spend makes the step that uses up the token. Everything that the question
// needs is set in that one step.
func (b *Broker) spend(ctx context.Context, p Proposal) (Proposal, error) {
	s := Step{
		ID: p.ID, From: []State{Pending}, To: Asking,
		Spend: true, Unexpired: true, MaxAsking: maxAsking, AskUntil: b.now().Add(b.o.AskTimeout),
	}
	if p.Payload != nil { // an expired one has none
		s.Attention = b.attention(ctx, p)
		s.ConfirmCode = b.code(p, s.Attention)
	}
	return b.move(ctx, s)
}

// notSpent explains why the step to asking was refused.
func (b *Broker) notSpent(ctx context.Context, err error, ok Checks) error {
	if lost, is := errors.AsType[*LostError](err); is {
		return notPending(lost.Proposal)
	}
	r := &Refusal{Checks: &ok}
	switch {
	case errors.Is(err, ErrTokenExpired):
		ok.NotExpired = yes(false)
		r.Code, r.Spent = ErrTokenExpired, true
		r.Message, r.NextStep = "the proposal has expired", "propose the change again: the dry run and the price are too old"
	case errors.Is(err, ErrRateLimited):
		r.Code = ErrRateLimited
		r.Message, r.NextStep = "too many prompts already wait for this person", "let the person answer them first, then confirm again; the token is not spent"
	default:
		return b.ledgerFailed(ctx, err)
	}
	return r
}

// notPending is the refusal for a token whose proposal has left pending. An
// authentic token always learns what is recorded for its proposal.
func notPending(p Proposal) *Refusal {
	checks := &Checks{ProposalExists: yes(true), NotEvicted: yes(true)}
	r := &Refusal{Checks: checks, Spent: p.Spent}
	switch {
	case p.State == Evicted:
		checks.NotEvicted = yes(false)
		r.Code = ErrTokenEvicted
		r.Message, r.NextStep = "newer proposals have pushed this one out", "propose the change again"
	case p.Spent:
		checks.NotPreviouslyUsed = yes(false)
		r.Code, r.Previous = ErrTokenReplayed, previous(p)
		r.Message, r.NextStep = "the confirm token was used before", afterReplay(p)
	case p.State == Expired:
		checks.NotPreviouslyUsed, checks.NotExpired = yes(true), yes(false)
		r.Code = ErrTokenExpired
		r.Message, r.NextStep = "the proposal has expired", "propose the change again: the dry run and the price are too old"
	default:
		r.Code = ErrNotPending
		r.Message, r.NextStep = "the proposal is "+string(p.State), "propose the change again if it is still wanted"
	}
	return r
}

func previous(p Proposal) *Previous {
	out := &Previous{ProposalID: p.ID, State: p.State, Outcome: p.State.Outcome(), At: p.Since.UTC().Format(timeLayout)}
	if p.Result != nil {
		out.UUID = p.ShownUUID()
	}
	return out
}

const timeLayout = "2006-01-02T15:04:05Z"

func afterReplay(p Proposal) string {
	switch p.State.Outcome() {
	case OutcomeCreated:
		return "do not propose again: it was created"
	case OutcomeUnknown, OutcomeAbsent:
		return "do not propose again: it may exist; ask fabric_change_status"
	case OutcomeNone:
		return "do not propose again: it is under way; ask fabric_change_status"
	case OutcomeRejected, OutcomeNotSent:
	}
	return "nothing was created; propose the change again if it is still wanted"
}

// unknownToken is for an authentic token whose proposal the ledger lacks.
func (b *Broker) unknownToken(ctx context.Context, err error) *Refusal {
	r, _ := errors.AsType[*Refusal](b.ledgerFailed(ctx, err))
	if r.Code != ErrProposalUnknown {
		r.Checks = &Checks{}
		return r
	}
	return &Refusal{
		Code: ErrTokenUnknown, Checks: &Checks{ProposalExists: yes(false)},
		Message:  "nothing is recorded for this confirm token any more",
		NextStep: "ask fabric_change_status before proposing again",
	}
}

// unchanged recompiles the stored spec and compares what comes out with what
// the token binds (I4).
func (b *Broker) unchanged(p Proposal, bound Hash) bool {
	r, err := b.compiled(p)
	return err == nil && b.binds(p, r, bound)
}

// binds reports whether p is for r, for bound and for this account.
func (b *Broker) binds(p Proposal, r Request, bound Hash) bool {
	return r.Hash == bound && p.Hash == bound && p.Account == b.o.Account.Identity
}

func (b *Broker) compiled(p Proposal) (Request, error) {
	if p.Payload == nil {
		return Request{}, ErrRequestChanged
	}
	return b.compile(p.ChangeType, p.Payload.Spec, zeroTime)
}

// compile never takes the process down: a spec comes from a model.
func (b *Broker) compile(t ChangeType, spec []byte, now time.Time) (r Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.Error("compile panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = Refuse(ErrInternal, "report this to the operator of the server", "the spec could not be compiled")
		}
	}()
	return b.o.Provider.Compile(t, spec, now)
}

func refuseChanged() *Refusal {
	return Refuse(ErrRequestChanged, "tell the operator of the server, then propose the change again",
		"the stored request is not the one that was validated")
}

// refused records a refusal: it is a security event.
func (b *Broker) refused(ctx context.Context, p Proposal, c Caller, r *Refusal) *Refusal {
	b.note(ctx, EventRefused, p, c, r.Code)
	return r
}

// Question returns the question of a proposal that is asking, for a client that
// has to be asked again. Asking again moves no deadline (I6).
func (b *Broker) Question(ctx context.Context, c Caller, id ID) (Question, error) {
	p, err := b.load(ctx, c, id)
	if err != nil {
		return Question{}, err
	}
	if p.State != Asking || p.Payload == nil {
		return Question{}, &LostError{Proposal: p}
	}
	return b.question(p), nil
}

func (b *Broker) question(p Proposal) Question {
	return Question{Proposal: p, Account: b.o.Account, Attention: p.Payload.Attention, Code: p.Payload.ConfirmCode}
}

func yes(v bool) *bool { return &v }
