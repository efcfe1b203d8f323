package toolsets

import (
	"errors"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// secretText is what the SDK echoes of a call that it cannot decode: the whole
// of its parameters, the confirm token, the request state and keys of providers
// included.
var secretText = regexp.MustCompile(`unmarshaling "(?:[^"\\]|\\.)*"|chg-[A-Za-z0-9_-]+|[A-Za-z0-9_-]{100,}`)

// WithoutSecrets returns r, or a copy whose error tells no secret (I9). Every
// transport passes its responses through it: the SDK's own errors reach no
// middleware.
func WithoutSecrets(r *jsonrpc.Response) *jsonrpc.Response {
	if r.Error == nil {
		return r
	}
	said, clean := r.Error.Error(), jsonrpc.Error{}
	if wire, ok := errors.AsType[*jsonrpc.Error](r.Error); ok { // perhaps with more text around it
		clean.Code, clean.Data = wire.Code, wire.Data
	}
	if !secretText.MatchString(said) && !secretText.Match(clean.Data) {
		return r
	}
	clean.Message, clean.Data = secretText.ReplaceAllString(said, "[redacted]"), nil
	out := *r
	out.Error = &clean
	return &out
}
