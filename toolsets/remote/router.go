package remote

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/toolsets"
)

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// sessionTimeout is how long a session may be silent.
const sessionTimeout = 30 * time.Minute

// eras are the two SDK handlers over one server.
type eras struct{ modern, legacy http.Handler }

// newEras makes the handlers. JSONResponse stays false in both: with it a
// question goes to a stream that a client may not have opened.
func newEras(server *mcp.Server, log *slog.Logger) eras {
	get := func(*http.Request) *mcp.Server { return server }
	return eras{
		modern: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Stateless: true,
			// A closed stream is a cancelled call (2026-07-28, cancellation).
			PropagateRequestCancellation: true,
			DisableLocalhostProtection:   true, // hosts does it, and knows the public URL
			MaxRequestBodyBytes:          maxBody, Logger: log,
		}),
		legacy: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			SessionTimeout:             sessionTimeout,
			DisableLocalhostProtection: true,
			MaxRequestBodyBytes:        maxBody, Logger: log,
		}),
	}
}

// isModern says which handler a request is for. Versions are dates, and compare
// as text.
func isModern(r *http.Request, body []byte) bool {
	if v := r.Header.Get(versionHeader); v != "" {
		return v >= toolsets.ModernVersion
	}
	// A request that names its version in the body only lacks its header. The
	// modern handler says so; the other would say that it knows no such version.
	return r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && peek(body).version() != ""
}

// message is as much of a JSON-RPC message as routing looks at.
type message struct {
	Method string `json:"method"`
	Params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

func (m message) version() string {
	var v string
	_ = json.Unmarshal(m.Params.Meta[mcp.MetaKeyProtocolVersion], &v)
	return v
}

// peek reads what it can. What cannot be read is for the SDK to refuse.
func peek(body []byte) (m message) {
	_ = json.Unmarshal(body, &m)
	return m
}
