package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
	"fabricbroker/elicit"
	"fabricbroker/elicit/form"
	"fabricbroker/fabric"
	"fabricbroker/toolsets"
	"fabricbroker/toolsets/mutate"
	"fabricbroker/toolsets/reads"
)

// parts are what a server is made of. Stdio and the demo differ in these only.
type parts struct {
	names   []string // toolsets
	api     *fabric.API
	keyring *seal.Keyring
	// options of the broker; assemble fills in the parts that follow from the
	// others. Its Ledger is nil where there is no mutate toolset.
	options broker.Options
	now     func() time.Time
	log     *slog.Logger
	// principal names the caller of a request; nil is the one of stdio.
	principal func(*mcp.CallToolRequest) broker.Principal
	// middleware runs around every request; nil is none.
	middleware mcp.Middleware
	// observe measures the API's steps; close flushes the records.
	observe func(step string, took time.Duration)
	close   func()
	// ending ends every call's context: nobody is asked any more.
	ending context.Context //nolint:containedctx // a process ends once; it is not a request's
}

// assembled is a server that is ready to run.
type assembled struct {
	server *mcp.Server
	broker *broker.Broker // nil without mutate
}

// look resolves what is unknown until ending, or until the returned function is
// called, which waits for it.
func (a assembled) look(ending context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ending)
	var wg sync.WaitGroup
	wg.Go(func() { a.broker.Run(ctx) })
	return func() { cancel(); wg.Wait() }
}

func assemble(p parts) assembled {
	var out assembled
	var sets []toolsets.Toolset
	instructions := "Reads and prices Equinix Fabric assets. "
	has := func(name string) bool { return slices.Contains(p.names, name) }
	if has("fabric") {
		sets = append(sets, reads.Fabric(p.api))
	}
	if has("pricing") {
		sets = append(sets, reads.Pricing(p.api))
	}
	if p.principal == nil {
		p.principal = func(*mcp.CallToolRequest) broker.Principal { return broker.Local }
	}
	middleware := []mcp.Middleware{endsWith(p.ending)}
	if p.middleware != nil {
		middleware = append(middleware, p.middleware)
	}
	if has("mutate") {
		out.broker = broker.New(withParts(p))
		t := &mutate.Tools{
			Broker:     out.broker,
			Form:       &form.Form{Broker: out.broker, Keyring: p.keyring, Tool: mutate.ConfirmTool, Now: p.now},
			SpecSchema: fabric.SpecSchema(), ChangeTypes: broker.ChangeTypes(),
			Principal: p.principal, Now: p.now, Log: p.log,
		}
		sets = append(sets, t.Toolset())
		instructions += mutate.Instructions
	}
	out.server = toolsets.NewServer(toolsets.ServerOptions{
		Version: version, Instructions: instructions, Toolsets: sets, Log: p.log,
		Middleware: middleware,
	})
	out.server.AddSendingMiddleware(form.KeepAnswers)
	return out
}

func withParts(p parts) broker.Options {
	o := p.options
	o.Provider, o.Quoter, o.Account = p.api, p.api, p.api.Account()
	o.Tokens, o.ConfirmTool = p.keyring, mutate.ConfirmTool
	o.NewCode = func() string { return elicit.NewCode(rand.Reader) }
	o.NewID = func() broker.ID { return broker.ID(uuid.NewString()) }
	o.Now, o.Log = p.now, p.log
	return o
}

// endsWith cancels the calls in flight when the process is told to end. A
// create that is under way does not listen: it is finished and recorded.
func endsWith(ending context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(ending, cancel)()
			return next(ctx, method, req)
		}
	}
}
