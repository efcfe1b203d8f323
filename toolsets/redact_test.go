package toolsets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// I9: the SDK's own errors echo a call that it cannot decode.
func TestErrorsOfTheSDKTellNoSecret(t *testing.T) {
	token, state := "chg-"+strings.Repeat("Ab1_", 34), strings.Repeat("xY-9", 35)
	for name, e := range map[string]error{
		"in the message": &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `cannot decode {"confirm_token":"` + token + `","requestState":"` + state + `"}`},
		"around it":      fmt.Errorf("%w: cannot decode %s", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params"}, token),
		"in the data":    &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "cannot decode", Data: json.RawMessage(`"` + state + `"`)},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := WithoutSecrets(&jsonrpc.Response{Error: e}).Error.(*jsonrpc.Error) //nolint:errorlint // the SDK wants it bare
			if !ok || got.Code != jsonrpc.CodeInvalidParams {
				t.Fatalf("%v", got)
			}
			if s := got.Message + string(got.Data); strings.Contains(s, token) || strings.Contains(s, state) {
				t.Errorf("it tells %s", s)
			}
		})
	}
	plain := &jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool"}}
	if WithoutSecrets(plain) != plain {
		t.Error("an innocent error was changed")
	}
}
