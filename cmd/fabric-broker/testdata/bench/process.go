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
	"strconv"
	"strings"
	"time"
)

// server is a server process on stdio with its client: one request at a time, so
// that as little as possible of what is measured is the client's.
type server struct {
	client

	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   bytes.Buffer
	next  int
	began time.Time
}

// command is how a server is started.
type command struct {
	path string
	args []string
	env  []string
}

func (c command) start(era string) (*server, error) {
	s := &server{cmd: exec.Command(c.path, c.args...)}
	s.era, s.send = era, s.request
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
	s.next++
	s.mark(params)
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

// rss returns the resident memory in bytes.
func (s *server) rss() (float64, error) { return rss(s.cmd.Process.Pid) }

func rss(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
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
