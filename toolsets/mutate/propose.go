package mutate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/toolsets"
)

type proposeArgs struct {
	ChangeType string          `json:"change_type"`
	Spec       json.RawMessage `json:"spec"`
}

type proposeResult struct {
	Phase            string                `json:"phase"`
	ChangeType       broker.ChangeType     `json:"change_type"`
	ProposalID       broker.ID             `json:"proposal_id"`
	Validation       validation            `json:"validation"`
	DryRunNote       string                `json:"dry_run_note"`
	Request          request               `json:"request"`
	RequestSHA256    broker.Hash           `json:"request_sha256"`
	PriceContext     toolsets.PriceContext `json:"price_context"`
	Warnings         []broker.Issue        `json:"warnings"`
	ConfirmToken     string                `json:"confirm_token"`
	ExpiresAt        string                `json:"expires_at"`
	ExpiresInSeconds int64                 `json:"expires_in_seconds"`
	EvictedProposals []evicted             `json:"evicted_proposals"`
	NextStep         string                `json:"next_step"`
}

type validation struct {
	Status      string              `json:"status"`
	Entity      json.RawMessage     `json:"entity"`
	Differences []broker.Difference `json:"differences"`
}

type request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"` // masked
}

type evicted struct {
	ProposalID    broker.ID         `json:"proposal_id"`
	ChangeType    broker.ChangeType `json:"change_type"`
	Name          string            `json:"name"`
	RequestSHA256 broker.Hash       `json:"request_sha256"`
}

func (t *Tools) propose(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args proposeArgs
	if err := toolsets.Decode(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	ct := broker.ChangeType(args.ChangeType)
	if !slices.Contains(t.ChangeTypes, ct) {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "choose a change_type that is on offer", "change_type must be one of %v", t.ChangeTypes)
	}
	if len(args.Spec) == 0 {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "pass the spec of what to create", "spec is missing")
	}
	p, err := t.Broker.Propose(ctx, t.caller(req), ct, args.Spec)
	if err != nil {
		return nil, err
	}
	return toolsets.Result(t.proposed(req, p), false)
}

func (t *Tools) proposed(req *mcp.CallToolRequest, p broker.Proposed) proposeResult {
	payload := p.Proposal.Payload
	out := proposeResult{
		Phase: "dry_run", ChangeType: p.Proposal.ChangeType, ProposalID: p.Proposal.ID,
		Validation: validation{
			Status: "validated", Entity: orNull(p.Validation.Entity), Differences: toolsets.List(payload.Differences),
		},
		DryRunNote:    "the provider's dry run accepted these exact bytes; nothing was created, reserved or charged, and the create can still be refused",
		Request:       request{Method: payload.Method, Path: payload.Path, Body: payload.Body},
		RequestSHA256: p.Proposal.Hash,
		PriceContext:  toolsets.PriceOf(p.Proposal.Quote),
		Warnings:      toolsets.List(payload.Warnings),
		// The one place where a confirm token is printed.
		ConfirmToken:     p.Token.Reveal(),
		ExpiresAt:        stamp(p.Proposal.ExpiresAt),
		ExpiresInSeconds: int64(p.Proposal.ExpiresAt.Sub(t.now()) / time.Second),
		EvictedProposals: []evicted{},
		NextStep:         "show the person the validation and the price, then call " + ConfirmTool + "; the server asks them itself",
	}
	for _, e := range p.Evicted {
		out.EvictedProposals = append(out.EvictedProposals, evicted{e.ID, e.ChangeType, e.Name, e.Hash})
	}
	switch {
	case t.Broker.Preview():
		out.NextStep = "show the person the validation and the price; this server runs in preview, so it cannot be confirmed here"
	case !toolsets.CanAsk(req) && t.Broker.AllowUnconfirmed():
		out.NextStep = "show the person the validation and the price and get their word first: this client cannot be asked, and the operator allows creates without a confirmation"
	case !toolsets.CanAsk(req):
		out.NextStep = fmt.Sprintf("show the person the validation and the price; this client shows no forms (MCP elicitation), so %s cannot ask and will create nothing: confirm from a client that does", ConfirmTool)
	}
	return out
}

func orNull(b []byte) json.RawMessage {
	if len(b) == 0 {
		return json.RawMessage("null")
	}
	return b
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
