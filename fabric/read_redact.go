package fabric

import (
	"bytes"
	"encoding/json"
	"strings"

	"fabricbroker/broker"
)

// secretKeys are the keys whose texts are provider keys.
var secretKeys = map[string]bool{
	"authenticationkey": true, "activationkey": true, "accesskey": true, "secretkey": true, "bgpauthenticationkey": true,
}

// redact masks, in an asset that was read, provider keys and the ids of service
// tokens, wherever else they stand too: an href repeats the id. Long texts are
// cut.
func redact(kind string, o map[string]any) map[string]any {
	secrets := map[string]string{}
	if kind == kindToken {
		remember(secrets, o["uuid"])
	}
	collect(secrets, o)
	return rewrite(secrets, o, 0).(map[string]any)
}

// redactJSON is redact for a document that is no asset yet.
func redactJSON(doc []byte) []byte {
	v, err := decodeJSON(doc)
	if err != nil {
		return nil
	}
	secrets := map[string]string{}
	collect(secrets, v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(rewrite(secrets, v, 0)) != nil {
		return nil
	}
	return b.Bytes()
}

func remember(secrets map[string]string, v any) {
	if s := text(v); s != "" {
		secrets[s] = broker.MaskValue(s)
	}
}

func collect(secrets map[string]string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(secrets, e)
		}
	case map[string]any:
		for k, e := range v {
			k = strings.ToLower(k)
			if secretKeys[k] {
				remember(secrets, e)
			}
			if k == "servicetoken" {
				remember(secrets, at(e, "uuid"))
			}
			collect(secrets, e)
		}
		// additionalInfo has its keys as values.
		if k := strings.ToLower(text(v["key"])); secretKeys[k] {
			remember(secrets, v["value"])
		}
	}
}

func rewrite(secrets map[string]string, v any, depth int) any {
	const maxText, maxKey, maxDepth = 2000, 200, 64
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case string:
		for s, shown := range secrets {
			if v == s {
				return shown
			}
			if len(s) >= 6 {
				v = strings.ReplaceAll(v, s, shown)
			}
		}
		return clean(v, maxText)
	case []any:
		for i := range v {
			v[i] = rewrite(secrets, v[i], depth+1)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[clean(k, maxKey)] = rewrite(secrets, e, depth+1)
		}
		return out
	}
	return v
}
