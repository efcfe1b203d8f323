// Command fabric-sim serves the Equinix Fabric simulator and its management API
// on loopback, for testing only.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"fabricbroker/fabric/fabricsim"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

type flags struct {
	Listen         string `placeholder:"ADDR" default:"127.0.0.1:0" help:"Where the simulated API listens."`
	Manage         string `placeholder:"ADDR" default:"127.0.0.1:0" help:"Where its management API listens."`
	InsecureListen bool   `help:"Allow addresses other than loopback. Neither API protects anything."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var f flags
	helped := false
	parser, err := kong.New(&f, kong.Name("fabric-sim"), kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
		kong.Description("Simulates the Equinix Fabric v4 API, for testing only. It prints the addresses when it listens."))
	if err != nil {
		panic("fabric-sim: " + err.Error())
	}
	_, err = parser.Parse(args)
	switch {
	case helped:
		return 0
	case err != nil:
		return complain(stderr, exitUsage, err)
	}
	for name, addr := range map[string]string{"listen": f.Listen, "manage": f.Manage} {
		if err := allowed(addr, f.InsecureListen); err != nil {
			return complain(stderr, exitUsage, fmt.Errorf("--%s: %w", name, err))
		}
	}
	if err := serve(ctx, f, stdout); err != nil {
		return complain(stderr, exitFailed, err)
	}
	return 0
}

func complain(w io.Writer, code int, err error) int {
	_, _ = fmt.Fprintf(w, "fabric-sim: %v\n", err)
	return code
}

// allowed refuses to show an API that takes any client id to a network.
func allowed(addr string, insecure bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is no host:port", addr)
	}
	ip := net.ParseIP(host)
	if insecure || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q is not a loopback address; use 127.0.0.1, or --insecure-listen if you mean it", addr)
}

// serve returns when ctx ends.
func serve(ctx context.Context, f flags, stdout io.Writer) error {
	sim := &fabricsim.Sim{}
	var lc net.ListenConfig
	api, err := lc.Listen(ctx, "tcp", f.Listen)
	if err != nil {
		return err
	}
	manage, err := lc.Listen(ctx, "tcp", f.Manage)
	if err != nil {
		_ = api.Close()
		return err
	}
	servers := []*http.Server{
		{Handler: sim, ReadHeaderTimeout: 10 * time.Second},
		{Handler: sim.Manage(), ReadHeaderTimeout: 10 * time.Second},
	}
	failed := make(chan error, len(servers))
	for i, l := range []net.Listener{api, manage} {
		go func() { failed <- servers[i].Serve(l) }()
	}
	_, _ = fmt.Fprintf(stdout, "api http://%s\nmanage http://%s\n", api.Addr(), manage.Addr())

	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	sim.Close() // else what hangs would hold the shutdown up
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	for _, s := range servers {
		if s.Shutdown(late) != nil {
			_ = s.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
