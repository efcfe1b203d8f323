package remote

import (
	"strings"
	"testing"
)

// One endpoint, two handlers, and the header decides.
func TestTheVersionHeaderDecidesTheEra(t *testing.T) {
	w := newWorld(t)
	discover := strings.Replace(modernCall("who", ""), "tools/call", "server/discover", 1)
	for _, row := range []struct {
		rule   string
		method string
		body   string
		header map[string]string
		status int
		code   any
	}{
		{"a modern call", "POST", modernCall("who", ""), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "who"}, 200, nil},
		{"a modern call with somebody's session is still modern", "POST", modernCall("who", ""), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "who", "Mcp-Session-Id": "x"}, 200, nil},
		{"discovery", "POST", discover, map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "server/discover"}, 200, nil},
		{"a modern body without its header", "POST", modernCall("who", ""), nil, 400, float64(-32020)},
		{"a header that contradicts the body", "POST", modernCall("who", ""), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/list", "Mcp-Name": "who"}, 400, float64(-32020)},
		{"another version in the body", "POST", strings.ReplaceAll(modernCall("who", ""), modern, "2025-11-25"), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "who"}, 400, float64(-32020)},
		{"a version of the future", "POST", strings.ReplaceAll(modernCall("who", ""), modern, "2099-01-01"), map[string]string{"Mcp-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/call", "Mcp-Name": "who"}, 400, float64(-32022)},
		{"initialize is not of the modern era", "POST", strings.Replace(initialize, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},`, 1), map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "initialize"}, 404, float64(-32601)},
		{"no stream by GET in the modern era", "GET", "", map[string]string{"Mcp-Protocol-Version": modern}, 405, nil},
		{"no DELETE in the modern era", "DELETE", "", map[string]string{"Mcp-Protocol-Version": modern}, 405, nil},
		{"an old initialize", "POST", initialize, nil, 200, nil},
		{"a version that never was", "POST", initialize, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, 400, nil},
		{"a call before any session", "POST", legacyCall("who"), nil, 200, float64(0)},
		{"a session that never was", "POST", legacyCall("who"), map[string]string{"Mcp-Session-Id": "nope"}, 404, nil},
		{"GET without a session", "GET", "", nil, 400, nil},
		{"DELETE of a session that never was", "DELETE", "", map[string]string{"Mcp-Session-Id": "nope"}, 404, nil},
		{"no JSON", "POST", "{", nil, 400, nil},
		{"no JSON in the modern era", "POST", "{", map[string]string{"Mcp-Protocol-Version": modern}, 400, nil},
		{"an empty body", "POST", "", nil, 400, nil},
		{"another media type", "POST", initialize, map[string]string{"Content-Type": "text/plain"}, 415, nil},
		{"no stream accepted", "POST", initialize, map[string]string{"Accept": "application/json"}, 400, nil},
		{"another method", "PUT", "{}", nil, 405, nil},
	} {
		t.Run(row.rule, func(t *testing.T) {
			r := w.do(row.method, "/mcp", row.body, row.header)
			if r.status != row.status || r.code() != row.code {
				t.Errorf("status %d, code %v, want %d, %v: %s", r.status, r.code(), row.status, row.code, r.text)
			}
		})
	}
}

// S6: whatever an initialize asks for, what it gets is the legacy era, and in it
// a client can be asked.
func TestAnInitializeOfTheFutureIsLegacy(t *testing.T) {
	w := newWorld(t)
	for _, v := range []string{modern, "2099-01-01", "DRAFT-2025-v2"} {
		r := w.do("POST", "/mcp", strings.Replace(initialize, "2025-11-25", v, 1), nil)
		if got := r.result()["protocolVersion"]; r.status != 200 || got != "2025-11-25" {
			t.Errorf("%s: %d %v", v, r.status, got)
		}
	}
}

func TestEventStreamsAreNotBuffered(t *testing.T) {
	w := newWorld(t)
	r := w.call("who", nil)
	if r.header.Get("X-Accel-Buffering") != "no" || r.header.Get("Cache-Control") != "no-cache, no-transform" {
		t.Errorf("header %v", r.header)
	}
	if plain := w.do("GET", "/healthz", "", nil); plain.header.Get("X-Accel-Buffering") != "" {
		t.Errorf("a plain answer has %v", plain.header)
	}
}
