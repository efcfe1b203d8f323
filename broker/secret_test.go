package broker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"fabricbroker/broker"
)

// I9: nothing that Go offers prints a secret.
func TestI9NothingPrintsASecret(t *testing.T) {
	const text = "chg-hush"
	s := broker.NewSecret(text)
	type holder struct {
		S broker.Secret
		P *broker.Secret
	}
	values := map[string]any{
		"itself": s, "a pointer": &s, "a struct": holder{s, &s}, "a slice": []broker.Secret{s},
		"a map": map[string]broker.Secret{"k": s}, "a key": map[broker.Secret]int{s: 1}, "an interface": []any{s, holder{S: s}},
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d", "%t"} {
			if got := fmt.Sprintf(verb, v); leaks(got, text) {
				t.Errorf("prints/%s with %s: %s", name, verb, got)
			}
		}
		if got, err := json.Marshal(v); err != nil || leaks(string(got), text) {
			t.Errorf("prints/%s as JSON: %s, %v", name, got, err)
		}
		var out bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("m", "k", v, slog.Group("g", "k", v))
		}
		if leaks(out.String(), text) {
			t.Errorf("prints/%s in a log: %s", name, out.String())
		}
	}
	if err := fmt.Errorf("lost %v", s); leaks(err.Error(), text) {
		t.Errorf("prints/in an error: %v", err)
	}
}

func leaks(out, text string) bool {
	return strings.Contains(out, text) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", text))
}

func TestASecretPrintsAsRedacted(t *testing.T) {
	s := broker.NewSecret("x")
	if got := fmt.Sprint(s); got != "[redacted]" {
		t.Errorf("got %s", got)
	}
	if got, _ := json.Marshal(map[string]any{"s": s}); string(got) != `{"s":"[redacted]"}` {
		t.Errorf("got %s", got)
	}
}

func TestOnlyRevealGivesTheText(t *testing.T) {
	if s := broker.NewSecret("x"); s.Reveal() != "x" || s.IsZero() {
		t.Errorf("reveals %q, zero %v", s.Reveal(), s.IsZero())
	}
	if (broker.Secret{}) != broker.NewSecret("") || !(broker.Secret{}).IsZero() {
		t.Error("the zero value is a secret")
	}
}
