package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// patience is how long a test waits for what must happen. It only matters where
// it does not happen.
const patience = 60 * time.Second

// process is the real program in a process of its own, driven line by line so
// that a test decides what its client says and when it goes away.
type process struct {
	t      *testing.T
	era    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	// answer is what the client does with a prompt; nil never answers one.
	answer func(prompt object) object
	// prompts gets every prompt that came.
	prompts chan object

	sent    lockedBuffer // all of its stdout
	log     lockedBuffer // all of its stderr
	exited  chan struct{}
	mu      sync.Mutex
	next    int
	waiting map[int]chan object
}

func (o object) object(key string) object {
	m, _ := o[key].(map[string]any)
	return m
}

// processEnv is the whole environment of a process, of which more wins.
func processEnv(endpoint, state string, more ...string) []string {
	return append([]string{
		asBinary + "=1", "HOME=" + state + "-home", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"EQUINIX_API_ENDPOINT=" + endpoint, "EQUINIX_API_CLIENTID=test-client", "EQUINIX_API_CLIENTSECRET=" + fabricsim.Secret,
		"EQUINIX_MCP_TOOLSETS=fabric,pricing,mutate", "EQUINIX_MCP_STATE_DIR=" + state,
	}, more...)
}

// start starts `fabric-broker stdio`. It ends with the test at the latest.
func start(t *testing.T, era string, env []string, answer func(object) object) *process {
	t.Helper()
	return startAs(t, era, env, answer, func(*exec.Cmd) {})
}

// startAs starts it with something set differently.
func startAs(t *testing.T, era string, env []string, answer func(object) object, set func(*exec.Cmd)) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{
		t: t, era: era, answer: answer, prompts: make(chan object, 100),
		exited: make(chan struct{}), waiting: map[int]chan object{},
	}
	p.cmd = exec.Command(exe, "stdio")
	p.cmd.Env, p.cmd.Stderr = env, &p.log
	set(p.cmd)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// A pipe of our own: Wait would close exec's before all of it is read.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout, p.cmd.Stdout = r, w
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	read := make(chan struct{})
	go func() { defer close(read); p.read() }()
	go func() { <-read; _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		_ = p.stdin.Close()
		if t.Failed() {
			t.Logf("stderr of the process:\n%s", p.log.String())
		}
	})
	if era < modern {
		p.request("initialize", object{
			"protocolVersion": era, "capabilities": capabilities(answer), "clientInfo": object{"name": "test", "version": "1"},
		})
		p.write(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	return p
}

const modern = "2026-07-28"

func capabilities(answer func(object) object) object {
	if answer == nil {
		return object{}
	}
	return object{"elicitation": object{}}
}

// read takes what the process says: answers to waiting calls, and prompts.
func (p *process) read() {
	lines := bufio.NewReader(p.stdout)
	for {
		line, err := lines.ReadBytes('\n')
		_, _ = p.sent.Write(line)
		if len(line) > 0 {
			p.take(line)
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.waiting {
		close(c)
	}
	p.waiting = nil
}

func (p *process) take(line []byte) {
	var m object
	if err := json.Unmarshal(line, &m); err != nil {
		p.t.Errorf("stdout carries something other than the protocol: %q", line)
		return
	}
	if m["method"] == "elicitation/create" {
		params := m.object("params")
		p.prompts <- params
		if a := p.answer(params); a != nil {
			p.write(object{"jsonrpc": "2.0", "id": m["id"], "result": a})
		}
		return
	}
	id, ok := m["id"].(float64)
	if !ok {
		return // a notification
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[int(id)]; c != nil {
		c <- m
		delete(p.waiting, int(id))
	}
}

// write sends one message. That nobody reads it any more is no failure.
func (p *process) write(m object) {
	b, err := json.Marshal(m)
	if err != nil {
		p.t.Error(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.stdin.Write(append(b, '\n'))
}

// begin sends a request. Its channel gets the response, or is closed when the
// process has closed its stdout.
func (p *process) begin(method string, params object) <-chan object {
	c := make(chan object, 1)
	p.mu.Lock()
	p.next++
	id := p.next
	if p.waiting == nil {
		close(c)
	} else {
		p.waiting[id] = c
	}
	p.mu.Unlock()
	if p.era >= modern {
		params = maps.Clone(params)
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion": p.era, "io.modelcontextprotocol/clientInfo": object{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": capabilities(p.answer),
		}
	}
	p.write(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return c
}

// request sends a request and returns its result.
func (p *process) request(method string, params object) object {
	p.t.Helper()
	return p.result(p.begin(method, params))
}

// result waits for a response, which must be a result.
func (p *process) result(c <-chan object) object {
	p.t.Helper()
	select {
	case m, ok := <-c:
		if !ok {
			p.t.Fatal("the process ended without an answer")
		}
		if m["error"] != nil {
			p.t.Fatalf("the answer is a protocol error: %v", m["error"])
		}
		return m.object("result")
	case <-time.After(patience):
		p.t.Fatal("no answer came")
	}
	return nil
}

// call calls a tool and returns its structured result.
func (p *process) call(tool string, args object) object {
	p.t.Helper()
	return p.request("tools/call", object{"name": tool, "arguments": args}).object("structuredContent")
}

func (p *process) propose(t string, spec map[string]any) object {
	p.t.Helper()
	return p.call(mutate.ProposeTool, object{"change_type": t, "spec": spec})
}

// confirm confirms in the way of the era and returns a channel that gets the
// structured result, or is closed where none came. It may outlive the process.
func (p *process) confirm(proposed object) <-chan object {
	p.t.Helper()
	params := object{"name": mutate.ConfirmTool, "arguments": object{"confirm_token": proposed["confirm_token"]}}
	if proposed["confirm_token"] == nil {
		p.t.Fatalf("the proposal was refused: %v", proposed["error"])
	}
	out := make(chan object, 1)
	first := p.begin("tools/call", params)
	go func() {
		defer close(out)
		m, ok := <-first
		asked := m.object("result").object("inputRequests").object("confirm")
		if ok && asked != nil {
			prompt := asked.object("params")
			p.prompts <- prompt
			a := p.answer(prompt)
			if a == nil {
				return
			}
			params["inputResponses"] = object{"confirm": a}
			params["requestState"] = m.object("result")["requestState"]
			m, ok = <-p.begin("tools/call", params)
		}
		if ok {
			out <- m.object("result").object("structuredContent")
		}
	}()
	return out
}

// ended waits until the process has ended and returns its exit code.
func (p *process) ended() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatal("the process did not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// wait waits for a channel of confirm.
func (p *process) wait(c <-chan object) object {
	p.t.Helper()
	select {
	case o, ok := <-c:
		if !ok {
			p.t.Fatal("the confirm got no answer")
		}
		return o
	case <-time.After(patience):
		p.t.Fatal("the confirm got no answer in time")
	}
	return nil
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// agrees approves a prompt, with its code where one is asked.
func agrees(prompt object) object {
	content := object{"confirm": true}
	if wantsCode(map[string]any(prompt.object("requestedSchema"))) {
		text, _ := prompt["message"].(string)
		content["confirm_code"] = codeLine.FindStringSubmatch(text)[1]
	}
	return object{"action": "accept", "content": content}
}

func silent(object) object { return nil }

// eventually waits until is holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("it did not happen that %s", what)
		}
	}
}

func unresolved(t *testing.T, state string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(state, "unresolved"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// execute runs the program to its end and returns its exit code and output.
func execute(t interface{ Fatal(...any) }, env []string, stdin string, args ...string) (code int, stdout, stderr string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil && !isExit(err) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}
