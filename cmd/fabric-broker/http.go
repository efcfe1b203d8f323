package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/toolsets/mutate"
	"fabricbroker/toolsets/remote"
)

type httpCmd struct {
	config

	Listen         string `name:"listen" env:"EQUINIX_MCP_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Where to listen. TLS is a proxy's business."`
	PublicURL      string `name:"public-url" env:"EQUINIX_MCP_PUBLIC_URL" placeholder:"URL" help:"What clients reach the server by, where that is a proxy."`
	AuthIssuer     string `name:"auth-issuer" env:"EQUINIX_MCP_AUTH_ISSUER" placeholder:"URL" help:"OpenID Connect issuer whose access tokens are taken."`
	AuthAudience   string `name:"auth-audience" env:"EQUINIX_MCP_AUTH_AUDIENCE" placeholder:"TEXT" help:"Audience of those tokens: this server, never a client. Default: the public URL with /mcp."`
	AuthTenant     string `name:"auth-tenant-claim" env:"EQUINIX_MCP_AUTH_TENANT_CLAIM" placeholder:"NAME" help:"Claim that names the tenant."`
	AuthTokensFile string `name:"auth-tokens-file" env:"EQUINIX_MCP_AUTH_TOKENS_FILE" placeholder:"FILE" help:"Static tokens, mode 0600: lines of \"sha256:HEX tenant/subject\"."`
	InsecureNoAuth bool   `name:"insecure-no-auth" help:"Take every caller for the same one. On loopback only."`

	verifier remote.Verifier
	dsn      broker.Secret
}

// Run serves until a signal comes. Then nobody is asked any more; creates in
// flight are finished, recorded and answered first.
func (c *httpCmd) Run() error {
	log := slog.New(remote.LogHandler(c.logger().Handler()))
	for _, line := range c.notBuilt() {
		log.Warn(line)
	}
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ending, stop := signal.NotifyContext(interrupted, syscall.SIGTERM)
	defer stop()
	checks, closeLedger, err := c.share(ending, log)
	if err != nil {
		return err
	}
	defer closeLedger()
	p, err := c.parts(ending, log)
	if err != nil {
		return usageError{err}
	}
	defer p.close()
	var l net.ListenConfig
	ln, err := l.Listen(ending, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("EQUINIX_MCP_LISTEN: %w", err)
	}
	if c.InsecureNoAuth && !remote.Loopback(ln.Addr().String()) {
		_ = ln.Close()
		return usageError{fmt.Errorf("--insecure-no-auth works on loopback only, and %s is not", ln.Addr())}
	}
	p.ending = ending
	if err := c.serve(p, ln, checks); err != nil {
		return err
	}
	if interrupted.Err() != nil {
		return errInterrupted
	}
	return nil
}

// serve assembles the server and serves on ln.
func (c *httpCmd) serve(p parts, ln net.Listener, checks []remote.Check) error {
	calls := remote.NewCalls(remote.CallLimits{ProposeTools: []string{mutate.ProposeTool}, ConfirmTool: mutate.ConfirmTool, Log: p.log})
	p.principal, p.middleware = remote.Principal, calls.Middleware
	a := assemble(p)
	public := c.PublicURL
	if public == "" {
		public = "http://" + ln.Addr().String()
	}
	resource, err := remote.Resource(public)
	if err != nil {
		return fmt.Errorf("EQUINIX_MCP_PUBLIC_URL: %w", err)
	}
	o := remote.Options{
		Server: a.server, Calls: calls, Verifier: c.verifier,
		Resource: resource, Public: c.PublicURL != "", Checks: append(checks, logInCheck(p.api)), Log: p.log,
	}
	if c.AuthIssuer != "" {
		o.Issuers = []string{c.AuthIssuer}
	}
	s, err := remote.New(o)
	if err != nil {
		return usageError{err}
	}
	drain := func(context.Context) error { return nil }
	if a.broker != nil {
		drain = a.broker.Drain
		defer a.look(p.ending)()
	}
	p.log.Info("listening", "addr", ln.Addr().String(), "endpoint", resource.String())
	return s.Serve(p.ending, ln, ms(c.CreateTimeout)+drainMargin, drain)
}

// logInCheck tells whether the last log-in was refused. It never logs in.
func logInCheck(api *fabric.API) remote.Check {
	return remote.Check{Name: "log_in", Run: func(ctx context.Context) error {
		until, err := api.LogInRefused(ctx)
		if err == nil && !until.IsZero() {
			err = fmt.Errorf("the last log-in was refused; the credentials are not tried again before %s", until.UTC().Format(time.RFC3339))
		}
		return err
	}}
}
