package toolsets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
)

// Error is how a refusal or a failure reaches a model.
type Error struct {
	Code     broker.Code            `json:"code"`
	Message  string                 `json:"message"`
	Issues   []broker.Issue         `json:"issues"`
	Upstream []broker.UpstreamError `json:"upstream"`
}

// Previous is previous_outcome: what a used token's proposal came to.
type Previous struct {
	ProposalID broker.ID    `json:"proposal_id"`
	State      broker.State `json:"state"`
	Outcome    *string      `json:"outcome"`
	UUID       string       `json:"uuid,omitempty"`
	At         string       `json:"at"`
}

// Failure is the result of a call that ended in an error and has nothing else
// to say.
type Failure struct {
	Error           *Error         `json:"error"`
	Result          *Asset         `json:"result,omitempty"`
	PreviousOutcome *Previous      `json:"previous_outcome,omitempty"`
	NextStep        string         `json:"next_step"`
	Checks          *broker.Checks `json:"confirm_checks,omitempty"`
}

// Asset is a created asset in a result.
type Asset struct {
	UUID  string `json:"uuid"`
	Name  string `json:"name"`
	State string `json:"state"`
	Href  string `json:"href"`
}

// Explain turns an error into what a model may read: its code and message, the
// next step, and the refusal it came from, if it is one. The cause of anything
// else stays in the log, under an id.
func Explain(ctx context.Context, log *slog.Logger, err error) (e *Error, next string, r *broker.Refusal) {
	if r, ok := errors.AsType[*broker.Refusal](err); ok {
		return &Error{Code: r.Code, Message: r.Message, Issues: List(r.Issues), Upstream: List(r.Upstream)}, r.NextStep, r
	}
	id := uuid.NewString()
	log.ErrorContext(ctx, "internal failure", "id", id, "err", err)
	return &Error{
		Code: broker.ErrInternal, Message: "an unforeseen failure, logged as " + id,
		Issues: []broker.Issue{}, Upstream: []broker.UpstreamError{},
	}, "report the id to the operator of the server; before trying again, ask fabric_change_status what happened", nil
}

// Result returns a tool result that carries v as structured content and as
// text. isError is true exactly where v has an error.
func Result(v any, isError bool) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("toolsets: encode a result: %w", err)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(text),
		IsError:           isError,
	}, nil
}

// answer runs h and turns whatever error it returns into a result.
func answer(log *slog.Logger, h Handler) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := h(ctx, req)
		if err == nil {
			return res, nil
		}
		// The SDK looks for a bare *jsonrpc.Error; wrapped it would be code 0.
		if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, wire
		}
		e, next, r := Explain(ctx, log, err)
		f := Failure{Error: e, NextStep: next}
		if r != nil {
			f.PreviousOutcome, f.Checks = PreviousOf(r.Previous), r.Checks
			if r.Result != nil {
				f.Result = &Asset{UUID: r.Result.UUID, Name: r.Result.Name, State: r.Result.State, Href: r.Result.Href}
			}
		}
		return Result(f, true)
	}
}

// PreviousOf returns p in the form of results, nil for nil.
func PreviousOf(p *broker.Previous) *Previous {
	if p == nil {
		return nil
	}
	return &Previous{ProposalID: p.ProposalID, State: p.State, Outcome: OutcomeOf(p.Outcome), UUID: p.UUID, At: p.At}
}

// OutcomeOf returns o in the form of results: null before the end.
func OutcomeOf(o broker.Outcome) *string {
	if o == broker.OutcomeNone {
		return nil
	}
	s := string(o)
	return &s
}

// List returns s, and an empty list for nil: lists in results are never null.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
