package reads

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/toolsets"
)

// Pricing returns the toolset that estimates prices.
func Pricing(api *fabric.API) toolsets.Toolset {
	t := tools{api}
	return toolsets.Toolset{Name: "pricing", Tools: []toolsets.Tool{{
		Definition: &mcp.Tool{
			Name:  "fabric_estimate_price",
			Title: "Estimate a price",
			Description: "Says what a create would cost, from the operator's rate card or the live price list, or that the price is not known. Proposes, reserves and creates nothing. " +
				"Not in the price: taxes, cross connects and what the cloud provider charges.",
			Annotations: readOnly(),
			InputSchema: toolsets.Object(map[string]any{
				"change_type": map[string]any{"type": "string", "enum": broker.ChangeTypes()},
				"spec":        fabric.PriceSchema(),
			}, "change_type", "spec"),
		},
		Handler: t.estimate,
	}}}
}

type estimateArgs struct {
	ChangeType string          `json:"change_type"`
	Spec       json.RawMessage `json:"spec"`
}

func (t tools) estimate(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args estimateArgs
	if err := toolsets.Decode(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	ct := broker.ChangeType(args.ChangeType)
	if !slices.Contains(broker.ChangeTypes(), ct) {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "choose a change_type that is on offer", "change_type must be one of %v", broker.ChangeTypes())
	}
	if len(args.Spec) == 0 {
		return nil, broker.Refuse(broker.ErrInvalidArguments, "pass the spec of what would be created", "spec is missing")
	}
	q, err := t.api.EstimatePrice(ctx, ct, args.Spec)
	if err != nil {
		return nil, err
	}
	return toolsets.Result(map[string]any{"change_type": ct, "price_context": toolsets.PriceOf(q)}, false)
}
