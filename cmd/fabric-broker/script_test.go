package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fabricbroker/fabric/fabricsim"
)

// TestScripts runs the scripts under testdata/script against the real program.
// Beside the commands of testscript they have these, whose arguments before --
// are the environment, on top of a complete and good one, and after it the
// command line (`stdio`, where there is none):
//
//	usage REGEXP NAME=VALUE... [-- ARGS...]
//	    exits with 2, prints one line on stderr that matches, and nothing on stdout
//	starts REGEXP NAME=VALUE... [-- ARGS...]
//	    starts, and ends with stdin and 0; stderr matches, stdout is empty
//	call TOOL ARGUMENTS NAME=VALUE...
//	    calls a tool, with a client that approves; stdout gets the structured result
//
// $SIM is the address of a simulator.
func TestScripts(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			bin := filepath.Join(e.WorkDir, ".bin")
			if err := os.Mkdir(bin, 0o700); err != nil {
				return err
			}
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv(asBinary, "1")
			e.Setenv("HOME", e.WorkDir)
			sim, url := simulator(t)
			e.Setenv("SIM", url)
			e.Values["sim"] = sim
			return os.Symlink(exe, filepath.Join(bin, "fabric-broker"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"usage":   usageCommand,
			"starts":  startsCommand,
			"call":    callCommand(t),
			"creates": createsCommand,
		},
		RequireExplicitExec: true,
		UpdateScripts:       *update,
	})
}

// scriptEnv is a complete and good configuration, with what a script says on top.
func scriptEnv(ts *testscript.TestScript, more []string) []string {
	env := processEnv(ts.Getenv("SIM"), ts.MkAbs("state"), "HOME="+ts.MkAbs("."))
	return append(env, more...)
}

func runCommand(ts *testscript.TestScript, neg bool, args []string) (code int, stdout, stderr string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: usage|starts REGEXP NAME=VALUE... [-- ARGS...]")
	}
	env, line := args[1:], []string{"stdio"}
	for i, a := range env {
		if a == "--" {
			env, line = env[:i], env[i+1:]
			break
		}
	}
	code, stdout, stderr = execute(fataler{ts}, scriptEnv(ts, env), "", line...)
	ts.Logf("[exit %d]\n%s%s", code, stdout, stderr)
	if !regexp.MustCompile("(?m)" + args[0]).MatchString(stderr) {
		ts.Fatalf("stderr does not match %q", args[0])
	}
	if stdout != "" {
		ts.Fatalf("stdout carries something other than the protocol")
	}
	return code, stdout, stderr
}

type fataler struct{ ts *testscript.TestScript }

func (f fataler) Fatal(args ...any) { f.ts.Fatalf("%v", args...) }

func usageCommand(ts *testscript.TestScript, neg bool, args []string) {
	code, _, stderr := runCommand(ts, neg, args)
	if code != exitUsage {
		ts.Fatalf("exit code %d, want %d", code, exitUsage)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "fabric-broker: ") {
		ts.Fatalf("stderr is not one line of ours")
	}
}

func startsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if code, _, _ := runCommand(ts, neg, args); code != 0 {
		ts.Fatalf("exit code %d, want 0", code)
	}
}

func callCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: call TOOL ARGUMENTS NAME=VALUE...")
		}
		var arguments object
		ts.Check(json.Unmarshal([]byte(args[1]), &arguments))
		p := start(t, "2025-11-25", scriptEnv(ts, args[2:]), agrees)
		got, err := json.MarshalIndent(p.call(args[0], arguments), "", "  ")
		ts.Check(err)
		_ = p.stdin.Close()
		if code := p.ended(); code != 0 {
			ts.Fatalf("exit code %d, want 0", code)
		}
		_, err = ts.Stdout().Write(append(got, '\n'))
		ts.Check(err)
	}
}

// createsCommand fails unless exactly so many creates were sent and made.
func createsCommand(ts *testscript.TestScript, _ bool, args []string) {
	sim, _ := ts.Value("sim").(*fabricsim.Sim)
	creates, _ := seen(sim)
	var want int
	ts.Check(json.Unmarshal([]byte(args[0]), &want))
	if creates != want || made(sim) != want {
		ts.Fatalf("%d creates sent and %d assets made, want %d of both", creates, made(sim), want)
	}
}
