package main

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/broker"
)

func readme(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// The table of tools is the registry: names, order of toolsets, and nothing that
// does not exist.
func TestReadmeListsTheTools(t *testing.T) {
	row := regexp.MustCompile("^\\| `(fabric_[a-z_]+)` \\| `([a-z]+)` \\| .+ \\|$")
	bySet := map[string][]string{}
	for _, line := range readme(t) {
		if m := row.FindStringSubmatch(line); m != nil {
			bySet[m[2]] = append(bySet[m[2]], m[1])
		}
	}
	w := newWorld(t)
	want := map[string][]string{}
	for _, set := range []string{"fabric", "pricing", "mutate"} {
		a := assemble(parts{
			names: []string{set}, api: w.api, keyring: w.keyring, options: broker.Options{Ledger: w.ledger, Intents: w.dir.Intents(), Halt: w.dir.Halt()},
			now: w.clock.now, log: slog.New(slog.DiscardHandler), ending: t.Context(),
		})
		near, far := mcp.NewInMemoryTransports()
		if _, err := a.server.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			want[set] = append(want[set], tool.Name)
		}
		_ = session.Close()
	}
	for _, m := range []map[string][]string{want, bySet} {
		for _, names := range m {
			slices.Sort(names)
		}
	}
	if diff := cmp.Diff(want, bySet); diff != "" {
		t.Errorf("the table of tools (-registry +README)\n%s", diff)
	}
}

// The table of variables has what this version reads, but for what it only
// says that it cannot do.
func TestReadmeListsTheVariables(t *testing.T) {
	later := []string{"EQUINIX_MCP_CHANNEL"}
	var want, got []string
	for _, name := range knownNames() {
		secret, isFile := strings.CutSuffix(name, "_FILE")
		if (!isFile || !slices.Contains(secretNames, secret)) && !slices.Contains(later, name) {
			want = append(want, name)
		}
	}
	for _, line := range readme(t) {
		if strings.HasPrefix(line, "| `EQUINIX_") {
			got = append(got, regexp.MustCompile(`EQUINIX_[A-Z_]+`).FindAllString(line, -1)...)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("the table of variables (-program +README)\n%s", diff)
	}
}

// The prompt in the README is the one that the demo shows, but for the time and
// the port.
func TestReadmeShowsTheRealPrompt(t *testing.T) {
	code, stdout, stderr := execute(t, []string{asBinary + "=1", "TMPDIR=" + t.TempDir()}, "", "demo", "--no")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	moving := regexp.MustCompile(`\d\d:\d\d:\d\d UTC|127\.0\.0\.1:\d+|\d+ min \d+ s`)
	shown := map[string]bool{}
	for line := range strings.SplitSeq(stdout, "\n") {
		shown[moving.ReplaceAllString(strings.TrimSpace(line), "~")] = true
	}
	lines := 0
	for _, line := range readme(t) {
		if strings.HasPrefix(line, "       | ") {
			lines++
			if want := moving.ReplaceAllString(strings.TrimSpace(line), "~"); !shown[want] {
				t.Errorf("the demo does not show %q", want)
			}
		}
	}
	if lines < 8 {
		t.Errorf("the README shows %d lines of the prompt", lines)
	}
}

func TestReadmeIsShort(t *testing.T) {
	if n := len(readme(t)) - 1; n > 200 {
		t.Errorf("%d lines, 200 are the most", n)
	}
}
