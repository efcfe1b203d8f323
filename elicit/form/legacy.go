package form

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/elicit"
)

// progressEvery keeps a call alive in clients that give up on silent ones.
const progressEvery = 10 * time.Second

// errDecided ends a prompt because the proposal is no longer asking.
var errDecided = errors.New("the proposal was decided elsewhere")

// elicit asks within the call. It ends with the client's answer, at our
// deadline, with the call, or when another channel has decided: whichever comes
// first. What the client sends after that is ignored.
func (f *Form) elicit(ctx context.Context, c Call, q broker.Question) (broker.Confirmed, error) {
	id := q.Proposal.ID
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	deadline, cancel := context.WithTimeout(asking, q.Proposal.AskUntil.Sub(f.now()))
	defer cancel()
	go f.watch(deadline, id, stop)
	defer f.progress(ctx, c.Request)()

	raw := &answerBox{}
	res, err := c.Request.Session.Elicit(context.WithValue(deadline, boxKey{}, raw), f.params(q))
	if context.Cause(asking) == errDecided { //nolint:errorlint // the very cause that was set
		return f.Broker.Outcome(ctx, id)
	}
	a := f.judge(ctx, deadline, raw.result, res, err, q.Code)
	a.Channel, a.Hash = channel, q.Proposal.Hash
	return f.Broker.Complete(ctx, id, a)
}

// judge says what became of a prompt. A context that ended decides before the
// error does: the SDK reports a cancelled call as an error of its own.
func (f *Form) judge(call, deadline context.Context, raw, res *mcp.ElicitResult, err error, code string) broker.Answer {
	switch {
	case call.Err() != nil:
		return broker.Answer{
			State: broker.CallCancelled, Status: string(broker.CallCancelled),
			Detail: "the call was cancelled while the person was asked; nothing was sent",
		}
	case err != nil && raw == nil && deadline.Err() != nil:
		return timedOut(f.Broker.AskTimeout())
	case raw != nil:
		// The SDK refuses an accept whose content does not fit; we say why.
		return elicit.Read(reply(raw), code)
	case err == nil && res != nil:
		return elicit.Read(reply(res), code)
	}
	return broker.Answer{
		State: broker.Failed, Status: string(broker.Failed),
		Detail: "the client could not show the form; nothing was sent. Use a client that supports elicitation",
	}
}

// watch ends the prompt when the proposal leaves asking: withdrawn, superseded,
// or decided in another channel.
func (f *Form) watch(ctx context.Context, id broker.ID, stop context.CancelCauseFunc) {
	if _, err := f.Broker.Wait(ctx, id, broker.Asking); err == nil {
		stop(errDecided)
	}
}

// progress tells the client every 10 s that its call is alive, where the call
// has a progress token. The returned function ends it: no value follows the
// result of the call.
func (f *Form) progress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1.0; ; n++ { // the values must rise
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: n,
				Message: fmt.Sprintf("waiting for a person to approve or decline (%s so far)", time.Duration(n)*progressEvery),
			})
			if err != nil {
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

type boxKey struct{}

// answerBox holds the client's answer as it came, before the SDK judges it.
type answerBox struct{ result *mcp.ElicitResult }

// KeepAnswers is sending middleware that keeps the raw answer to each prompt.
// Without it an accept with the wrong content could not be told from a prompt
// that failed.
func KeepAnswers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if box, ok := ctx.Value(boxKey{}).(*answerBox); ok && err == nil {
			box.result, _ = res.(*mcp.ElicitResult)
		}
		return res, err
	}
}
