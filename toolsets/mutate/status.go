package mutate

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/toolsets"
)

type statusArgs struct {
	ProposalID string `json:"proposal_id"`
	Limit      *int   `json:"limit"`
}

type statusResult struct {
	Proposals []proposal `json:"proposals"`
}

type proposal struct {
	ProposalID        broker.ID             `json:"proposal_id"`
	ChangeType        broker.ChangeType     `json:"change_type"`
	Name              string                `json:"name"`
	State             broker.State          `json:"state"`
	Code              broker.Code           `json:"code,omitempty"`
	Outcome           *string               `json:"outcome"`
	Result            *toolsets.Asset       `json:"result"`
	RequestSHA256     broker.Hash           `json:"request_sha256"`
	MintedAt          string                `json:"minted_at"`
	ExpiresAt         string                `json:"expires_at"`
	HumanConfirmation *humanConfirmation    `json:"human_confirmation"`
	PriceContext      toolsets.PriceContext `json:"price_context"`
	Candidates        []toolsets.Asset      `json:"candidates"`
}

const (
	defaultLimit = 10
	maxLimit     = 100
)

func (t *Tools) status(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args statusArgs
	if err := toolsets.Decode(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	limit := defaultLimit
	if args.Limit != nil {
		limit = *args.Limit
	}
	if limit < 1 || limit > maxLimit {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "choose a limit from 1 to 100", "limit must be from 1 to %d, not %d", maxLimit, limit)
	}
	ps, err := t.Broker.Status(ctx, t.caller(req), broker.ID(args.ProposalID), limit)
	if err != nil {
		return nil, err
	}
	out := statusResult{Proposals: []proposal{}}
	for _, s := range ps {
		out.Proposals = append(out.Proposals, view(s))
	}
	return toolsets.Result(out, false)
}

func view(s broker.Status) proposal {
	p := s.Proposal
	v := proposal{
		ProposalID: p.ID, ChangeType: p.ChangeType, Name: p.Name, State: p.State, Code: p.Code,
		Outcome: toolsets.OutcomeOf(p.State.Outcome()), Result: asset(p, s.Reveal), RequestSHA256: p.Hash,
		MintedAt: stamp(p.MintedAt), ExpiresAt: stamp(p.ExpiresAt),
		PriceContext: toolsets.PriceOf(p.Quote), Candidates: []toolsets.Asset{},
	}
	if status, detail := p.Confirmation(); status != "" {
		v.HumanConfirmation = &humanConfirmation{status, detail}
	}
	for _, a := range s.Candidates {
		v.Candidates = append(v.Candidates, candidate(p, a))
	}
	return v
}

// candidate is an asset that a lost create may have made.
func candidate(p broker.Proposal, a broker.Asset) toolsets.Asset {
	p.Result = &broker.Result{UUID: a.UUID, Name: a.Name, State: a.State, Href: a.Href}
	return *asset(p, false)
}

type withdrawArgs struct {
	ProposalID string `json:"proposal_id"`
}

func (t *Tools) withdraw(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args withdrawArgs
	if err := toolsets.Decode(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	if args.ProposalID == "" {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "pass the proposal_id of the propose result", "proposal_id is missing")
	}
	p, err := t.Broker.Withdraw(ctx, t.caller(req), broker.ID(args.ProposalID))
	if err != nil {
		return nil, err
	}
	return toolsets.Result(statusResult{Proposals: []proposal{view(broker.Status{Proposal: p})}}, false)
}
