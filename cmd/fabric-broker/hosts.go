package main

import (
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"
)

type configCmd struct {
	Host string `arg:"" help:"claude-code, claude-desktop, cursor or vscode."`
}

//go:embed hosts/*.json
var hostFiles embed.FS

// host is an MCP host and where its configuration goes.
type host struct {
	name, where, secret string
}

// hosts differ in the file, in its top-level key, and in how a value that must
// not stand in the file gets into the environment.
var hosts = []host{
	{
		"claude-code", ".mcp.json in the project's directory",
		"it reads ${NAME} from the environment that claude is started in; an unset one arrives as that very text",
	},
	{
		"claude-desktop", "claude_desktop_config.json: on macOS in ~/Library/Application Support/Claude, on Windows in %APPDATA%\\Claude",
		"it reads no variables: put the client secret into a file that only you can read, and its absolute path into the configuration",
	},
	{
		"cursor", ".cursor/mcp.json in the project's directory, or ~/.cursor/mcp.json for all projects",
		"it reads ${env:NAME} from the environment that Cursor is started in",
	},
	{
		"vscode", ".vscode/mcp.json in the workspace, or the file that the command \"MCP: Open User Configuration\" opens",
		"it asks for ${input:...} once and keeps the answer in its secret storage",
	},
}

// Run prints the configuration of a host: on stdout what to paste, on stderr
// what to know.
func (c *configCmd) Run() error {
	i := slices.IndexFunc(hosts, func(h host) bool { return h.name == c.Host })
	if i < 0 {
		return usageError{fmt.Errorf("unknown host %q: the hosts are %s", c.Host, hostNames())}
	}
	b, err := hostFiles.ReadFile("hosts/" + c.Host + ".json")
	if err != nil {
		return err
	}
	h := hosts[i]
	fmt.Fprintf(os.Stderr, "Paste it into %s.\n", h.where)
	fmt.Fprintf(os.Stderr, "Secrets: %s.\n", h.secret)
	fmt.Fprintln(os.Stderr, "A host that is not started from a shell may not find fabric-broker: then its absolute path is the command.")
	fmt.Fprintln(os.Stderr, "Preview is on, so nothing can be created. Remove EQUINIX_MCP_PREVIEW when a person is to be asked.")
	_, err = os.Stdout.Write(b)
	return err
}

func hostNames() string {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return strings.Join(names, ", ")
}
