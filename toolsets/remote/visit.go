package remote

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
)

// visit is one HTTP request, as the code that runs its messages sees it. The
// SDK runs those under the context of the connection, which in a session is
// that of its first request: what belongs to this very request comes this way.
type visit struct {
	id      string // of the request
	caller  Caller
	trace   trace
	stream  *stream
	session *session // nil outside one
}

// visitKey is where the SDK's token info carries the visit.
const visitKey = "visit"

// bound hands v to the SDK. The bearer token stays behind: the SDK passes all
// headers on to tools.
func bound(v *visit, next http.Handler) http.Handler {
	info := &auth.TokenInfo{UserID: name(v.caller.Principal), Extra: map[string]any{visitKey: v}}
	h := auth.RequireBearerToken(
		func(context.Context, string, *http.Request) (*auth.TokenInfo, error) { return info, nil },
		&auth.RequireBearerTokenOptions{AllowMissingExpiration: true}, // it was checked before
	)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer verified")
		r.Header.Del("Cookie")
		h.ServeHTTP(w, r)
	})
}

// name is p as one text: equal exactly for equal principals.
func name(p broker.Principal) string {
	b, err := json.Marshal([]string{p.Kind, p.Issuer, p.Tenant, p.Subject})
	if err != nil {
		panic("remote: strings cannot be encoded: " + err.Error())
	}
	return string(b)
}

// visitOf returns the visit of a message, nil where it came in another way.
func visitOf(x *mcp.RequestExtra) *visit {
	if x == nil || x.TokenInfo == nil {
		return nil
	}
	v, _ := x.TokenInfo.Extra[visitKey].(*visit)
	return v
}

// Principal names the caller of a request that came through this package. The
// middleware of [Calls] lets no other one through.
func Principal(req *mcp.CallToolRequest) broker.Principal {
	if v := visitOf(req.GetExtra()); v != nil {
		return v.caller.Principal
	}
	return broker.Principal{}
}
