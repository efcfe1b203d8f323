package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
)

// stateFlags say where the state directory is. Commands of an operator need
// nothing else.
type stateFlags struct {
	StateDir string `name:"state-dir" env:"EQUINIX_MCP_STATE_DIR" placeholder:"DIR" help:"Unresolved creates, audit log, log-in lock-out; 0700. Default: ~/.local/state/fabric-broker."`
}

// path is where the state directory is.
func (s stateFlags) path() (string, error) {
	if s.StateDir != "" {
		return s.StateDir, nil
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "fabric-broker"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no state directory: set EQUINIX_MCP_STATE_DIR: %w", err)
	}
	return filepath.Join(home, ".local", "state", "fabric-broker"), nil
}

// open opens the state directory; a mistake in it is one of configuration.
func (s stateFlags) open() (*audit.Dir, error) {
	path, err := s.path()
	if err != nil {
		return nil, usageError{err}
	}
	dir, err := audit.OpenDir(path)
	if err != nil {
		return nil, usageError{err}
	}
	return dir, nil
}

type haltCmd struct {
	stateFlags
	Reason string `required:"" placeholder:"TEXT" help:"Why. It is shown to whoever proposes or confirms."`
}

// Run sets the stop switch.
func (c *haltCmd) Run() error {
	ctx := context.Background()
	o, err := c.operated(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	if err := o.halt.Set(ctx, c.Reason); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, "halted: no dry run and no create is sent by any server of", o.name, "until fabric-broker resume")
	return err
}

type resumeCmd struct{ stateFlags }

// Run takes the stop switch back, and says why it was set.
func (c *resumeCmd) Run() error {
	ctx := context.Background()
	o, err := c.operated(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	reason, unread := o.halt.Halted(ctx)
	if err := o.halt.Clear(ctx); err != nil {
		return err
	}
	switch {
	case unread != nil: // it halted all the same
		_, err = fmt.Fprintln(os.Stdout, "resumed; why it was halted could not be read:", unread)
	case reason == "":
		_, err = fmt.Fprintln(os.Stdout, "nothing was halted")
	default:
		_, err = fmt.Fprintln(os.Stdout, "resumed; it was halted because:", broker.Quote(reason))
	}
	return err
}

type resolveCmd struct {
	stateFlags
	Proposal string `arg:"" help:"The proposal whose create has an unknown outcome."`
	Created  string `xor:"verdict" required:"" placeholder:"UUID" help:"It exists: this is it."`
	Absent   bool   `xor:"verdict" required:"" help:"It does not exist. You have looked on the provider's side."`
	Reason   string `placeholder:"TEXT" help:"How you know. Required with --absent."`
}

// Run writes a person's last word into the file of the unresolved create, or its
// row in the shared ledger. The server that holds it takes it from there.
func (c *resolveCmd) Run() error {
	switch {
	case c.Absent && c.Reason == "":
		return usageError{errors.New("--absent needs --reason: say how you know that it does not exist")}
	case !c.Absent && (len(c.Created) != 36 || uuid.Validate(c.Created) != nil): // an empty variable must not say "absent"
		return usageError{fmt.Errorf("--created needs the asset's uuid as the provider shows it, not %q", c.Created)}
	}
	ctx := context.Background()
	o, err := c.operated(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	v := broker.Verdict{UUID: c.Created, Reason: c.Reason, At: time.Now().UTC()}
	if err := o.intents.Judge(ctx, broker.ID(c.Proposal), v); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, "recorded: the server that holds this proposal applies it within half a minute; if none runs, the next one does at its start")
	return err
}
