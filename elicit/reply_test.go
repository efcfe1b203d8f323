package elicit_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
	"fabricbroker/elicit"
)

const code = "ACD347"

func TestRead(t *testing.T) {
	const none = "\x00"
	for _, tt := range []struct {
		rule, action, content, code string
		want                        broker.State
		detail                      string // is part of it
	}{
		{"approves/confirm true", "accept", `{"confirm":true}`, "", broker.Approved, "confirm = true"},
		{"approves/other fields are the client's", "accept", `{"x":[1,{"confirm":false}],"confirm":true}`, "", broker.Approved, ""},
		{"approves/a code nobody asked for", "accept", `{"confirm":true,"confirm_code":7}`, "", broker.Approved, ""},
		{"approves/the right code", "accept", `{"confirm":true,"confirm_code":"ACD347"}`, code, broker.Approved, "the right code"},
		{"approves/spaces and case", "accept", `{"confirm":true,"confirm_code":" acd347\n"}`, code, broker.Approved, ""},
		{"approves/an escaped name", "accept", `{"\u0063onfirm":true}`, "", broker.Approved, ""},

		{"declines/decline", "decline", none, "", broker.Declined, "if no dialog was seen"},
		{"declines/decline with confirm true", "decline", `{"confirm":true,"confirm_code":"ACD347"}`, code, broker.Declined, "declined by"},
		{"declines/no content", "accept", none, "", broker.Declined, "without sending it"},
		{"declines/null content", "accept", `null`, "", broker.Declined, "without sending it"},
		{"declines/empty form", "accept", `{}`, "", broker.Declined, "without the answer confirm = true"},
		{"declines/confirm false", "accept", `{"confirm":false}`, "", broker.Declined, "confirm = false"},
		{"declines/text", "accept", `{"confirm":"true"}`, "", broker.Declined, "a text as confirm"},
		{"declines/yes", "accept", `{"confirm":"yes"}`, "", broker.Declined, "a text as confirm"},
		{"declines/number", "accept", `{"confirm":1}`, "", broker.Declined, "a number as confirm"},
		{"declines/null", "accept", `{"confirm":null}`, "", broker.Declined, "null as confirm"},
		{"declines/list", "accept", `{"confirm":[true]}`, "", broker.Declined, "a list as confirm"},
		{"declines/object", "accept", `{"confirm":{"confirm":true}}`, "", broker.Declined, "an object as confirm"},
		{"declines/another name", "accept", `{"Confirm":true,"approve":true,"CONFIRM":true}`, "", broker.Declined, "without the answer"},
		{"declines/twice", "accept", `{"confirm":false,"confirm":true}`, "", broker.Declined, "more than once"},
		{"declines/twice the same", "accept", `{"confirm":true,"confirm":true}`, "", broker.Declined, "more than once"},
		{"declines/twice, once escaped", "accept", `{"confirm":true,"\u0063onfirm":true}`, "", broker.Declined, "more than once"},
		{"declines/invalid", "accept", `{"confirm":true`, "", broker.Declined, "not valid JSON"},
		{"declines/something after it", "accept", `{"confirm":true}{}`, "", broker.Declined, "not valid JSON"},
		{"declines/bare true", "accept", `true`, "", broker.Declined, "not a form"},
		{"declines/in a list", "accept", `[{"confirm":true}]`, "", broker.Declined, "not a form"},
		{"declines/huge", "accept", `{"x":"` + strings.Repeat("x", 5000) + `","confirm":true}`, "", broker.Declined, "more than it can have"},
		{"declines/no code", "accept", `{"confirm":true}`, code, broker.Declined, "without the code"},
		{"declines/empty code", "accept", `{"confirm":true,"confirm_code":""}`, code, broker.Declined, "not the one"},
		{"declines/wrong code", "accept", `{"confirm":true,"confirm_code":"ACD349"}`, code, broker.Declined, "not the one"},
		{"declines/half a code", "accept", `{"confirm":true,"confirm_code":"ACD"}`, code, broker.Declined, "not the one"},
		{"declines/code as number", "accept", `{"confirm":true,"confirm_code":347347}`, "347347", broker.Declined, "a number as the code"},
		{"declines/code null", "accept", `{"confirm":true,"confirm_code":null}`, code, broker.Declined, "null as the code"},
		{"declines/two codes", "accept", `{"confirm":true,"confirm_code":"x","confirm_code":"ACD347"}`, code, broker.Declined, "more than once"},
		{"declines/the right code without yes", "accept", `{"confirm":false,"confirm_code":"ACD347"}`, code, broker.Declined, "confirm = false"},
		{"declines/a blank code was asked", "accept", `{"confirm":true,"confirm_code":" "}`, " ", broker.Declined, "not the one"},
		{"declines/letters that fold to others", "accept", `{"confirm":true,"confirm_code":"\u017fCD347"}`, "SCD347", broker.Declined, "not the one"},

		{"cancels/cancel", "cancel", none, "", broker.Cancelled, "closed without an answer"},
		{"cancels/with confirm true", "cancel", `{"confirm":true}`, "", broker.Cancelled, ""},

		{"fails/nothing", "", `{"confirm":true}`, "", broker.Failed, `the action ""`},
		{"fails/capitals", "ACCEPT", `{"confirm":true}`, "", broker.Failed, `"ACCEPT"`},
		{"fails/a space", " accept", `{"confirm":true}`, "", broker.Failed, `" accept"`},
		{"fails/yes", "yes", `{"confirm":true}`, "", broker.Failed, `"yes"`},
		{"fails/a zero", "accept\x00", `{"confirm":true}`, "", broker.Failed, `\x00`},
		{"fails/a story", strings.Repeat("accept\n", 100), `{"confirm":true}`, "", broker.Failed, "cut"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			r := elicit.Reply{Action: tt.action}
			if tt.content != none {
				r.Content = json.RawMessage(tt.content)
			}
			got := elicit.Read(r, tt.code)
			if got.State != tt.want {
				t.Errorf("state %s, want %s", got.State, tt.want)
			}
			if !strings.Contains(got.Detail, tt.detail) {
				t.Errorf("detail %q, want %q in it", got.Detail, tt.detail)
			}
			checkAnswer(t, got, tt.code)
		})
	}
}

// checkAnswer checks what holds for every answer.
func checkAnswer(t *testing.T, a broker.Answer, code string) {
	t.Helper()
	if !slices.Contains([]broker.State{broker.Approved, broker.Declined, broker.Cancelled, broker.Failed}, a.State) {
		t.Errorf("state %q", a.State)
	}
	if !broker.Asking.CanBecome(a.State) {
		t.Errorf("%q does not follow asking", a.State)
	}
	status := string(a.State)
	if a.State == broker.Approved {
		status = broker.StatusAccepted
	} else if !strings.Contains(a.Detail, "nothing was sent") {
		t.Errorf("a no that does not say so: %q", a.Detail)
	}
	if a.Status != status {
		t.Errorf("status %q of %q", a.Status, a.State)
	}
	if len(code) == 6 && strings.Contains(a.Detail, code) {
		t.Errorf("the code is in %q", a.Detail)
	}
	if !regexp.MustCompile(`^[ -~]{1,300}$`).MatchString(a.Detail) {
		t.Errorf("detail %q", a.Detail)
	}
}

// FuzzRead: nothing but the one reply is an approval (I3).
func FuzzRead(f *testing.F) {
	f.Add("accept", []byte(`{"confirm":true}`), "")
	f.Add("accept", []byte(`{"confirm":true,"confirm_code":"acd347"}`), code)
	f.Add("accept", []byte(`{"confirm":true,"confirm":false}`), "")
	f.Add("decline", []byte(nil), "")
	f.Add("ACCEPT", []byte(`{"confirm":"true"}`), "")
	f.Fuzz(func(t *testing.T, action string, content []byte, code string) {
		got := elicit.Read(elicit.Reply{Action: action, Content: content}, code)
		checkAnswer(t, got, "")
		if got.State != broker.Approved {
			return
		}
		var form map[string]any
		if action != "accept" || json.Unmarshal(content, &form) != nil || form["confirm"] != true {
			t.Fatalf("approved: %q %q", action, content)
		}
		typed, _ := form["confirm_code"].(string)
		if code != "" && !strings.EqualFold(strings.TrimSpace(typed), strings.TrimSpace(code)) {
			t.Fatalf("approved with %q for %q", typed, code)
		}
	})
}

func TestSchema(t *testing.T) {
	for name, withCode := range map[string]bool{"schema": false, "schema-code": true} {
		t.Run(name, func(t *testing.T) {
			text, err := json.MarshalIndent(elicit.Schema(withCode), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", string(text)+"\n")
			var schema struct {
				Type       string
				Properties map[string]map[string]any
				Required   []string
			}
			if err := json.Unmarshal(text, &schema); err != nil {
				t.Fatal(err)
			}
			if schema.Type != "object" || schema.Properties["confirm"]["type"] != "boolean" || len(schema.Required) != len(schema.Properties) {
				t.Errorf("schema %s", text)
			}
			for field, p := range schema.Properties {
				keys := slices.Sorted(func(yield func(string) bool) {
					for k := range p {
						if !yield(k) {
							return
						}
					}
				})
				if diff := cmp.Diff([]string{"description", "title", "type"}, keys); diff != "" {
					t.Errorf("%s is outside of the portable subset (-want +got):\n%s", field, diff)
				}
				if !slices.Contains(schema.Required, field) {
					t.Errorf("%s is not required", field)
				}
			}
			if word := regexp.MustCompile(`(?i)password|secret|token|key|credential|card|pin\b`).FindString(string(text)); word != "" {
				t.Errorf("%q in a form that must not ask for secrets", word)
			}
		})
	}
}

func TestNewCode(t *testing.T) {
	seen := map[rune]bool{}
	for range 2000 {
		c := elicit.NewCode(rand.Reader)
		if !regexp.MustCompile(`^[A-Z0-9]{6}$`).MatchString(c) || strings.ContainsAny(c, "0OQ1IL2Z5S6G8BUV") {
			t.Fatalf("code %q", c)
		}
		for _, r := range c {
			seen[r] = true
		}
		got := elicit.Read(elicit.Reply{Action: "accept", Content: fmt.Appendf(nil, `{"confirm":true,"confirm_code":%q}`, strings.ToLower(c))}, c)
		if got.State != broker.Approved {
			t.Fatalf("%q is not accepted: %s", c, got.Detail)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d different characters in 2000 codes, want 20", len(seen))
	}
	// Bytes above the fair range are drawn again.
	if c := elicit.NewCode(bytes.NewReader([]byte{255, 240, 0, 0, 0, 0, 0, 19})); c != "AAAAA9" {
		t.Errorf("code %q", c)
	}
}
