package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/audit"
	"fabricbroker/fabric"
)

type doctorCmd struct {
	config
	JSON  bool `help:"One JSON object instead of lines."`
	Login bool `help:"Also log in once. Five refused log-ins lock the account, so this is not done by itself."`
}

// finding is one line of the doctor.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning, problem
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

const (
	good    = "ok"
	warning = "warning"
	problem = "problem"
)

// Run checks what a server would need, a line each, with the fix. It changes
// nothing and, without --login, sends no credentials anywhere.
func (c *doctorCmd) Run() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	findings := c.examine(ctx)
	if err := printFindings(os.Stdout, findings, c.JSON); err != nil {
		return err
	}
	if slices.ContainsFunc(findings, func(f finding) bool { return f.Status == problem }) {
		return errors.New("doctor: there are problems")
	}
	return nil
}

func (c *doctorCmd) examine(ctx context.Context) []finding {
	out := []finding{c.configuration(), c.confirmSecret()}
	out = append(out, c.credentialsFinding())
	api, err := c.client()
	if err != nil {
		out = append(out, finding{"api", problem, err.Error(), "correct EQUINIX_API_ENDPOINT"})
	} else {
		out = append(out, reach(ctx, api.Account().Endpoint))
		if c.Login {
			out = append(out, logIn(ctx, api))
		}
	}
	return slices.Concat(out, c.state(ctx), c.ledger(ctx))
}

func (c *doctorCmd) configuration() finding {
	if missing := c.notBuilt(); len(missing) > 0 {
		return finding{"configuration", warning, strings.Join(missing, "; "), "unset what this version does not have"}
	}
	detail := "toolsets " + strings.Join(c.names, ", ")
	if c.previews {
		detail += "; preview: nothing can be created"
	}
	return finding{"configuration", good, detail, ""}
}

func (c *doctorCmd) confirmSecret() finding {
	if s, _ := secret("EQUINIX_MCP_CONFIRM_SECRET"); s.IsZero() {
		return finding{"confirm secret", good, "none is set: each server makes its own, and tokens end with it", ""}
	}
	if n := confirmSecrets(); n > 1 {
		return finding{"confirm secret", good, fmt.Sprintf("%d are set: the first signs, all open", n), ""}
	}
	return finding{"confirm secret", good, "set", ""}
}

func (c *doctorCmd) credentialsFinding() finding {
	if err := c.credentials(); err != nil {
		return finding{"credentials", problem, err.Error(), "set them in the environment or through a _FILE variable"}
	}
	if !c.token.IsZero() {
		return finding{"credentials", good, "a bearer token (EQUINIX_API_TOKEN)", ""}
	}
	return finding{"credentials", good, "client id " + broker.Quote(c.APIClientID) + " with a secret", ""}
}

// client is the API as a server would use it, lock-out included.
func (c *doctorCmd) client() (*fabric.API, error) {
	o := fabric.Options{Endpoint: c.APIEndpoint, ClientID: c.APIClientID, ClientSecret: c.secret, Token: c.token}
	if c.credentials() != nil {
		o.ClientID, o.ClientSecret, o.Token = "", broker.Secret{}, broker.NewSecret("none") // only the endpoint is looked at
	}
	if path, err := c.path(); err == nil {
		o.Lockout = fabric.FileLockout(filepath.Join(path, "login"))
	}
	return fabric.New(o)
}

// reach opens a connection and sends nothing on it.
func reach(ctx context.Context, endpoint string) finding {
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		endpoint = net.JoinHostPort(endpoint, "443")
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return finding{"api", problem, "cannot be reached: " + err.Error(), "check the network, a proxy, and EQUINIX_API_ENDPOINT"}
	}
	_ = conn.Close()
	return finding{"api", good, endpoint + " can be reached", ""}
}

func logIn(ctx context.Context, api *fabric.API) finding {
	if err := api.LogIn(ctx); err != nil {
		return finding{"log-in", problem, err.Error(), "correct the credentials; the same ones are not tried again for 30 minutes"}
	}
	return finding{"log-in", good, "accepted", ""}
}

func (c *doctorCmd) state(ctx context.Context) []finding {
	path, err := c.path()
	if err != nil {
		return []finding{{"state directory", problem, err.Error(), "set EQUINIX_MCP_STATE_DIR"}}
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return []finding{{"state directory", good, path + " does not exist yet; the first start makes it", ""}}
	}
	dir, err := audit.OpenDir(path)
	if err != nil {
		return []finding{{"state directory", problem, err.Error(), "use a directory of your own with mode 0700"}}
	}
	defer func() { _ = dir.Close() }()
	return []finding{
		{"state directory", good, path, ""},
		haltFinding(ctx, "halt", dir.Halt()), unresolvedFinding(ctx, "unresolved creates", dir.Intents()), auditFinding(path),
	}
}

func haltFinding(ctx context.Context, check string, h broker.Halt) finding {
	reason, err := h.Halted(ctx)
	switch {
	case err != nil:
		return finding{check, problem, err.Error(), "make it readable: until then nothing is sent"}
	case reason != "":
		return finding{check, problem, "everything is halted: " + broker.Quote(reason), "look into it, then run fabric-broker resume"}
	}
	return finding{check, good, "nothing is halted", ""}
}

// auditFinding is what fabric-broker audit verify says, in a line.
func auditFinding(path string) finding {
	report, err := audit.Verify(path)
	if err != nil {
		return finding{"audit log", problem, err.Error(), "make the state directory readable"}
	}
	lines := 0
	var bad, notes []string
	for _, f := range report.Files {
		lines += f.Lines
		if f.Bad != nil {
			bad = append(bad, fmt.Sprintf("%s, line %d: %s: %s", broker.Quote(f.Name), f.Bad.Line, f.Bad.Kind, f.Bad.Detail))
		}
		for _, n := range f.Notes {
			notes = append(notes, broker.Quote(f.Name)+": "+n)
		}
	}
	notes = append(notes, report.Notes...)
	switch {
	case len(bad) > 0:
		return finding{
			"audit log", problem, "the chain is broken: " + strings.Join(bad, "; "),
			"nothing stops for it, but find out who or what changed the file; fabric-broker audit verify has all of it",
		}
	case len(notes) > 0:
		return finding{"audit log", warning, strings.Join(notes, "; "), "run fabric-broker audit verify"}
	}
	return finding{"audit log", good, fmt.Sprintf("unbroken: files %d, lines %d", len(report.Files), lines), ""}
}

func unresolvedFinding(ctx context.Context, check string, l interface {
	List(ctx context.Context) ([]broker.Intent, error)
},
) finding {
	intents, err := l.List(ctx)
	if err != nil {
		return finding{check, problem, err.Error(), "make them readable: until then nothing is sent"}
	}
	if len(intents) == 0 {
		return finding{check, good, "none", ""}
	}
	var lines []string
	for _, i := range intents {
		if i.ProposalID == "" {
			lines = append(lines, i.Name)
			continue
		}
		line := fmt.Sprintf("%s %s %s since %s", i.ProposalID, i.ChangeType, broker.Quote(i.Name), i.ClaimedAt.UTC().Format(time.RFC3339))
		if i.Verdict != nil {
			line += " (a verdict waits to be applied)"
		}
		lines = append(lines, line)
	}
	return finding{
		check, problem, strings.Join(lines, "; "),
		"let a server look for them; or look on the provider's side and run fabric-broker resolve PROPOSAL --created UUID, or --absent --reason TEXT",
	}
}

func printFindings(w io.Writer, findings []finding, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"findings": findings})
	}
	for _, f := range findings {
		line := fmt.Sprintf("%-8s %-18s %s", f.Status, f.Check, f.Detail)
		if f.Fix != "" {
			line += "\n         fix: " + f.Fix
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
