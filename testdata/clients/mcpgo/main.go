// Command mcpgo drives the client of mark3labs/mcp-go.
package main

import (
	"context"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"fabricbroker/testdata/clients/job"
)

func main() { job.Main(connect) }

// person answers forms.
type person struct{ *job.Script }

// Elicit implements client.ElicitationHandler.
func (p person) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	action, content := p.Form(r.Params.Message, r.Params.RequestedSchema)
	res := mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(action)}
	if content != nil {
		res.Content = content
	}
	return &mcp.ElicitationResult{ElicitationResponse: res}, nil
}

func connect(ctx context.Context, s *job.Script) (job.Call, error) {
	var o []client.ClientOption
	if s.Era == "legacy" {
		o = append(o, client.WithProtocolVersion("2025-11-25"))
	}
	if s.Answer != "none" {
		o = append(o, client.WithElicitationHandler(person{s}))
	}
	t, err := open(s)
	if err != nil {
		return nil, err
	}
	c := client.NewClient(t, o...)
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1"}
	if s.Era == "legacy" {
		hello.Params.ProtocolVersion = "2025-11-25"
	}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tool string, args job.Object) (job.Object, error) {
		call := mcp.CallToolRequest{}
		call.Params.Name, call.Params.Arguments = tool, args
		res, err := c.CallTool(ctx, call)
		if err != nil {
			return nil, err
		}
		return job.Structured(res)
	}, nil
}

func open(s *job.Script) (transport.Interface, error) {
	if s.URL != "" {
		return transport.NewStreamableHTTP(s.URL)
	}
	return transport.NewStdio(s.Command[0], os.Environ(), s.Command[1:]...), nil
}
