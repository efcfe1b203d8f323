package toolsets

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server does not declare is a method that it does not have; it does not
// answer with an empty list (2026-07-28: who supports prompts MUST declare them).
func TestOnlyWhatIsDeclaredIsAnswered(t *testing.T) {
	for name, row := range map[string]struct {
		caps *mcp.ServerCapabilities
		want int64 // the code of an error
	}{
		"tools":                        {nil, jsonrpc.CodeMethodNotFound},
		"tools, prompts and resources": {&mcp.ServerCapabilities{Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(ServerOptions{Version: "test", Log: slog.New(slog.DiscardHandler), SDK: mcp.ServerOptions{Capabilities: row.caps}})
			atServer, atClient := mcp.NewInMemoryTransports()
			if _, err := s.Connect(t.Context(), atServer, nil); err != nil {
				t.Fatal(err)
			}
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), atClient, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			for method, call := range map[string]func(context.Context) error{
				"prompts/list":             func(ctx context.Context) error { _, err := c.ListPrompts(ctx, nil); return err },
				"resources/list":           func(ctx context.Context) error { _, err := c.ListResources(ctx, nil); return err },
				"resources/templates/list": func(ctx context.Context) error { _, err := c.ListResourceTemplates(ctx, nil); return err },
			} {
				var code int64
				err := call(t.Context())
				if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
					code = wire.Code
				}
				if code != row.want || (err != nil) != (row.want != 0) {
					t.Errorf("%s: %v, want code %d", method, err, row.want)
				}
			}
			if _, err := c.ListTools(t.Context(), nil); err != nil {
				t.Errorf("tools/list: %v", err)
			}
		})
	}
}
