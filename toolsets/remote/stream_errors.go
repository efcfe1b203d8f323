package remote

import (
	"bytes"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"fabricbroker/toolsets"
)

// withoutSecrets returns what the SDK writes at once, an event or a message,
// without the secrets that an error in it would tell (I9).
func withoutSecrets(p []byte) []byte {
	first, last := bytes.IndexByte(p, '{'), bytes.LastIndexByte(p, '}')
	if first < 0 || last < first || !bytes.Contains(p, []byte(`"error":`)) {
		return p
	}
	m, err := jsonrpc.DecodeMessage(p[first : last+1])
	r, ok := m.(*jsonrpc.Response)
	if err != nil || !ok {
		return p
	}
	clean := toolsets.WithoutSecrets(r)
	if clean == r {
		return p
	}
	b, err := jsonrpc.EncodeMessage(clean)
	if err != nil {
		panic("remote: an error of code and text cannot be encoded: " + err.Error())
	}
	return slices.Concat(p[:first], b, p[last+1:])
}
