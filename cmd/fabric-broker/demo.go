package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/term"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/broker/ledger"
	"fabricbroker/broker/seal"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

type demoCmd struct {
	Yes bool `help:"Approve without asking." xor:"answer"`
	No  bool `help:"Decline without asking." xor:"answer"`
}

// Run tells the story. It succeeds only if exactly what had to be created was
// created.
func (c *demoCmd) Run() error {
	person := &person{out: os.Stdout, in: os.Stdin}
	switch {
	case c.Yes:
		person.says = "yes"
	case c.No:
		person.says = "no"
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return usageError{errors.New("the demo asks a person, and there is no terminal: answer with --yes or --no")}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stage, err := newStage(ctx, person)
	if err != nil {
		return err
	}
	defer stage.close()
	err = stage.tell(ctx)
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// stage is everything that the story needs, in this process: the simulator on
// a real socket, the server before it, and a client with a person.
type stage struct {
	out    io.Writer
	person *person
	sim    *fabricsim.Sim
	api    *http.Server
	addr   string
	clock  *clock
	dir    string
	broker *broker.Broker
	client *mcp.ClientSession
}

// clock can be moved on, to show what ten minutes do without waiting for them.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) skip(d time.Duration) { c.ahead.Add(int64(d)) }

//nolint:contextcheck // closing must run although ctx has ended
func newStage(ctx context.Context, p *person) (_ *stage, err error) {
	s := &stage{out: os.Stdout, person: p, clock: &clock{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.sim = &fabricsim.Sim{Now: s.clock.now}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: no port for the simulator: %w", err)
	}
	s.addr = listener.Addr().String()
	s.api = &http.Server{Handler: s.sim, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.api.Serve(listener) }()

	if s.dir, err = os.MkdirTemp("", "fabric-broker-demo-"); err != nil {
		return nil, fmt.Errorf("demo: no state directory: %w", err)
	}
	parts, err := s.parts(ctx)
	if err != nil {
		return nil, err
	}
	a := assemble(parts)
	s.broker = a.broker
	s.client, err = connect(ctx, a.server, p)
	return s, err
}

func (s *stage) parts(ctx context.Context) (parts, error) {
	log := slog.New(slog.DiscardHandler)
	api, err := fabric.New(fabric.Options{
		Endpoint: "http://" + s.addr, ClientID: "demo", ClientSecret: broker.NewSecret("sim-secret"), Now: s.clock.now, Log: log,
	})
	if err != nil {
		return parts{}, err
	}
	dir, err := audit.OpenDir(s.dir)
	if err != nil {
		return parts{}, err
	}
	return parts{
		names: []string{"fabric", "pricing", "mutate"}, api: api, keyring: seal.Ephemeral(), now: s.clock.now, log: log, ending: ctx,
		options: broker.Options{
			Ledger: ledger.NewMemory(ledger.Options{Now: s.clock.now}), Intents: dir.Intents(), Halt: dir.Halt(), Recheck: true,
		},
	}, nil
}

// connect starts the server and a client of protocol version 2026-07-28 whose
// forms p answers.
func connect(ctx context.Context, server *mcp.Server, p *person) (*mcp.ClientSession, error) {
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "fabric-broker-demo", Version: version}, &mcp.ClientOptions{
		ElicitationHandler: p.answer, Capabilities: &mcp.ClientCapabilities{},
	})
	session, err := client.Connect(ctx, near, nil)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return session, nil
}

func (s *stage) close() {
	if s.client != nil {
		_ = s.client.Close()
	}
	if s.broker != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_ = s.broker.Drain(ctx)
		cancel()
	}
	if s.api != nil {
		_ = s.api.Close()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}
