package remote

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/toolsets"
)

// CallLimits are what one principal may do at a time. Zero values take their
// defaults.
type CallLimits struct {
	// Calls is how many tools may run at the same time: 16.
	Calls int
	// Proposals is how many proposals may be made in a minute: 30.
	Proposals int
	// ProposeTools make proposals, ConfirmTool confirms them.
	ProposeTools []string
	ConfirmTool  string
	Now          func() time.Time
	Log          *slog.Logger
}

// Calls is the middleware between the SDK and the tools: whose call it is, and
// whether that caller may make one more. Use [NewCalls].
type Calls struct {
	o     CallLimits
	usage usages
}

// NewCalls returns the middleware of one server.
func NewCalls(o CallLimits) *Calls {
	setDefault(&o.Calls, 16)
	setDefault(&o.Proposals, 30)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Calls{o: o, usage: usages{perMinute: o.Proposals}}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Middleware is for [toolsets.ServerOptions]. A message that did not come
// through this package has no principal and gets no answer.
func (c *Calls) Middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		v := visitOf(req.GetExtra())
		if v == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(broker.ErrInternal) + ": the caller is not known"}
		}
		ctx = withLogged(ctx, v, metaOf(req))
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		v.stream.wait()
		if v.session != nil { // its end ends its calls, else it would wait for them
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(v.session.gone, cancel)() //nolint:contextcheck // the session ends it, not the call
		}
		if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && method == "tools/call" {
			return c.call(ctx, v.caller.Principal, p.Name, func() (mcp.Result, error) { return next(ctx, method, req) })
		}
		return next(ctx, method, req)
	}
}

// call runs a tool if its caller may have it run now. A refusal here has spent
// nothing: no tool has seen the call.
func (c *Calls) call(ctx context.Context, p broker.Principal, tool string, run func() (mcp.Result, error)) (mcp.Result, error) {
	u := c.usage.of(p)
	defer c.usage.done(p, u)
	if n := u.running.Add(1); int(n) > c.o.Calls {
		u.running.Add(-1)
		return c.refuse(ctx, tool, 5, "%d calls of this caller already run", c.o.Calls)
	}
	defer u.running.Add(-1)
	if slices.Contains(c.o.ProposeTools, tool) {
		now := c.o.Now()
		r := u.proposals.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			return c.refuse(ctx, tool, int(math.Ceil(wait.Seconds())), "more than %d proposals in a minute", c.o.Proposals)
		}
	}
	return run()
}

func (c *Calls) refuse(ctx context.Context, tool string, seconds int, format string, args ...any) (mcp.Result, error) {
	r := broker.Refuse(broker.ErrRateLimited, fmt.Sprintf("wait %d seconds, then call again; nothing is spent", seconds), format, args...)
	e, next, _ := toolsets.Explain(ctx, c.o.Log, r)
	f := toolsets.Failure{Error: e, NextStep: next}
	if tool == c.o.ConfirmTool {
		f.Checks = &broker.Checks{} // none was reached
	}
	return toolsets.Result(f, true)
}

// metaOf returns the _meta of a request, nil where it has none.
func metaOf(req mcp.Request) map[string]any {
	p := req.GetParams()
	if p == nil || reflect.ValueOf(p).IsNil() { // the SDK passes typed nils
		return nil
	}
	return p.GetMeta()
}
