package mutate

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/elicit/form"
	"fabricbroker/toolsets"
)

type confirmArgs struct {
	ConfirmToken broker.Secret `json:"confirm_token"`
}

type confirmResult struct {
	Phase             string             `json:"phase"`
	Executed          bool               `json:"executed"`
	Outcome           broker.Outcome     `json:"outcome"`
	ChangeType        *broker.ChangeType `json:"change_type"`
	ProposalID        *broker.ID         `json:"proposal_id"`
	Result            *toolsets.Asset    `json:"result"`
	RequestSHA256     *broker.Hash       `json:"request_sha256"`
	HumanConfirmation *humanConfirmation `json:"human_confirmation"`
	ConfirmChecks     broker.Checks      `json:"confirm_checks"`
	TokenState        string             `json:"token_state"`
	Recorded          *bool              `json:"recorded,omitempty"`
	Note              string             `json:"note,omitempty"`
	Error             *toolsets.Error    `json:"error,omitempty"`
	PreviousOutcome   *toolsets.Previous `json:"previous_outcome,omitempty"`
	NextStep          string             `json:"next_step"`
}

type humanConfirmation struct {
	Status string `json:"status"`
	Detail string `json:"detail"`
}

func (t *Tools) confirm(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args confirmArgs
	if err := toolsets.Decode(req.Params.Arguments, &args); err != nil {
		return t.refuse(ctx, broker.Confirmed{}, err)
	}
	done, question, err := t.Form.Confirm(ctx, form.Call{
		Request: req, Caller: t.caller(req), Token: args.ConfirmToken,
		Modern: toolsets.Modern(req), CanAsk: toolsets.CanAsk(req),
	})
	switch {
	case question != nil:
		return question, nil
	case err != nil:
		return t.refuse(ctx, done, err)
	}
	return toolsets.Result(t.confirmed(done), false)
}

// confirmed is the result of a confirm that ended, for an error to be added.
func (t *Tools) confirmed(done broker.Confirmed) confirmResult {
	p := done.Proposal
	out := confirmResult{
		Phase: "not_executed", Outcome: p.State.Outcome(),
		ChangeType: &p.ChangeType, ProposalID: &p.ID, RequestSHA256: &p.Hash,
		ConfirmChecks: done.Checks, TokenState: tokenState(p.Spent),
		Result: asset(p, true), NextStep: afterConfirm(p),
		Note: strings.Join(done.Notes, "; "),
	}
	if status, detail := p.Confirmation(); status != "" {
		out.HumanConfirmation = &humanConfirmation{status, detail}
	}
	switch p.State {
	case broker.Approved, broker.Sending:
		// The caller stopped waiting. Nobody may take that for an end.
		out.Phase, out.Outcome = "executed", broker.OutcomeUnknown
		out.Note = join("it is still under way", out.Note)
	case broker.Created, broker.Rejected, broker.Unknown, broker.Absent:
		out.Phase = "executed"
		out.Executed = p.State == broker.Created
	case broker.Pending, broker.Asking, broker.NotSent, broker.Declined,
		broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled, broker.UnsupportedByClient,
		broker.Expired, broker.Withdrawn, broker.Superseded, broker.Stopped, broker.Evicted:
	}
	if p.Result != nil && p.State == broker.Unknown {
		out.Note = join(p.Result.Detail, "nothing was sent again", out.Note)
	}
	if !done.Recorded {
		no := false
		out.Recorded = &no
		out.Note = join(out.Note, "the outcome is not on record yet; the server keeps trying")
	}
	return out
}

// refuse is the result of a confirm that ended in an error.
func (t *Tools) refuse(ctx context.Context, done broker.Confirmed, err error) (*mcp.CallToolResult, error) {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, wire
	}
	out := confirmResult{Phase: "not_executed", Outcome: broker.OutcomeNotSent, TokenState: "none", ConfirmChecks: done.Checks}
	switch {
	case done.Proposal.ID != "" && done.Proposal.State != "":
		out = t.confirmed(done)
	case done.Proposal.ID != "":
		// An answer to a question, but the record of it cannot be read: an
		// earlier answer may have created it (I8).
		out.ProposalID, out.Outcome, out.TokenState = &done.Proposal.ID, broker.OutcomeUnknown, "spent"
	}
	e, next, r := toolsets.Explain(ctx, t.Log, err)
	out.Error, out.NextStep = e, next
	if r == nil {
		return toolsets.Result(out, true)
	}
	if r.Checks != nil {
		out.ConfirmChecks = *r.Checks
		out.TokenState = stateOf(r)
	}
	if r.Code == broker.ErrPreviewMode {
		out.Phase = "preview"
	}
	out.PreviousOutcome = toolsets.PreviousOf(r.Previous)
	return toolsets.Result(out, true)
}

// stateOf says what a refused confirm did to its token: nothing exists for one
// that could not be verified.
func stateOf(r *broker.Refusal) string {
	switch r.Code { //nolint:exhaustive // the codes of tokens that are none
	case broker.ErrTokenMissing, broker.ErrTokenMalformed, broker.ErrTokenForged, broker.ErrTokenUnknown, broker.ErrInvalidArguments:
		return "none"
	}
	return tokenState(r.Spent)
}

func tokenState(spent bool) string {
	if spent {
		return "spent"
	}
	return "unspent"
}

// asset is the created asset, null where there is none. A service token's uuid
// is given whole only to whoever's confirm created it (I9).
func asset(p broker.Proposal, whole bool) *toolsets.Asset {
	if p.Result == nil || p.Result.UUID == "" {
		return nil
	}
	a := &toolsets.Asset{UUID: p.ShownUUID(), Name: p.Result.Name, State: p.Result.State, Href: p.Result.Href}
	if whole {
		a.UUID = p.Result.UUID
	} else if p.ChangeType == broker.ServiceTokenCreate {
		a.Href = "" // it ends in the uuid
	}
	return a
}

func afterConfirm(p broker.Proposal) string {
	switch p.State.Outcome() {
	case broker.OutcomeCreated:
		return "tell the person what was created and that it is billed from now on; do not propose it again"
	case broker.OutcomeUnknown, broker.OutcomeAbsent:
		return "tell the person that it may exist and be billed; do not propose it again: ask " + StatusTool + ", and have someone look for it on the provider's side"
	case broker.OutcomeNone:
		return "ask " + StatusTool + " later; do not propose it again"
	case broker.OutcomeRejected, broker.OutcomeNotSent:
	}
	return "nothing was created; propose again only if the person still wants it"
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}
