package fabric

import (
	"encoding/json"
	"strings"
	"testing"
)

var (
	longText     = strings.Repeat("abcdefghij", 26)[:257]
	elevenEmails = `["` + strings.Join(strings.Split("a@x.io b@x.io c@x.io d@x.io e@x.io f@x.io g@x.io h@x.io i@x.io j@x.io k@x.io", " "), `","`) + `"]`
)

func decodeAny(t *testing.T, s string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encodeAny(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setAt sets a path of dots to a JSON text, byte for byte; "" removes it.
func setAt(t *testing.T, doc any, path, value string) {
	t.Helper()
	segments := strings.Split(path, ".")
	for _, s := range segments[:len(segments)-1] {
		doc = doc.(map[string]any)[s]
	}
	last := segments[len(segments)-1]
	if value == "" {
		delete(doc.(map[string]any), last)
		return
	}
	doc.(map[string]any)[last] = json.RawMessage(value)
}
