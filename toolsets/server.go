package toolsets

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
)

// ModernVersion is the first protocol version whose requests stand on their
// own: no initialize, no requests from the server. Versions are dates and
// compare as text.
const ModernVersion = "2026-07-28"

// lastLegacy is what a client that initializes with a newer version gets.
const lastLegacy = "2025-11-25"

// ServerOptions describe the server to assemble.
type ServerOptions struct {
	Version      string
	Instructions string
	Toolsets     []Toolset
	Log          *slog.Logger
	// Middleware runs around every request, inside the panic guard.
	Middleware []mcp.Middleware
}

// NewServer assembles the MCP server. One server serves both protocol eras.
func NewServer(o ServerOptions) *mcp.Server {
	s := mcp.NewServer(
		&mcp.Implementation{Name: "fabric-broker", Title: "Fabric Broker", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: o.Instructions,
			// The SDK would advertise logging, which is deprecated and unused.
			// A fixed tool list needs no list-changed notification either.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			Logger:       o.Log,
			// KeepAlive stays 0: pings cannot be answered in the modern era and
			// would close healthy sessions.
		})
	for _, set := range o.Toolsets {
		for _, t := range set.Tools {
			s.AddTool(t.Definition, answer(o.Log, t.Handler))
		}
	}
	s.AddReceivingMiddleware(append([]mcp.Middleware{guard(o.Log), onlyTools, clampVersion}, o.Middleware...)...)
	return s
}

// guard keeps a panicking handler from ending the process: the SDK recovers
// nothing.
func guard(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.ErrorContext(ctx, "handler panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(broker.ErrInternal) + ": ask fabric_change_status before proposing again"}
				}
			}()
			return next(ctx, method, req)
		}
	}
}

// onlyTools answers as a server that has tools and nothing else: the SDK would
// list no prompts and no resources although it declares neither.
func onlyTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this server has tools only"}
		}
		return next(ctx, method, req)
	}
}

// clampVersion corrects the version of an initialize. The SDK negotiates an
// unknown or newer one down to 2025-11-25 but remembers what was asked for, and
// then takes the session for one of the modern era and refuses to elicit.
func clampVersion(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.InitializeParams); ok && p != nil && p.ProtocolVersion >= ModernVersion {
			p.ProtocolVersion = lastLegacy
		}
		return next(ctx, method, req)
	}
}

// Modern reports whether this very request is of the modern era. It looks at
// the request alone, never at the session: one connection may carry both.
func Modern(req *mcp.CallToolRequest) bool {
	v, _ := req.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	return v >= ModernVersion
}

// CanAsk reports whether the client of this request can show a form. Declared
// empty, elicitation means forms; with url alone it does not.
func CanAsk(req *mcp.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}
