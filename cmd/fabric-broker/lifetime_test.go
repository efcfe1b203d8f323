package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// I2, I7: whatever ends the process, a create that has begun is finished and
// recorded before it goes.
func TestCreateInFlightIsFinished(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
