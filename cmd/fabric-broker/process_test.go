package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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

// simulator is a simulator on a socket, with the assets that tests name.
func simulator(t *testing.T) (*fabricsim.Sim, string) {
	t.Helper()
	w := &world{t: t, sim: &fabricsim.Sim{SettleAfter: -1}}
	w.seed()
	srv := httptest.NewServer(w.sim)
	t.Cleanup(func() { w.sim.Close(); srv.Close() })
	return w.sim, srv.URL
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

// seen counts the creates and the dry runs that reached the simulator.
func seen(sim *fabricsim.Sim) (creates, dryRuns int) {
	for _, e := range sim.History() {
		switch {
		case e.Method != "POST" || !isCreate(e.Path):
		case e.DryRun:
			dryRuns++
		default:
			creates++
		}
	}
	return creates, dryRuns
}

// made counts the assets that exist because of a create.
func made(sim *fabricsim.Sim) int {
	n := 0
	for _, a := range sim.Assets("") {
		if a.Created {
			n++
		}
	}
	return n
}

func wantMade(t *testing.T, sim *fabricsim.Sim, n int) {
	t.Helper()
	if creates, _ := seen(sim); creates != n || made(sim) != n {
		t.Errorf("%d creates sent and %d assets made, want %d of both", creates, made(sim), n)
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

// onCreate makes the simulator do a to real creates, n times.
func onCreate(sim *fabricsim.Sim, n int, a fabricsim.Action) {
	no := false
	sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &no}, Do: a, Times: n})
}

// I2, I7: whatever ends the process, a create that has begun is finished and
// recorded before it goes.
func TestCreateInFlightIsFinished(t *testing.T) {
	ends := map[string]struct {
		end  func(*process)
		code int
	}{
		"stdin ends":             {func(p *process) { _ = p.stdin.Close() }, 0},
		"SIGTERM":                {func(p *process) { p.signal(syscall.SIGTERM) }, 0},
		"SIGINT":                 {func(p *process) { p.signal(os.Interrupt) }, exitInterrupted},
		"SIGTERM and stdin ends": {func(p *process) { p.signal(syscall.SIGTERM); _ = p.stdin.Close() }, 0},
		// The first write after that would be SIGPIPE.
		"stdout closed, then stdin ends": {func(p *process) { _ = p.stdout.Close(); _ = p.stdin.Close() }, 0},
		"stdout closed":                  {func(p *process) { _ = p.stdout.Close() }, 0},
	}
	for name, c := range ends {
		for _, era := range []string{"2025-11-25", modern} {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				sim, url := simulator(t)
				state := t.TempDir() + "/state"
				p := start(t, era, processEnv(url, state), agrees)
				proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
				onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 700})
				p.confirm(proposed)
				eventually(t, "the create arrives", func() bool { creates, _ := seen(sim); return creates == 1 })
				if n := len(unresolved(t, state)); n != 1 {
					t.Errorf("%d intents are on record while the create is under way, want 1", n)
				}
				c.end(p)
				if name == "stdout closed" {
					// Only when it writes can it learn that nobody reads.
					eventually(t, "the create is made", func() bool { return made(sim) == 1 })
					eventually(t, "the intent is settled", func() bool { return len(unresolved(t, state)) == 0 })
				}
				if code := p.ended(); code != c.code {
					t.Errorf("exit code %d, want %d", code, c.code)
				}
				wantMade(t, sim, 1)
				if left := unresolved(t, state); len(left) != 0 {
					t.Errorf("unresolved/ has %v after the outcome was recorded", left)
				}
			})
		}
	}
}

// A person who is being asked when the process is told to end is asked no
// longer, and nothing is sent.
func TestPromptEndsWithTheProcess(t *testing.T) {
	t.Run("as call_cancelled", func(t *testing.T) {
		w := newWorld(t)
		asked := make(chan struct{})
		c := w.client("2025-11-25", func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		proposed := c.propose(connectionSpec("dc-aws-01", 1017))
		go func() { <-asked; w.stop() }() // what SIGTERM does
		got := c.confirm(proposed)
		if got.at("human_confirmation.status") != "call_cancelled" || got["outcome"] != "not_sent" || got["token_state"] != "spent" {
			t.Errorf("the confirm came to %v", got)
		}
		w.wantCreates(0)
	})
	for name, end := range map[string]func(*process){
		"stdin ends":    func(p *process) { _ = p.stdin.Close() },
		"stdout closed": func(p *process) { _ = p.stdout.Close(); _ = p.stdin.Close() },
		"SIGTERM":       func(p *process) { p.signal(syscall.SIGTERM) },
	} {
		for _, era := range []string{"2025-11-25", modern} {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				sim, url := simulator(t)
				state := t.TempDir() + "/state"
				p := start(t, era, processEnv(url, state), silent)
				p.confirm(p.propose("connection_create", connectionSpec("dc-aws-01", 1017)))
				<-p.prompts
				end(p)
				if code := p.ended(); code != 0 {
					t.Errorf("exit code %d, want 0", code)
				}
				wantMade(t, sim, 0)
				if left := unresolved(t, state); len(left) != 0 {
					t.Errorf("unresolved/ has %v", left)
				}
			})
		}
	}
}

// I12: two processes of one state directory send one create of one request.
func TestTwoProcessesConfirmTheSameRequest(t *testing.T) {
	for _, era := range []string{"2025-11-25", modern} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			state := t.TempDir() + "/state"
			// Both people answer at the same moment.
			var both sync.WaitGroup
			both.Add(2)
			together := func(prompt object) object { both.Done(); both.Wait(); return agrees(prompt) }
			onCreate(sim, 0, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 1500})
			var confirms []<-chan object
			var processes []*process
			for range 2 {
				p := start(t, era, processEnv(url, state), together)
				processes = append(processes, p)
				proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
				confirms = append(confirms, p.confirm(proposed))
			}
			var outcomes, codes []string
			for i, c := range confirms {
				got := processes[i].wait(c)
				outcomes = append(outcomes, fmt.Sprint(got["outcome"]))
				if code := got.at("error.code"); code != nil {
					codes = append(codes, fmt.Sprint(code))
				}
			}
			slices.Sort(outcomes)
			if want := []string{"created", "not_sent"}; !slices.Equal(outcomes, want) {
				t.Errorf("the confirms came to %v, want %v", outcomes, want)
			}
			if want := []string{"same_request_unresolved"}; !slices.Equal(codes, want) {
				t.Errorf("refused with %v, want %v", codes, want)
			}
			wantMade(t, sim, 1)
			if left := unresolved(t, state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
		})
	}
}

// I8: a process that dies between sending and the answer leaves a request that
// the next one refuses, before any dry run.
func TestKilledWhileSending(t *testing.T) {
	t.Parallel()
	sim, url := simulator(t)
	state := t.TempDir() + "/state"
	env := processEnv(url, state, "EQUINIX_MCP_CONFIRM_SECRET="+strings.Repeat("5a", 32))
	p := start(t, "2025-11-25", env, agrees)
	proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
	onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultCommitThenHang})
	p.confirm(proposed)
	eventually(t, "the asset is made", func() bool { return made(sim) == 1 })
	p.signal(syscall.SIGKILL)
	p.ended()

	left := unresolved(t, state)
	if len(left) != 1 {
		t.Fatalf("unresolved/ has %v, want one file", left)
	}
	info, err := os.Stat(filepath.Join(state, "unresolved", left[0]))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the unresolved create has mode %v (%v), want 0600", info.Mode().Perm(), err)
	}
	sim.ClearFaults()
	_, before := seen(sim)
	next := start(t, modern, env, agrees)
	// I8: long before it may take the create over, the next process says that
	// it may exist, by status and by its token.
	for what, args := range map[string]object{"the recent ones": {}, "the one": {"proposal_id": proposed["proposal_id"]}} {
		ps, _ := next.call(mutate.StatusTool, args)["proposals"].([]any)
		if len(ps) != 1 || object(ps[0].(map[string]any)).at("state") != "unknown" {
			t.Errorf("status of %s: %v", what, ps)
		}
	}
	if r := next.wait(next.confirm(proposed)); r.at("error.code") != "token_replayed" || r.at("previous_outcome.outcome") != "unknown" {
		t.Errorf("its token: %v", r)
	}
	got := next.propose("connection_create", connectionSpec("dc-aws-01", 1017))
	if got.at("error.code") != "same_request_unresolved" || got["confirm_token"] != nil {
		t.Errorf("the next process answers %v", got)
	}
	if _, after := seen(sim); after != before {
		t.Errorf("%d dry runs were sent for a request that may exist", after-before)
	}
	// Another request is another matter.
	other := next.propose("connection_create", connectionSpec("dc-aws-02", 1018))
	if got := next.wait(next.confirm(other)); got["outcome"] != "created" {
		t.Errorf("another request came to %v", got)
	}
	wantMade(t, sim, 2)
}

// The stop switch is a file: it stops every process of the directory until it is
// removed, and spends nothing.
func TestHaltFile(t *testing.T) {
	t.Parallel()
	sim, url := simulator(t)
	state := t.TempDir() + "/state"
	a := start(t, "2025-11-25", processEnv(url, state), agrees)
	b := start(t, modern, processEnv(url, state), agrees)
	pending := a.propose("connection_create", connectionSpec("dc-aws-01", 1017))
	halt := filepath.Join(state, "halt")
	if err := os.WriteFile(halt, []byte("maintenance window\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, before := seen(sim)
	for _, p := range []*process{a, b} {
		got := p.propose("connection_create", connectionSpec("dc-aws-02", 1018))
		if message, _ := got.at("error.message").(string); got.at("error.code") != "halted" || !strings.Contains(message, "maintenance window") {
			t.Errorf("a propose while halted: %v", got)
		}
	}
	got := a.wait(a.confirm(pending))
	if got.at("error.code") != "halted" || got["token_state"] != "unspent" {
		t.Errorf("a confirm while halted: %v", got)
	}
	if creates, after := seen(sim); creates != 0 || after != before {
		t.Errorf("%d creates and %d dry runs were sent while halted", creates, after-before)
	}
	if err := os.Remove(halt); err != nil {
		t.Fatal(err)
	}
	if got := a.wait(a.confirm(pending)); got["outcome"] != "created" {
		t.Errorf("the same token after the halt: %v", got)
	}
	wantMade(t, sim, 1)
}

func onDryRun(sim *fabricsim.Sim, n int, a fabricsim.Action) {
	yes := true
	sim.Fail(fabricsim.Fault{Match: fabricsim.Match{Method: "POST", Path: "/fabric/v4/connections", DryRun: &yes}, Do: a, Times: n})
}

// A dry run that creates is told with the uuid, and everything halts.
func TestDryRunThatCreates(t *testing.T) {
	t.Run("the first", func(t *testing.T) {
		t.Parallel()
		sim, url := simulator(t)
		state := t.TempDir() + "/state"
		p := start(t, "2025-11-25", processEnv(url, state), agrees)
		onDryRun(sim, 1, fabricsim.Action{Kind: fabricsim.FaultIgnoreDryRun})
		got := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
		if got.at("error.code") != "dry_run_created" || got.at("result.uuid") != createdUUID(t, sim) || got["confirm_token"] != nil {
			t.Errorf("the propose came to %v", got)
		}
		wantHalted(t, url, state, p)
		if creates, _ := seen(sim); creates != 0 || made(sim) != 1 {
			t.Errorf("%d creates were sent and %d assets made, want 0 and 1", creates, made(sim))
		}
	})
	for _, era := range []string{"2025-11-25", modern} {
		t.Run("the last/"+era, func(t *testing.T) {
			t.Parallel()
			sim, url := simulator(t)
			state := t.TempDir() + "/state"
			p := start(t, era, processEnv(url, state), agrees)
			proposed := p.propose("connection_create", connectionSpec("dc-aws-01", 1017))
			onDryRun(sim, 1, fabricsim.Action{Kind: fabricsim.FaultIgnoreDryRun})
			got := p.wait(p.confirm(proposed))
			if got.at("error.code") != "dry_run_created" || got["executed"] != true || got["outcome"] != "created" ||
				got.at("result.uuid") != createdUUID(t, sim) {
				t.Errorf("the confirm came to %v", got)
			}
			wantHalted(t, url, state, p)
			if creates, _ := seen(sim); creates != 0 || made(sim) != 1 {
				t.Errorf("%d creates were sent and %d assets made, want 0 and 1", creates, made(sim))
			}
			if left := unresolved(t, state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
		})
	}
}

func createdUUID(t *testing.T, sim *fabricsim.Sim) string {
	t.Helper()
	for _, a := range sim.Assets("") {
		if a.Created {
			return a.UUID
		}
	}
	t.Error("nothing was created")
	return ""
}

// wantHalted fails unless p, and a process that starts now, refuse to propose.
func wantHalted(t *testing.T, url, state string, p *process) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(state, "halt")); err != nil {
		t.Errorf("the halt file is not set: %v", err)
	}
	for _, p := range []*process{p, start(t, modern, processEnv(url, state), agrees)} {
		if got := p.propose("connection_create", connectionSpec("dc-aws-09", 1099)); got.at("error.code") != "halted" {
			t.Errorf("the next propose came to %v", got)
		}
	}
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
