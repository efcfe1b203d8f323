package toolsets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler runs a tool. Its error is a *broker.Refusal, a *jsonrpc.Error (which
// goes to the client as it is) or a failure whose cause only the log sees.
type Handler func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// Tool is a tool as clients see it, and what runs it.
type Tool struct {
	Definition *mcp.Tool
	Handler    Handler
}

// Toolset is a group of tools that an operator turns on by name.
type Toolset struct {
	Name  string
	Tools []Tool
}

// Known are the names of all toolsets, in the order in which they are listed.
// A name that is not built yet has no tools.
var Known = []string{"fabric", "pricing", "mutate", "gate"}

// ParseNames reads a comma-separated list of toolsets. Order does not matter
// and a repeated name counts once.
func ParseNames(s string) ([]string, error) {
	var names []string
	for n := range strings.SplitSeq(s, ",") {
		n = strings.TrimSpace(n)
		switch {
		case n == "" || slices.Contains(names, n):
		case slices.Contains(Known, n):
			names = append(names, n)
		default:
			return nil, fmt.Errorf("unknown toolset %q: the toolsets are %s", n, strings.Join(Known, ", "))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no toolset is named: the toolsets are %s", strings.Join(Known, ", "))
	}
	return names, nil
}

// Object returns the JSON Schema of arguments: properties by name, of which
// required must be there. Others are refused.
func Object(properties map[string]any, required ...string) map[string]any {
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
