package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
)

// remote is fabric-broker http in a process of its own.
type remote struct {
	name   string
	cmd    *exec.Cmd
	url    string
	errors int // lines of its log; read it after stop
	last   string
	ended  chan struct{}
}

func (c command) serve(name string) (*remote, error) {
	r := &remote{name: name, cmd: exec.Command(c.path, c.args...), ended: make(chan struct{})}
	r.cmd.Env = c.env
	log, err := r.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	for r.url == "" && lines.Scan() {
		var m struct{ Msg, Endpoint string }
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Msg == "listening" {
			r.url = m.Endpoint
		}
		r.last = lines.Text()
	}
	if r.url == "" {
		_ = r.cmd.Wait()
		return nil, fmt.Errorf("%s did not start: %s", name, r.last)
	}
	go func() {
		defer close(r.ended)
		for lines.Scan() {
			if bytes.Contains(lines.Bytes(), []byte(`"level":"ERROR"`)) {
				r.errors, r.last = r.errors+1, lines.Text()
			}
		}
	}()
	return r, nil
}

// stop ends the server as its operator would.
func (r *remote) stop() error {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	<-r.ended
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w; %s", r.name, err, r.last)
	}
	return nil
}

// as returns a client of the server with that bearer token.
func (r *remote) as(token string, over *http.Client) *client {
	c := &client{era: modern}
	c.send = func(method string, params object) (json.RawMessage, error) {
		c.mark(params)
		body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequest(http.MethodPost, r.url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		name, _ := params["name"].(string)
		for k, v := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": modern, "Mcp-Method": method, "Mcp-Name": name,
		} {
			req.Header.Set(k, v)
		}
		res, err := over.Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { _ = res.Body.Close() }()
		return response(res)
	}
	return c
}

// response reads the one response to a request, as JSON or as a stream.
func response(res *http.Response) (json.RawMessage, error) {
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(b) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"id":1`)) {
				b = data
			}
		}
	}
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(b, &m); err != nil || m.Result == nil {
		return nil, fmt.Errorf("status %d: %s", res.StatusCode, b)
	}
	return m.Result, nil
}
