// Package plan is what the runner of the benchmark tells its floor server: the
// upstream calls to make and the results to return, as our own server was seen
// to make and return them.
package plan

import (
	"encoding/json"
	"strings"
)

// Env names the file that has the Plan of a floor server, EndpointEnv the
// simulator.
const (
	Env         = "BENCH_PLAN"
	EndpointEnv = "BENCH_ENDPOINT"
)

// The tools of a floor server, named like ours.
const (
	ProposeTool = "fabric_propose_change"
	ConfirmTool = "fabric_confirm_change"
)

// Plan is all that a floor server knows.
type Plan struct {
	// Propose has a tool call for each change type.
	Propose map[string]Tool `json:"propose"`
	Confirm Tool            `json:"confirm"`
	// Token is the confirm token that stands in the results of Propose.
	Token string `json:"token"`
	// State, Message and Schema are the question that was asked.
	State   string          `json:"state"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema"`
}

// Tool is one call of a tool.
type Tool struct {
	Calls  []Call          `json:"calls"`
	Result json.RawMessage `json:"result"`
}

// Call is one call to the API. Path and Body have placeholders for Values.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
	// After are the calls that had ended when this one was made.
	After []int `json:"after"`
}

// Values are what differs between two proposals of the benchmark.
type Values struct {
	Name, VLAN, Port, Profile string
}

var placeholders = Values{Name: "{name}", VLAN: "{vlan}", Port: "{port}", Profile: "{profile}"}

// Fill puts v in the place of placeholders.
func (v Values) Fill(s string) string {
	return strings.NewReplacer(v.pairs(placeholders)...).Replace(s)
}

// Blank puts placeholders in the place of v.
func (v Values) Blank(s string) string {
	return strings.NewReplacer(placeholders.pairs(v)...).Replace(s)
}

// pairs replaces each value of old by v's. A VLAN is a number in JSON: it is
// replaced with its key, as a bare number could stand anywhere.
func (v Values) pairs(old Values) []string {
	var out []string
	for _, p := range [][2]string{
		{old.Name, v.Name},
		{old.Port, v.Port},
		{old.Profile, v.Profile},
		{`"vlanTag":` + old.VLAN, `"vlanTag":` + v.VLAN},
	} {
		if p[0] != "" {
			out = append(out, p[0], p[1])
		}
	}
	return out
}
