package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"fabricbroker/toolsets/remote"
)

// memoryLedger is the DSN that says: one process, and I know it.
const memoryLedger = "memory:"

// Validate checks what kong cannot.
func (c *httpCmd) Validate() error {
	if err := c.config.Validate(); err != nil {
		return err
	}
	if c.Unconfirmed != "" {
		return errors.New("EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS works over stdio only: over HTTP nobody could tell whose money an agent spends. Unset it")
	}
	if err := c.mayMutate(); err != nil {
		return err
	}
	if err := c.mayListen(); err != nil {
		return err
	}
	return c.readAuth()
}

// mayMutate refuses a start in which an approval could get lost or count twice.
func (c *httpCmd) mayMutate() error {
	if !slices.Contains(c.names, "mutate") {
		return nil
	}
	confirm, err := secret("EQUINIX_MCP_CONFIRM_SECRET")
	if err != nil {
		return err
	}
	if confirm.IsZero() {
		return errors.New("EQUINIX_MCP_CONFIRM_SECRET is not set: without it the tokens of one process mean nothing to another, nor to this one after a restart. Make one with fabric-broker secret and give it to every replica")
	}
	if c.dsn, err = secret("EQUINIX_MCP_LEDGER_DSN"); err != nil {
		return err
	}
	switch dsn := c.dsn.Reveal(); {
	case dsn == "":
		return errors.New("EQUINIX_MCP_LEDGER_DSN is not set: without a shared ledger two replicas could both send what a person approved once. Set postgres://…, or the literal memory: to say that there is one process only")
	case dsn == memoryLedger, strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return nil
	}
	return errors.New("EQUINIX_MCP_LEDGER_DSN must be postgres://… or the literal \"memory:\"")
}

func (c *httpCmd) mayListen() error {
	auth := c.AuthIssuer != "" || c.AuthTokensFile != ""
	switch _, _, err := net.SplitHostPort(c.Listen); {
	case err != nil:
		return fmt.Errorf("EQUINIX_MCP_LISTEN: %w", err)
	case auth && c.InsecureNoAuth:
		return errors.New("--insecure-no-auth and EQUINIX_MCP_AUTH_… contradict each other: remove one")
	case c.InsecureNoAuth && !remote.Loopback(c.Listen):
		return fmt.Errorf("--insecure-no-auth works on loopback only: everybody who reaches %s could propose and approve. Set EQUINIX_MCP_AUTH_ISSUER or EQUINIX_MCP_AUTH_TOKENS_FILE", c.Listen)
	case c.InsecureNoAuth && c.PublicURL != "":
		return errors.New("--insecure-no-auth does not go with EQUINIX_MCP_PUBLIC_URL: what a proxy makes public is not on loopback any more")
	case !auth && !c.InsecureNoAuth:
		return errors.New("nobody could call: set EQUINIX_MCP_AUTH_ISSUER or EQUINIX_MCP_AUTH_TOKENS_FILE, or pass --insecure-no-auth on loopback")
	}
	return nil
}

// readAuth makes the verifiers of bearer tokens.
func (c *httpCmd) readAuth() error {
	var vs remote.Verifiers
	if c.AuthTokensFile != "" {
		v, err := remote.OpenStatic(c.AuthTokensFile)
		if err != nil {
			return fmt.Errorf("EQUINIX_MCP_AUTH_TOKENS_FILE: %w", err)
		}
		vs = append(vs, v)
	}
	if c.PublicURL != "" {
		u, err := remote.Resource(c.PublicURL)
		if err != nil {
			return fmt.Errorf("EQUINIX_MCP_PUBLIC_URL: %w", err)
		}
		if c.AuthAudience == "" {
			c.AuthAudience = u.String()
		}
	}
	if c.AuthIssuer != "" {
		if c.AuthAudience == "" {
			return errors.New("EQUINIX_MCP_AUTH_AUDIENCE is not set: a token that the issuer made for any other service would be taken. Set it, or EQUINIX_MCP_PUBLIC_URL")
		}
		v, err := remote.NewJWT(remote.JWTOptions{
			Issuer: c.AuthIssuer, Audience: c.AuthAudience, TenantClaim: c.AuthTenant, Log: c.logger(),
		})
		if err != nil {
			return fmt.Errorf("EQUINIX_MCP_AUTH_ISSUER: %w", err)
		}
		vs = append(vs, v)
	}
	if len(vs) > 0 {
		c.verifier = vs
	}
	return nil
}
