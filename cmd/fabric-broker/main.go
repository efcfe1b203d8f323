// Command fabric-broker is an MCP server with which an agent may propose a
// billable create on Equinix Fabric, and with which only a person can let it
// happen. README.md has the first two commands to run.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set by the linker in released binaries.
var version = "dev"

// Exit codes.
const (
	exitFailed      = 1   // what was asked for did not succeed
	exitUsage       = 2   // usage or configuration
	exitInterrupted = 130 // as a shell reports SIGINT
)

type cli struct {
	Demo    demoCmd    `cmd:"" help:"Show the whole story in this terminal: offline, with a simulator. Reads no EQUINIX_* variable."`
	Stdio   stdioCmd   `cmd:"" set:"max_creates=20" help:"Serve MCP on stdin and stdout. This is what an MCP client starts."`
	HTTP    httpCmd    `cmd:"" name:"http" set:"max_creates=200" help:"Serve MCP over HTTP, to callers with bearer tokens."`
	Doctor  doctorCmd  `cmd:"" set:"max_creates=20" help:"Check configuration, credentials, API, state directory, audit log, shared ledger and unresolved creates."`
	Audit   auditCmd   `cmd:"" help:"Check or prune the audit log."`
	Resolve resolveCmd `cmd:"" help:"Say what became of a create whose answer was lost."`
	Halt    haltCmd    `cmd:"" help:"Stop every dry run and create of this state directory."`
	Resume  resumeCmd  `cmd:"" help:"Take the stop back."`
	Config  configCmd  `cmd:"" help:"Print the configuration of an MCP host, ready to paste, without secrets in it."`
	Secret  secretCmd  `cmd:"" help:"Print a new confirm secret, for EQUINIX_MCP_CONFIRM_SECRET."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// usageError is a mistake of whoever starts the program: exit code 2.
type usageError struct{ error }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// A client that went away must not kill the process in the middle of a
	// create: writing to it becomes an error instead.
	signal.Ignore(syscall.SIGPIPE)
	clearEmpty()
	if os.Getenv("GOGC") == "" {
		// The live heap is a few megabytes: collecting it at every doubling of
		// that costs more of a proposal than its compilation does.
		debug.SetGCPercent(400)
	}
	parser, err := kong.New(&cli{},
		kong.Name("fabric-broker"),
		kong.Description("An MCP server with which agents propose billable creates on Equinix Fabric, and only a person lets them happen."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.UsageOnError(),
	)
	if err != nil {
		panic("fabric-broker: the command line is declared wrongly: " + err.Error())
	}
	k, err := parser.Parse(args)
	if err != nil {
		return fail(usageError{fmt.Errorf("%w; see fabric-broker --help", err)})
	}
	return fail(k.Run())
}

// fail is the one place where an error becomes an exit code, and a line on
// stderr.
func fail(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "fabric-broker:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

var errInterrupted = errors.New("interrupted")

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	_, err := fmt.Fprintln(os.Stdout, "fabric-broker", version)
	return err
}
