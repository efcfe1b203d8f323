package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"fabricbroker/broker/audit"
)

type auditCmd struct {
	Verify verifyCmd `cmd:"" help:"Check the hash chain of an audit file or of a state directory."`
	Prune  pruneCmd  `cmd:"" help:"Remove audit files whose last event is old."`
}

type verifyCmd struct {
	stateFlags
	Path string `arg:"" optional:"" help:"An audit file, or a state directory. Default: the configured state directory."`
}

// Run names the first bad line of each file, and says what a chain cannot
// prove.
func (c *verifyCmd) Run() error {
	path := c.Path
	if path == "" {
		var err error
		if path, err = c.path(); err != nil {
			return usageError{err}
		}
	}
	report, err := audit.Verify(path)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(os.Stdout, "%s\n%s\n", report, report.Limits()); err != nil {
		return err
	}
	if !report.OK() {
		return errors.New("audit: the chain is broken; nothing stops for it, but find out who or what changed the file")
	}
	return nil
}

type pruneCmd struct {
	stateFlags
	OlderThan time.Duration `name:"older-than" required:"" placeholder:"AGE" help:"Such as 720h. What was removed can no longer be told by anyone."`
}

// Run removes old files.
func (c *pruneCmd) Run() error {
	if c.OlderThan < readable {
		return usageError{fmt.Errorf("--older-than must be %s or more: younger outcomes are still asked for", readable)}
	}
	dir, err := c.open()
	if err != nil {
		return err
	}
	pruned, err := audit.Prune(dir.Path(), c.OlderThan, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, pruned)
	return err
}
