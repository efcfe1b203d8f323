package clients

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table in the README")

const (
	readme = "../../README.md"
	begin  = "<!-- clients: begin, written by make clients UPDATE=-update -->\n"
	end    = "<!-- clients: end -->\n"
)

// checkTable compares the table in the README with what was seen.
func checkTable(t *testing.T, want string) {
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the README has no place for the table of clients")
	}
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("the README's table of clients is not what was seen, which is\n%s", want)
	}
	if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func table(t *testing.T, saw map[string]result) string {
	heads, under := "| client", "| ---"
	for _, a := range answers {
		if a.column != "" {
			heads, under = heads+" | "+a.column, under+" | ---"
		}
	}
	lines := heads + " | to know there |\n" + under + " | --- |\n"
	for _, c := range clients {
		lines += fmt.Sprintf("| `%s` %s", c.pkg, c.version(t))
		for _, a := range answers {
			switch {
			case a.column == "":
			case a.name == "slow" && c.canWait:
				lines += " | " + c.cell(saw, "slow") + "; told to wait: " + saw[run{client: c, era: legacy, transport: "stdio", answer: "kept"}.name()].state
			default:
				lines += " | " + c.cell(saw, a.name)
			}
		}
		lines += " | " + c.know + " |\n"
	}
	return lines
}

// cell says how a proposal ended, and where that depends on era or transport.
func (c client) cell(saw map[string]result, answer string) string {
	var byEra []string
	for _, era := range c.eras {
		state := func(transport string) string {
			return saw[run{client: c, era: era, transport: transport, answer: answer}.name()].state
		}
		text := state("stdio")
		if http := state("http"); http != text {
			text += ", HTTP " + http
		}
		byEra = append(byEra, text)
	}
	if len(byEra) == 1 || byEra[0] == byEra[1] {
		return byEra[0]
	}
	return byEra[0] + "; 2026-07-28 " + byEra[1]
}

// version is the one that was run: a lock file or go.sum holds everybody to it.
func (c client) version(t *testing.T) string {
	t.Helper()
	for _, file := range []string{"package.json", "go.mod"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(regexp.QuoteMeta(c.pkg) + `(?:": "| v)([0-9.]+)`).FindSubmatch(b); m != nil {
			return string(m[1])
		}
	}
	t.Fatalf("no version of %s", c.pkg)
	return ""
}
