package mutate

import (
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/elicit/form"
	"fabricbroker/toolsets"
)

// Names of the tools.
const (
	ProposeTool  = "fabric_propose_change"
	ConfirmTool  = "fabric_confirm_change"
	StatusTool   = "fabric_change_status"
	WithdrawTool = "fabric_withdraw_change"
)

// Tools are the parts behind the mutate toolset.
type Tools struct {
	Broker *broker.Broker
	Form   *form.Form
	// SpecSchema is the JSON Schema of the spec argument.
	SpecSchema map[string]any
	// ChangeTypes are the change types on offer.
	ChangeTypes []broker.ChangeType
	// Principal names the caller of a request.
	Principal func(*mcp.CallToolRequest) broker.Principal
	Now       func() time.Time
	Log       *slog.Logger
}

// Instructions is what a client's model is told about these tools.
const Instructions = "To create something billable, call fabric_propose_change: it runs the provider's own dry run and looks up the price, and creates nothing. " +
	"Show the person the validation and the price. Then call fabric_confirm_change with the confirm_token: the server asks the person itself, and only their approval creates anything. You cannot approve. " +
	"After any lost or unclear answer call fabric_change_status before you propose again: a second create is a second bill."

// Toolset returns the tools.
func (t *Tools) Toolset() toolsets.Toolset {
	closed, open := false, true
	return toolsets.Toolset{Name: "mutate", Tools: []toolsets.Tool{
		{
			Definition: &mcp.Tool{
				Name:  ProposeTool,
				Title: "Propose a billable create",
				Description: "Validates a create with the provider's own dry run and looks up its price. Creates nothing and orders nothing. " +
					"Returns the validation, the price and a single-use confirm_token that expires. Show the person the validation and the price, then call " + ConfirmTool + ".",
				// It changes nothing upstream, but it adds to the pending
				// proposals here, so it is not read-only.
				Annotations: &mcp.ToolAnnotations{DestructiveHint: &closed, OpenWorldHint: &open},
				InputSchema: toolsets.Object(map[string]any{
					"change_type": map[string]any{"type": "string", "enum": t.ChangeTypes, "description": "What to create."},
					"spec":        t.SpecSchema,
				}, "change_type", "spec"),
			},
			Handler: t.propose,
		},
		{
			Definition: &mcp.Tool{
				Name:  ConfirmTool,
				Title: "Ask the person, then create",
				Description: "Asks the person to approve or decline a proposal, outside your words, and only on their approval creates it, once. It costs real money. " +
					"It cannot be confirmed by you, by an argument or by a second call: a token is spent by its first confirm, whatever the answer. " +
					"If the answer is lost, call " + StatusTool + " and do not propose again.",
				Annotations: &mcp.ToolAnnotations{DestructiveHint: &open, OpenWorldHint: &open},
				InputSchema: toolsets.Object(map[string]any{
					"confirm_token": map[string]any{"type": "string", "description": "The confirm_token of the proposal, exactly as it was returned."},
				}, "confirm_token"),
			},
			Handler: t.confirm,
		},
		{
			Definition: &mcp.Tool{
				Name:  StatusTool,
				Title: "What became of proposals",
				Description: "Shows what became of one proposal, or of your most recent ones: state, outcome and the created asset. Creates nothing. " +
					"Call it after any lost or unclear answer, before you propose again.",
				Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &open},
				InputSchema: toolsets.Object(map[string]any{
					"proposal_id": map[string]any{"type": "string", "description": "One proposal. Without it, the recent ones."},
					"limit":       map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many recent ones, 10 by default."},
				}),
			},
			Handler: t.status,
		},
		{
			Definition: &mcp.Tool{
				Name:        WithdrawTool,
				Title:       "Withdraw a proposal",
				Description: "Ends a proposal that is not wanted any more, also while the person is being asked. It cannot undo or delete anything that was created: nothing here can.",
				Annotations: &mcp.ToolAnnotations{DestructiveHint: &closed, OpenWorldHint: &closed},
				InputSchema: toolsets.Object(map[string]any{
					"proposal_id": map[string]any{"type": "string", "description": "The proposal to withdraw."},
				}, "proposal_id"),
			},
			Handler: t.withdraw,
		},
	}}
}

// caller describes who calls.
func (t *Tools) caller(req *mcp.CallToolRequest) broker.Caller {
	c := broker.Caller{Principal: t.Principal(req), ProtocolVersion: req.ProtocolVersion()}
	if v, ok := req.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string); ok {
		c.ProtocolVersion = v
	}
	if i := req.ClientInfo(); i != nil {
		c.ClientName, c.ClientVersion = i.Name, i.Version
	}
	return c
}

func (t *Tools) now() time.Time {
	if t.Now != nil {
		return t.Now().Round(0)
	}
	return time.Now().Round(0)
}
