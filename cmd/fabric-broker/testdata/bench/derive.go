package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

// keptFor is how long ours uses a read again. A person takes longer to answer,
// so every confirm here waits that long, and reads what it reads in life.
const keptFor = 2100 * time.Millisecond

// kinds of calls and how long each takes while the calls are being derived. They
// differ so that what waits for what can be seen: a call waits for those that
// had ended when it arrived.
var kinds = []struct {
	match object
	is    func(entry) bool
	takes time.Duration
}{
	{object{"method": "GET"}, func(e entry) bool { return e.Method == "GET" }, 100 * time.Millisecond},
	{object{"path": "/fabric/v4/prices/search"}, func(e entry) bool { return e.Path == "/fabric/v4/prices/search" }, 100 * time.Millisecond},
	{object{"path": "/fabric/v4/connections/search"}, func(e entry) bool { return e.Path == "/fabric/v4/connections/search" }, 250 * time.Millisecond},
	{object{"path": "/fabric/v4/networks/search"}, func(e entry) bool { return e.Path == "/fabric/v4/networks/search" }, 250 * time.Millisecond},
	{object{"dry_run": true}, func(e entry) bool { return e.DryRun }, 400 * time.Millisecond},
}

// derive runs ours once, slowed down, and returns what it did as a plan.
func derive(sim *simulator, ours command) (plan.Plan, error) {
	p := plan.Plan{Propose: map[string]plan.Tool{}}
	if err := sim.reset(); err != nil {
		return p, err
	}
	s, err := ours.start(modern)
	if err != nil {
		return p, err
	}
	defer s.stop()
	if _, err := s.propose("network_create", network(values(0, 0))); err != nil { // logs in
		return p, err
	}
	for _, k := range kinds {
		if err := sim.delay(k.takes, k.match); err != nil {
			return p, err
		}
	}
	defer func() { _ = sim.noDelays() }()

	_, seen, err := sim.history(0)
	if err != nil {
		return p, err
	}
	observe := func(v plan.Values, do func() (json.RawMessage, error)) (plan.Tool, error) {
		res, err := do()
		if err != nil {
			return plan.Tool{}, err
		}
		var es []entry
		es, seen, err = sim.history(seen)
		return plan.Tool{Calls: callsOf(es, v), Result: res}, err
	}
	v := values(1, 1)
	if p.Propose["network_create"], err = observe(v, func() (json.RawMessage, error) { return s.propose("network_create", network(v)) }); err != nil {
		return p, err
	}
	v = values(2, 2)
	proposed, err := observe(v, func() (json.RawMessage, error) { return s.propose("connection_create", connection(v)) })
	if err != nil {
		return p, err
	}
	p.Propose["connection_create"] = proposed
	if p.Token, err = token(proposed.Result); err != nil {
		return p, err
	}
	<-time.After(keptFor)
	if p.Confirm, err = observe(v, func() (json.RawMessage, error) { return s.confirm(p.Token) }); err != nil {
		return p, err
	}
	if !strings.Contains(string(p.Confirm.Result), `"outcome":"created"`) {
		return p, fmt.Errorf("the confirm created nothing: %s", p.Confirm.Result)
	}
	p.State, p.Message, p.Schema = s.question.state, s.question.Message, s.question.Schema
	return p, nil
}

// callsOf turns the history of one tool call into the calls of a plan.
func callsOf(es []entry, v plan.Values) []plan.Call {
	var calls []plan.Call
	for _, e := range es {
		c := plan.Call{Method: e.Method, Path: v.Blank(e.Path), Body: v.Blank(e.Body)}
		if e.Query != "" {
			c.Path += "?" + e.Query
		}
		for i, before := range es {
			if !before.Time.Add(takes(before)).After(e.Time) && before.Time.Before(e.Time) {
				c.After = append(c.After, i)
			}
		}
		calls = append(calls, c)
	}
	return calls
}

func takes(e entry) time.Duration {
	for _, k := range kinds {
		if k.is(e) {
			return k.takes
		}
	}
	return 0
}

func token(proposed json.RawMessage) (string, error) {
	var p struct {
		Token string `json:"confirm_token"`
	}
	err := json.Unmarshal(proposed, &p)
	if err == nil && p.Token == "" {
		err = errors.New("a proposal without a token")
	}
	return p.Token, err
}

// describe lists the calls of a plan, with what each waits for.
func describe(name string, t plan.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d bytes of result)\n", name, len(t.Result))
	for i, c := range t.Calls {
		after := "at once"
		if len(c.After) > 0 {
			after = fmt.Sprint("after ", c.After)
		}
		fmt.Fprintf(&b, "  %d  %-4s %-58s %4d B  %s\n", i, c.Method, c.Path, len(c.Body), after)
	}
	return b.String()
}
