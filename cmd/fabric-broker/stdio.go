package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/fabric"
)

type stdioCmd struct{ config }

// Run serves until stdin ends or a signal comes. Then nobody is asked any more;
// creates in flight are finished and recorded first.
func (c *stdioCmd) Run() error {
	log := c.logger()
	for _, line := range append(c.notBuilt(), httpOnly()...) {
		log.Warn(line)
	}
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ending, stop := signal.NotifyContext(interrupted, syscall.SIGTERM)
	defer stop()
	p, err := c.parts(ending, log)
	if err != nil {
		return usageError{err}
	}
	defer p.close()
	err = serve(ending, assemble(p), stdio(os.Stdin, os.Stdout), ms(c.CreateTimeout), log)
	if err == nil && interrupted.Err() != nil {
		return errInterrupted
	}
	return err
}

// drainMargin is what draining may take beyond the create itself: the last dry
// run and price before it, and the record after it.
const drainMargin = time.Minute

// answerLimit is how long the last answers may take to be read by the client.
const answerLimit = 2 * time.Second

// serve runs the server until ending, or the end of its transport.
func serve(ending context.Context, a assembled, on mcp.Transport, create time.Duration, log *slog.Logger) error {
	t := &link{Transport: on}
	running, stop := context.WithCancel(context.WithoutCancel(ending))
	defer stop()
	drain := func() error {
		if a.broker == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ending), create+drainMargin)
		defer cancel()
		return a.broker.Drain(ctx)
	}
	// On a signal: first the calls end, as they listen to ending themselves,
	// then the answers are out, then the connection closes.
	defer context.AfterFunc(ending, func() {
		if err := drain(); err != nil {
			log.Error(err.Error())
		}
		t.answered(answerLimit)
		stop()
	})()
	if a.broker != nil {
		defer a.look(ending)()
	}
	err := a.server.Run(running, t)
	if derr := drain(); derr != nil {
		return derr
	}
	switch {
	case err == nil, errors.Is(err, context.Canceled), ending.Err() != nil:
		return nil
	case isDisconnect(err):
		log.Info("the client is gone", "err", err)
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}

// isDisconnect reports whether err only says that the other end went away.
// The SDK closes its reader too when it cannot write.
func isDisconnect(err error) bool {
	for _, gone := range []error{mcp.ErrConnectionClosed, syscall.EPIPE, os.ErrClosed, io.ErrClosedPipe} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// parts builds what the configuration asks for. Nothing is sent: an API that
// cannot be reached stops no start.
func (c *config) parts(ending context.Context, log *slog.Logger) (parts, error) {
	p := parts{names: c.names, keyring: c.keyring, now: time.Now, log: log, ending: ending, close: func() {}}
	if err := c.credentials(); err != nil {
		return p, err
	}
	mutates := slices.Contains(c.names, "mutate")
	path, err := c.path()
	if err != nil {
		return p, err
	}
	var lockout fabric.Lockout
	if mutates {
		dir, err := audit.OpenDir(path)
		if err != nil {
			return p, err
		}
		if err := c.record(&p, dir); err != nil { //nolint:contextcheck // the log is closed when the process ends
			return p, err
		}
		lockout = fabric.FileLockout(filepath.Join(path, "login"))
		if c.shared != nil {
			lockout = c.shared.lockout
		}
	} else if dir, err := audit.OpenDir(path); err == nil {
		// A read-only server can do without a state directory, but then it
		// cannot know what another process's log-in came to.
		_ = dir
		lockout = fabric.FileLockout(filepath.Join(path, "login"))
	} else {
		log.Warn("no state directory: a refused log-in is remembered by this process only", "err", err)
	}
	p.api, err = fabric.New(fabric.Options{
		Endpoint: c.APIEndpoint, ClientID: c.APIClientID, ClientSecret: c.secret, Token: c.token,
		UserAgent:     "fabric-broker/" + version,
		LookupTimeout: ms(c.LookupTimeout), PricingTimeout: ms(c.PricingTimeout), CreateTimeout: ms(c.CreateTimeout),
		RateCard: c.card, Lockout: lockout, Observe: p.observe, Now: p.now, Log: log,
	})
	if err != nil {
		return p, fmt.Errorf("EQUINIX_API_ENDPOINT: %w", err)
	}
	return p, nil
}

// record sets what a broker of one process keeps its proposals and records in.
func (c *config) record(p *parts, dir *audit.Dir) error {
	p.options = c.brokerOptions()
	var kept counter
	if s := c.shared; s != nil {
		kept = s.ledger
		p.options.Intents, p.options.Halt = s.intents, halts{s.halt, dir.Halt()}
	} else {
		memory := ledger.NewMemory(ledger.Options{})
		restore(p.ending, dir, memory, p.now(), p.log)
		kept, p.options.Restore, p.options.Told = memory, memory.Restore, told(dir)
		p.options.Intents, p.options.Halt = dir.Intents(), dir.Halt()
	}
	p.options.Ledger = kept
	lines, err := dir.Log(audit.LogOptions{})
	if err != nil {
		return err
	}
	p.close = func() {
		if err := lines.Close(); err != nil {
			p.log.Error("the audit log could not be closed", "err", err)
		}
	}
	m, err := counted(p.ending, c.MetricsListen, kept, p.log)
	if err != nil {
		return err
	}
	p.observe = m.Observe
	p.options.Recorder = broker.Recorders{m, lines}
	return nil
}

func (c *config) brokerOptions() broker.Options {
	return broker.Options{
		TTL: ms(c.ConfirmTTL), AskTimeout: ms(c.ElicitTimeout), CreateTimeout: ms(c.CreateTimeout),
		MaxPending: c.MaxPending, MaxCreates: c.MaxCreates,
		Preview: c.previews, AllowUnconfirmed: c.unasked,
		Recheck: c.Recheck == "on", CodeMode: broker.CodeMode(c.ConfirmCode),
	}
}
