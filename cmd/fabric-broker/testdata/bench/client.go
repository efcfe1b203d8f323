package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

type object = map[string]any

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// server is a server process on stdio and its client: one request at a time, so
// that as little as possible of what is measured is the client's.
type server struct {
	era   string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   bytes.Buffer
	next  int
	began time.Time
	// question is what was asked last.
	question struct {
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		state   string
	}
}

// command is how a server is started.
type command struct {
	path string
	args []string
	env  []string
}

func (c command) start(era string) (*server, error) {
	s := &server{era: era, cmd: exec.Command(c.path, c.args...)}
	s.cmd.Env, s.cmd.Stderr = c.env, &s.err
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<16)
	s.began = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if era < modern {
		if _, err = s.request("initialize", object{"protocolVersion": era, "capabilities": capabilities, "clientInfo": info}); err == nil {
			err = s.write(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
		}
	}
	return s, err
}

func (s *server) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

var (
	capabilities = object{"elicitation": object{}}
	info         = object{"name": "bench", "version": "1"}
)

func (s *server) write(m object) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(b, '\n'))
	return err
}

// request returns the result, once the prompts that come before it are answered.
func (s *server) request(method string, params object) (json.RawMessage, error) {
	if s.era >= modern {
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion": s.era, "io.modelcontextprotocol/clientInfo": info,
			"io.modelcontextprotocol/clientCapabilities": capabilities,
		}
	}
	s.next++
	if err := s.write(object{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params}); err != nil {
		return nil, fmt.Errorf("%w; stderr: %s", err, s.err.String())
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w; stderr: %s", method, err, s.err.String())
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		switch {
		case m.Method == "elicitation/create":
			if err := json.Unmarshal(m.Params, &s.question); err != nil {
				return nil, err
			}
			if err := s.write(object{"jsonrpc": "2.0", "id": m.ID, "result": s.accept()}); err != nil {
				return nil, err
			}
		case string(m.ID) != strconv.Itoa(s.next): // a notification
		case m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		default:
			return m.Result, nil
		}
	}
}

var codeLine = regexp.MustCompile(`(?m)code[^\n]*: ([A-Z0-9]{6})\b`)

// accept is the answer of a person who agrees at once.
func (s *server) accept() object {
	content := object{"confirm": true}
	if bytes.Contains(s.question.Schema, []byte(`"confirm_code"`)) {
		if m := codeLine.FindStringSubmatch(s.question.Message); m != nil {
			content["confirm_code"] = m[1]
		}
	}
	return object{"action": "accept", "content": content}
}

// propose returns the structured result.
func (s *server) propose(t string, spec object) (json.RawMessage, error) {
	res, err := s.request("tools/call", object{"name": plan.ProposeTool, "arguments": object{"change_type": t, "spec": spec}})
	if err != nil {
		return nil, err
	}
	return structured(res)
}

// confirm returns the structured result, in the way of the era.
func (s *server) confirm(token string) (json.RawMessage, error) {
	params := object{"name": plan.ConfirmTool, "arguments": object{"confirm_token": token}}
	res, err := s.request("tools/call", params)
	if err != nil {
		return nil, err
	}
	if s.era < modern {
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
	if err := json.Unmarshal(asked.InputRequests.Confirm.Params, &s.question); err != nil {
		return nil, err
	}
	s.question.state = asked.RequestState
	params["inputResponses"], params["requestState"] = object{"confirm": s.accept()}, asked.RequestState
	if res, err = s.request("tools/call", params); err != nil {
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

// rss returns the resident memory in bytes.
func (s *server) rss() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(kb, "kB")), 64)
			return n * 1024, err
		}
	}
	return 0, errors.New("no VmRSS in /proc/PID/status")
}
