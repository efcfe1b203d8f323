// Package job is what the scripts of clients written in Go share.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"
	"time"
)

// Job says what a script does. It has either a Command, to be spoken to over
// stdio, or a URL.
type Job struct {
	Command []string       `json:"command,omitempty"`
	URL     string         `json:"url,omitempty"`
	Era     string         `json:"era"`    // "legacy" or "modern"
	Answer  string         `json:"answer"` // what the person does
	Propose map[string]any `json:"propose"`
	// ThinkMS is how long the person thinks, where that matters.
	ThinkMS int64 `json:"think_ms,omitempty"`
}

// Saw is what a script saw.
type Saw struct {
	Read   int    `json:"read"`   // how many ports a search found
	Asked  bool   `json:"asked"`  // the form came
	Code   bool   `json:"code"`   // the form wants a code
	Status string `json:"status"` // of the human confirmation
	Error  string `json:"error"`  // what the confirm ended with instead of a result
}

// Script is a script that runs.
type Script struct {
	Job
	saw      Saw
	thinking sync.WaitGroup // a person
}

// Object is a JSON object.
type Object = map[string]any

// Call calls a tool and returns its structured content.
type Call func(ctx context.Context, tool string, args Object) (Object, error)

// Main runs a script. connect connects the client, whose person answers by
// [Script.Form], and returns how it calls a tool.
func Main(connect func(context.Context, *Script) (Call, error)) {
	s := &Script{}
	err := json.Unmarshal([]byte(os.Args[1]), &s.Job)
	if err == nil {
		err = s.run(context.Background(), connect)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.print()
}

func (s *Script) run(ctx context.Context, connect func(context.Context, *Script) (Call, error)) error {
	call, err := connect(ctx, s)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	ports, err := call(ctx, "fabric_search", Object{"kind": "port"})
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	items, _ := ports["items"].([]any)
	s.saw.Read = len(items)
	proposed, err := call(ctx, "fabric_propose_change", s.Propose)
	if err != nil {
		return fmt.Errorf("propose: %w", err)
	}
	result, err := call(ctx, "fabric_confirm_change", Object{"confirm_token": proposed["confirm_token"]})
	if err != nil {
		s.saw.Error = err.Error()
		if result, err = status(ctx, call, proposed["proposal_id"]); err != nil {
			return fmt.Errorf("status: %w", err)
		}
	}
	human, _ := result["human_confirmation"].(Object)
	s.saw.Status, _ = human["status"].(string)
	s.thinking.Wait()
	return nil
}

func status(ctx context.Context, call Call, id any) (Object, error) {
	all, err := call(ctx, "fabric_change_status", Object{"proposal_id": id})
	if err != nil {
		return nil, err
	}
	list, _ := all["proposals"].([]any)
	if len(list) != 1 {
		return nil, fmt.Errorf("%d proposals", len(list))
	}
	one, _ := list[0].(Object)
	return one, nil
}

// Structured returns a result's structured content, or the error in it.
func Structured(result any) (Object, error) {
	b, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	var m struct{ StructuredContent Object }
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	if e := m.StructuredContent["error"]; e != nil {
		return nil, fmt.Errorf("%v", e)
	}
	if m.StructuredContent == nil {
		return nil, errors.New("no structured content")
	}
	return m.StructuredContent, nil
}

var code = regexp.MustCompile(`(?m)^To approve, type this code into the form: (\S+)$`)

// Form is what the person does with a form. The answer may be too late.
func (s *Script) Form(message string, schema any) (action string, content Object) {
	s.thinking.Add(1)
	defer s.thinking.Done()
	m, _ := schema.(Object)
	fields, _ := m["properties"].(Object)
	s.saw.Asked = true
	_, s.saw.Code = fields["confirm_code"]
	yes := Object{"confirm": true}
	switch s.Answer {
	case "code":
		yes["confirm_code"] = code.FindStringSubmatch(message)[1]
	case "empty":
		yes = Object{}
	case "late", "slow":
		<-time.After(time.Duration(s.ThinkMS) * time.Millisecond)
	case "lost":
		s.print()
		_ = kill()
	case "decline", "cancel":
		return s.Answer, nil
	}
	return "accept", yes
}

func (s *Script) print() { _ = json.NewEncoder(os.Stdout).Encode(s.saw) }

func kill() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	select {} // the signal is on its way
}
