package form

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
	"fabricbroker/elicit"
)

// key is the name of our question among the input requests.
const key = "confirm"

// channel is the name of this channel in answers.
const channel = "form"

// Form asks through forms. Its fields are required, but for Now.
type Form struct {
	Broker  *broker.Broker
	Keyring *seal.Keyring
	// Tool is the tool whose calls are confirms.
	Tool string
	Now  func() time.Time
}

// Call is one confirm call.
type Call struct {
	Request *mcp.CallToolRequest
	Caller  broker.Caller
	Token   broker.Secret
	// Modern says that the request is of the era without server requests,
	// CanAsk that its client shows forms.
	Modern, CanAsk bool
}

// Confirm runs a confirm call. Where a question has to go to the client first,
// it returns that as a result and no outcome. Its error is a *broker.Refusal,
// or a *jsonrpc.Error for a request state that is not ours.
func (f *Form) Confirm(ctx context.Context, c Call) (broker.Confirmed, *mcp.CallToolResult, error) {
	defer f.Broker.Hold()()
	if c.Modern && c.Request.Params.RequestState != "" {
		return f.retry(ctx, c)
	}
	// Whatever answers came along without a state are not answers to anything
	// that was asked.
	q, err := f.Broker.Begin(ctx, c.Caller, c.Token)
	if err != nil {
		return broker.Confirmed{}, nil, err
	}
	switch {
	case !c.CanAsk:
		a := f.cannotAsk()
		a.Hash = q.Proposal.Hash
		done, err := f.Broker.Complete(ctx, q.Proposal.ID, a)
		return done, nil, err
	case c.Modern:
		res, err := f.ask(c, q)
		return broker.Confirmed{}, res, err
	default:
		done, err := f.elicit(ctx, c, q)
		return done, nil, err
	}
}

// cannotAsk is the answer for a client without forms: a no, but for the
// operator's opt-in, which the result then says.
func (f *Form) cannotAsk() broker.Answer {
	a := broker.Answer{
		State: broker.UnsupportedByClient, Status: string(broker.UnsupportedByClient), Channel: "none",
		Detail: "this client shows no forms, so nobody could be asked; nothing was sent. Use a client that supports elicitation",
	}
	if f.Broker.AllowUnconfirmed() {
		a.State = broker.Approved
		a.Detail = "this client shows no forms; the operator has allowed creates without a confirmation (EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS)"
	}
	return a
}

// ask returns the question as the result of the call, with a sealed state that
// its answer must bring back. Nothing waits for it here.
func (f *Form) ask(c Call, q broker.Question) (*mcp.CallToolResult, error) {
	state, err := f.Keyring.SealState(seal.State{
		ID: q.Proposal.ID, Hash: q.Proposal.Hash, Principal: c.Caller.Principal,
		Tool: f.Tool, Era: c.Caller.ProtocolVersion, Deadline: q.Proposal.AskUntil,
	})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{key: f.params(q)},
		RequestState:  state.Reveal(),
	}, nil
}

func (f *Form) params(q broker.Question) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode: "form", Message: elicit.Prompt(q, f.now()), RequestedSchema: elicit.Schema(q.Code != ""),
	}
}

// errState answers a state that does not open or belongs elsewhere. It says
// nothing about which: that would only help whoever forged it.
var errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the requestState is not one that this server issued for this call"}

// retry takes the second round. The same approved retry may come again, when an
// answer was lost: it gets the recorded outcome, never a second create.
func (f *Form) retry(ctx context.Context, c Call) (broker.Confirmed, *mcp.CallToolResult, error) {
	state, err := f.Keyring.OpenState(c.Request.Params.RequestState, f.Tool, c.Caller.Principal, c.Caller.ProtocolVersion)
	if err != nil {
		return broker.Confirmed{}, nil, errState
	}
	claims, err := f.Broker.Open(ctx, c.Caller, c.Token)
	if err != nil {
		return broker.Confirmed{}, nil, err
	}
	if claims.ID != state.ID || claims.Hash != state.Hash {
		return broker.Confirmed{}, nil, errState
	}
	response, answered := c.Request.Params.InputResponses[key]
	if !answered {
		return f.askAgain(ctx, c, state)
	}
	a := broker.Answer{State: broker.Failed, Status: string(broker.Failed), Detail: "what the client sent is no answer to a form; nothing was sent"}
	if r, ok := response.(*mcp.ElicitResult); ok {
		q, err := f.Broker.Question(ctx, c.Caller, state.ID)
		if lost, is := errors.AsType[*broker.LostError](err); is {
			done, err := f.Broker.Outcome(ctx, lost.Proposal.ID)
			return done, nil, err
		}
		if err != nil {
			return broker.Confirmed{}, nil, err
		}
		a = elicit.Read(reply(r), q.Code)
	}
	a.Channel, a.Hash = channel, state.Hash
	done, err := f.Broker.Complete(ctx, state.ID, a)
	return done, nil, err
}

// askAgain repeats the question to a client that came back without an answer.
func (f *Form) askAgain(ctx context.Context, c Call, state seal.State) (broker.Confirmed, *mcp.CallToolResult, error) {
	q, err := f.Broker.Question(ctx, c.Caller, state.ID)
	if lost, ok := errors.AsType[*broker.LostError](err); ok {
		done, err := f.Broker.Outcome(ctx, lost.Proposal.ID)
		return done, nil, err
	}
	if err != nil {
		return broker.Confirmed{}, nil, err
	}
	if f.now().After(q.Proposal.AskUntil) {
		done, err := f.Broker.Complete(ctx, state.ID, timedOut(f.Broker.AskTimeout()))
		return done, nil, err
	}
	res, err := f.ask(c, q)
	return broker.Confirmed{}, res, err
}

// reply is the raw answer, for [elicit.Read] to judge. Content that cannot be
// encoded again is content that was not there.
func reply(r *mcp.ElicitResult) elicit.Reply {
	out := elicit.Reply{Action: r.Action}
	if r.Content != nil {
		if raw, err := json.Marshal(r.Content); err == nil {
			out.Content = raw
		}
	}
	return out
}

func timedOut(after time.Duration) broker.Answer {
	return broker.Answer{
		State: broker.TimedOut, Status: string(broker.TimedOut), Channel: channel,
		Detail: "nobody answered within " + after.String() + "; nothing was sent. If no dialog was seen, this client declares forms but does not show them",
	}
}

func (f *Form) now() time.Time {
	if f.Now != nil {
		return f.Now().Round(0)
	}
	return time.Now().Round(0)
}
