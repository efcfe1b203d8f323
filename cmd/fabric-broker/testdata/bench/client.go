package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

type object = map[string]any

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// client is an MCP client whose person agrees at once. It is no more than what
// is measured needs.
type client struct {
	era string
	// send returns the result of a request.
	send func(method string, params object) (json.RawMessage, error)
	// question is what was asked last.
	question struct {
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		state   string
	}
	approvals int
}

var (
	capabilities = object{"elicitation": object{}}
	info         = object{"name": "bench", "version": "1"}
)

// mark puts into a request what each one carries in the modern era.
func (c *client) mark(params object) {
	if c.era >= modern {
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion": c.era, "io.modelcontextprotocol/clientInfo": info,
			"io.modelcontextprotocol/clientCapabilities": capabilities,
		}
	}
}

var codeLine = regexp.MustCompile(`(?m)code[^\n]*: ([A-Z0-9]{6})\b`)

// accept is the answer of a person who agrees at once.
func (c *client) accept() object {
	c.approvals++
	content := object{"confirm": true}
	if bytes.Contains(c.question.Schema, []byte(`"confirm_code"`)) {
		if m := codeLine.FindStringSubmatch(c.question.Message); m != nil {
			content["confirm_code"] = m[1]
		}
	}
	return object{"action": "accept", "content": content}
}

// propose returns the structured result.
func (c *client) propose(t string, spec object) (json.RawMessage, error) {
	res, err := c.send("tools/call", object{"name": plan.ProposeTool, "arguments": object{"change_type": t, "spec": spec}})
	if err != nil {
		return nil, err
	}
	return structured(res)
}

// confirm returns the structured result, in the way of the era.
func (c *client) confirm(token string) (json.RawMessage, error) {
	params := object{"name": plan.ConfirmTool, "arguments": object{"confirm_token": token}}
	res, err := c.send("tools/call", params)
	if err != nil {
		return nil, err
	}
	if c.era < modern {
		return structured(res)
	}
	var asked struct {
		InputRequests struct {
			Confirm struct {
				Params json.RawMessage `json:"params"`
			} `json:"confirm"`
		} `json:"inputRequests"`
		RequestState string `json:"requestState"`
	}
	if err := json.Unmarshal(res, &asked); err != nil {
		return nil, err
	}
	if asked.RequestState == "" {
		return nil, fmt.Errorf("nothing was asked: %s", res)
	}
	if err := json.Unmarshal(asked.InputRequests.Confirm.Params, &c.question); err != nil {
		return nil, err
	}
	c.question.state = asked.RequestState
	params["inputResponses"], params["requestState"] = object{"confirm": c.accept()}, asked.RequestState
	if res, err = c.send("tools/call", params); err != nil {
		return nil, err
	}
	return structured(res)
}

func structured(res json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Content json.RawMessage `json:"structuredContent"`
		IsError bool            `json:"isError"`
	}
	if err := json.Unmarshal(res, &r); err != nil {
		return nil, err
	}
	if r.IsError || len(r.Content) == 0 {
		return nil, fmt.Errorf("the call failed: %s", res)
	}
	return r.Content, nil
}
