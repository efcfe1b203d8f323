// Command gosdk drives the client of the official Go SDK.
package main

import (
	"context"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/testdata/clients/job"
)

func main() { job.Main(connect) }

func connect(ctx context.Context, s *job.Script) (job.Call, error) {
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if s.Answer != "none" {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			action, content := s.Form(r.Params.Message, r.Params.RequestedSchema)
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}
	}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL}
	if s.URL == "" {
		transport = &mcp.CommandTransport{Command: exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)} //nolint:gosec // the job says what to start
	}
	version := "2026-07-28"
	if s.Era == "legacy" {
		version = "2025-11-25"
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, o).
		Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tool string, args job.Object) (job.Object, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return nil, err
		}
		return job.Structured(res)
	}, nil
}
