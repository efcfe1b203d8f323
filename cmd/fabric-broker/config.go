package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
	"fabricbroker/pricing"
	"fabricbroker/toolsets"
)

// config is the configuration: each field is a flag and an environment
// variable, the flag first. An empty variable is unset, but for PREVIEW.
type config struct {
	stateFlags

	APIEndpoint string `name:"api-endpoint" env:"EQUINIX_API_ENDPOINT" default:"https://api.equinix.com" help:"The Fabric API: https, or http on loopback."`
	APIClientID string `name:"api-clientid" env:"EQUINIX_API_CLIENTID,EQUINIX_ACCESS_KEY" placeholder:"ID" help:"Client id. Its secret: EQUINIX_API_CLIENTSECRET or EQUINIX_SECRET_KEY; or EQUINIX_API_TOKEN instead of both."`

	Toolsets       string `name:"toolsets" env:"EQUINIX_MCP_TOOLSETS" default:"fabric,pricing" help:"Which tools: fabric, pricing, mutate, gate."`
	Preview        string `name:"preview" env:"EQUINIX_MCP_PREVIEW" default:"false" help:"Anything but false: nothing can be created."`
	ConfirmTTL     int64  `name:"confirm-ttl-ms" env:"EQUINIX_MCP_CONFIRM_TTL_MS" default:"600000" help:"How long a proposal lives, 1 s to 60 min."`
	ElicitTimeout  int64  `name:"elicit-timeout-ms" env:"EQUINIX_MCP_ELICIT_TIMEOUT_MS" default:"300000" help:"How long a person is asked."`
	Unconfirmed    string `name:"allow-unconfirmed-mutations" env:"EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS" placeholder:"BOOL" help:"true: create without asking where the client shows no forms."`
	ConfirmCode    string `name:"confirm-code" env:"EQUINIX_MCP_CONFIRM_CODE" default:"auto" enum:"auto,always,never" help:"Ask for a code that stands in the prompt: auto, always, never."`
	MaxPending     int    `name:"max-pending" env:"EQUINIX_MCP_MAX_PENDING" default:"20" help:"Pending proposals of one principal."`
	MaxCreates     int    `name:"max-creates-per-day" env:"EQUINIX_MCP_MAX_CREATES_PER_DAY" default:"${max_creates}" help:"Creates in 24 hours."`
	RateCard       string `name:"rate-card" env:"EQUINIX_MCP_RATE_CARD" placeholder:"FILE" help:"Your own prices, YAML."`
	PricingTimeout int64  `name:"pricing-timeout-ms" env:"EQUINIX_MCP_PRICING_TIMEOUT_MS" default:"5000" help:"Time for a price."`
	LookupTimeout  int64  `name:"lookup-timeout-ms" env:"EQUINIX_MCP_LOOKUP_TIMEOUT_MS" default:"3000" help:"Time for look-ups."`
	CreateTimeout  int64  `name:"create-timeout-ms" env:"EQUINIX_MCP_CREATE_TIMEOUT_MS" default:"60000" help:"Time for a create."`
	Recheck        string `name:"recheck" env:"EQUINIX_MCP_RECHECK" default:"on" enum:"on,off" help:"Dry run and price once more before the create."`
	Channel        string `name:"channel" env:"EQUINIX_MCP_CHANNEL" default:"auto" enum:"auto,page,form" help:"How people are asked: auto, page, form."`
	MetricsListen  string `name:"metrics-listen" env:"EQUINIX_MCP_METRICS_LISTEN" placeholder:"ADDR" help:"Metrics on a loopback address."`
	LogLevel       string `name:"log-level" env:"EQUINIX_MCP_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"What goes to stderr: debug, info, warn, error."`

	names    []string
	card     *pricing.RateCard
	secret   broker.Secret
	token    broker.Secret
	keyring  *seal.Keyring
	unasked  bool
	previews bool
	// shared is the ledger that replicas share; nil keeps proposals in memory.
	shared *shared
}

// Validate checks what kong cannot. It is called before any command runs, so a
// mistake is one line and exit code 2.
func (c *config) Validate() error {
	err := checkNames()
	if err != nil {
		return err
	}
	if c.names, err = toolsets.ParseNames(c.Toolsets); err != nil {
		return fmt.Errorf("EQUINIX_MCP_TOOLSETS: %w", err)
	}
	for _, d := range []struct {
		name      string
		ms        int64
		low, high time.Duration
	}{
		{"EQUINIX_MCP_CONFIRM_TTL_MS", c.ConfirmTTL, time.Second, time.Hour},
		{"EQUINIX_MCP_ELICIT_TIMEOUT_MS", c.ElicitTimeout, time.Second, time.Hour},
		{"EQUINIX_MCP_PRICING_TIMEOUT_MS", c.PricingTimeout, time.Millisecond, time.Minute},
		{"EQUINIX_MCP_LOOKUP_TIMEOUT_MS", c.LookupTimeout, time.Millisecond, time.Minute},
		{"EQUINIX_MCP_CREATE_TIMEOUT_MS", c.CreateTimeout, time.Second, 10 * time.Minute},
	} {
		if d.ms < d.low.Milliseconds() || d.ms > d.high.Milliseconds() {
			return fmt.Errorf("%s must be from %d to %d milliseconds, not %d", d.name, d.low.Milliseconds(), d.high.Milliseconds(), d.ms)
		}
	}
	if c.MaxPending < 1 || c.MaxPending > 1000 {
		return fmt.Errorf("EQUINIX_MCP_MAX_PENDING must be from 1 to 1000, not %d", c.MaxPending)
	}
	if c.MaxCreates < 1 {
		return fmt.Errorf("EQUINIX_MCP_MAX_CREATES_PER_DAY must be 1 or more, not %d: to create nothing, leave mutate out of EQUINIX_MCP_TOOLSETS", c.MaxCreates)
	}
	switch c.Unconfirmed {
	case "", "false":
	case "true":
		c.unasked = true
	default:
		return fmt.Errorf("EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS must be true or false, not %q", c.Unconfirmed)
	}
	c.previews = c.Preview != "false" // it only ever tightens: a typo previews
	return c.readFiles()
}

// readFiles reads the secrets and the rate card.
func (c *config) readFiles() error {
	var err error
	if c.token, err = secret("EQUINIX_API_TOKEN"); err != nil {
		return err
	}
	if c.secret, err = secret("EQUINIX_API_CLIENTSECRET"); err != nil {
		return err
	}
	if c.secret.IsZero() {
		if c.secret, err = secret("EQUINIX_SECRET_KEY"); err != nil {
			return err
		}
	}
	confirm, err := secret("EQUINIX_MCP_CONFIRM_SECRET")
	if err != nil {
		return err
	}
	if c.keyring, err = keyring(confirm); err != nil {
		return fmt.Errorf("EQUINIX_MCP_CONFIRM_SECRET: %w", err)
	}
	if c.RateCard == "" {
		return nil
	}
	b, err := os.ReadFile(c.RateCard)
	if err != nil {
		return fmt.Errorf("EQUINIX_MCP_RATE_CARD cannot be read: %w", err)
	}
	if c.card, err = pricing.ParseRateCard(b); err != nil {
		return fmt.Errorf("EQUINIX_MCP_RATE_CARD: %s: %w", c.RateCard, err)
	}
	return nil
}

// keyring makes the keys: of the secrets given, the first of which signs, or
// for this process alone.
func keyring(s broker.Secret) (*seal.Keyring, error) {
	if s.IsZero() {
		return seal.Ephemeral(), nil
	}
	var keys []seal.Key
	for part := range strings.SplitSeq(s.Reveal(), ",") {
		k, err := seal.ParseSecret(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return seal.New(keys)
}

// credentials refuses a start that could never log in.
func (c *config) credentials() error {
	switch {
	case !c.token.IsZero() && (c.APIClientID != "" || !c.secret.IsZero()):
		return errors.New("EQUINIX_API_TOKEN and a client id or secret are both set: set one kind of credentials")
	case !c.token.IsZero(), c.APIClientID != "" && !c.secret.IsZero():
		return nil
	}
	return errors.New("no credentials: set EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET, or EQUINIX_API_TOKEN")
}

// notBuilt names what is set although this version cannot do it: a setting that
// silently does nothing would be worse.
func (c *config) notBuilt() []string {
	var out []string
	for name, set := range map[string]bool{
		"EQUINIX_MCP_CHANNEL":                     c.Channel == "page",
		"EQUINIX_MCP_TOOLSETS (the toolset gate)": slices.Contains(c.names, "gate"),
	} {
		if set {
			out = append(out, name+" is set, but this version does not have that feature yet")
		}
	}
	slices.Sort(out)
	return out
}

// httpOnly names what is set although stdio has no use for it.
func httpOnly() []string {
	var out []string
	for _, name := range []string{"EQUINIX_MCP_LEDGER_DSN", "EQUINIX_MCP_LEDGER_DSN_FILE", "EQUINIX_MCP_LISTEN"} {
		if os.Getenv(name) != "" {
			out = append(out, name+" is set, but only fabric-broker http reads it")
		}
	}
	return out
}

func (c *config) logger() *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(c.LogLevel)) // kong has checked the word
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: l}))
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
