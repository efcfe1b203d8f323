package toolsets

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

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
	// SDK is what the SDK is told besides. The product has nothing to add; a
	// server with prompts or resources declares them here.
	SDK mcp.ServerOptions
}

// NewServer assembles the MCP server. One server serves both protocol eras.
func NewServer(o ServerOptions) *mcp.Server {
	// Its KeepAlive stays 0: pings cannot be answered in the modern era and
	// would close healthy sessions.
	sdk := o.SDK
	sdk.Instructions, sdk.Logger = o.Instructions, o.Log
	if sdk.Capabilities == nil {
		// The SDK would advertise logging, which is deprecated and unused. A
		// fixed tool list needs no list-changed notification either.
		sdk.Capabilities = &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fabric-broker", Title: "Fabric Broker", Version: o.Version}, &sdk)
	for _, set := range o.Toolsets {
		for _, t := range set.Tools {
			s.AddTool(t.Definition, answer(o.Log, t.Handler))
		}
	}
	s.AddReceivingMiddleware(append([]mcp.Middleware{guard(o.Log), declared(sdk.Capabilities), clampVersion}, o.Middleware...)...)
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

// declared answers as a server that has what it declares and nothing else: the
// SDK would list no prompts and no resources for one that declares neither. It
// may go on taking a log level: no message of any level ever comes.
func declared(caps *mcp.ServerCapabilities) mcp.Middleware {
	missing := map[string]bool{"prompts": caps.Prompts == nil, "resources": caps.Resources == nil}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if feature, _, _ := strings.Cut(method, "/"); missing[feature] {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this server has no " + feature}
			}
			return next(ctx, method, req)
		}
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
