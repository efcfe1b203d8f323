package elicit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"fabricbroker/broker"
)

// maxContent is more than any honest content of the form.
const maxContent = 4 << 10

// Reply is a raw answer as a client sent it.
type Reply struct {
	Action  string
	Content json.RawMessage // nil: none
}

// Read turns a reply into an answer; code is what the form asked for, "" where it
// asked for none. The answer is Approved only if the action is exactly "accept",
// confirm is exactly true and the code is right. Everything else is a no whose
// Detail says why. The caller names the channel.
//
// Clients accept without showing anything, send the empty form, or make up
// values of the wrong type: an acceptance alone says nothing.
func Read(r Reply, code string) broker.Answer {
	switch r.Action {
	case "accept":
		if no := refuses(r.Content, code); no != "" {
			return answer(broker.Declined, no+"; nothing was sent")
		}
		return broker.Answer{
			State: broker.Approved, Status: broker.StatusAccepted,
			Detail: "the form was accepted with confirm = true" + withCode(code),
		}
	case "decline":
		return answer(broker.Declined, "declined by the person or by the client; nothing was sent"+unseen)
	case "cancel":
		return answer(broker.Cancelled, "the form was closed without an answer, by the person or by the client; nothing was sent"+unseen)
	default:
		return answer(broker.Failed, fmt.Sprintf(
			"the client answered with the action %s, which is none of accept, decline and cancel; nothing was sent",
			broker.QuoteMax(r.Action, 40)))
	}
}

// unseen helps those whose client answers forms that it never shows.
const unseen = "; if no dialog was seen, this client answered by itself: use another client or another channel"

func answer(s broker.State, detail string) broker.Answer {
	return broker.Answer{State: s, Status: string(s), Detail: detail}
}

func withCode(code string) string {
	if code == "" {
		return ""
	}
	return " and the right code"
}

// refuses returns why the content of an accepted form is not an approval, "" if
// it is one.
func refuses(content json.RawMessage, code string) string {
	content = bytes.TrimSpace(content)
	switch {
	case len(content) == 0 || string(content) == "null":
		return "the client accepted the form without sending it, so the answer confirm = true is missing"
	case len(content) > maxContent:
		return fmt.Sprintf("the client sent a form of %d bytes, more than it can have", len(content))
	case !json.Valid(content):
		return "the client sent a form that is not valid JSON"
	case content[0] != '{':
		return "the client sent something that is not a form with fields"
	}
	form, twice := members(content)
	if twice != "" {
		return "the client sent the field " + twice + " more than once"
	}
	confirm, ok := form[fieldConfirm]
	switch {
	case !ok:
		return "the client accepted the form without the answer confirm = true"
	case string(confirm) == "false":
		return "the form was sent with confirm = false, which is a no"
	case string(confirm) != "true":
		return "the client sent " + kind(confirm) + " as confirm where true or false was asked"
	case code == "":
		return ""
	}
	return refusesCode(form, code)
}

func refusesCode(form map[string]json.RawMessage, code string) string {
	raw, ok := form[fieldCode]
	if !ok {
		return "the form came without the code that stands in the message"
	}
	if raw[0] != '"' {
		return "the client sent " + kind(raw) + " as the code where text was asked"
	}
	var typed string
	if json.Unmarshal(raw, &typed) != nil || !sameCode(typed, code) {
		return "the code in the form is not the one that stands in the message"
	}
	return ""
}

// members returns the form's own fields of a valid JSON object, and the name of
// one that came twice. Names are compared exactly, which decoding into a struct
// does not do; other fields are ignored, for clients add their own.
func members(object []byte) (form map[string]json.RawMessage, twice string) {
	form = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, ""
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, ""
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, ""
		}
		name, _ := token.(string)
		if name != fieldConfirm && name != fieldCode {
			continue
		}
		if _, ok := form[name]; ok {
			return nil, name
		}
		form[name] = value
	}
	return form, ""
}

// kind names the type of a JSON value.
func kind(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "a text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	default:
		return "a number"
	}
}
