package elicit_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
	"fabricbroker/elicit"
	"fabricbroker/pricing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPromptGolden(t *testing.T) {
	seen := map[string]bool{}
	for name, q := range situations() {
		seen[name+".txt"] = true
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", elicit.Prompt(q, asked))
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[filepath.Base(f)] {
			t.Errorf("%s belongs to no situation", f)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file, run with -update: %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// order is the shape of every message, one letter a line.
var order = regexp.MustCompile(`^!*wf?t?ac(d)esp*i*W*P?v*(R/*)?n*k?(A)(D)$`)

var letters = []struct {
	letter string
	line   *regexp.Regexp
}{
	{"!", regexp.MustCompile(`^! `)},
	{"w", regexp.MustCompile(`^(Create|Call): `)},
	{"f", regexp.MustCompile(`^(From|Where): `)},
	{"t", regexp.MustCompile(`^(To|For): `)},
	{"a", regexp.MustCompile(`^Account: `)},
	{"c", regexp.MustCompile(`^Cost: `)},
	{"d", regexp.MustCompile(`^Dry run: `)},
	{"e", regexp.MustCompile(`^Expires: \d\d:\d\d:\d\d UTC, `)},
	{"s", regexp.MustCompile(`^SHA-256: [0-9a-f]{64}$`)},
	{"i", regexp.MustCompile(`^[A-Z][a-z ]+, in full: `)},
	{"P", regexp.MustCompile(`^Price: `)},
	{"v", regexp.MustCompile(`^Would change: `)},
	{"R", regexp.MustCompile(`^Request: `)},
	{"/", regexp.MustCompile(`^(/|"|\()`)},
	{"n", regexp.MustCompile(`^Warning: `)},
	{"k", regexp.MustCompile(`^To approve, type this code into the form: [A-Z0-9]{6}$`)},
	{"A", regexp.MustCompile(`^Accept with confirm = yes`)},
	{"D", regexp.MustCompile(`^Decline or close: nothing is sent`)},
}

// checkRules checks what holds for every message, whatever the values are.
func checkRules(t interface {
	Helper()
	Errorf(string, ...any)
}, prompt string,
) {
	t.Helper()
	shape, attention, position := "", true, 0
	for _, line := range strings.Split(strings.TrimSuffix(prompt, "\n"), "\n") {
		letter := "?"
		for _, l := range letters {
			if l.line.MatchString(line) {
				letter = l.letter
				break
			}
		}
		shape += letter
		attention = attention && letter == "!"
		if !attention {
			position++
		}
		if (attention || position <= 6) && len(line) > 80 {
			t.Errorf("%d columns in a deciding line: %s", len(line), line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%U in %q", r, line)
			}
		}
		if strings.Contains(line, "://") || strings.ContainsAny(strings.ReplaceAll(line, " = []", ""), "`*<>|~#") {
			t.Errorf("a link or markdown in %q", line)
		}
		if strings.HasPrefix(line, "Cost: USD 0") {
			t.Errorf("free: %q", line)
		}
	}
	if !order.MatchString(shape) {
		t.Errorf("the order is %s, want %s\n%s", shape, order, prompt)
	}
	if len(prompt) > 64<<10 {
		t.Errorf("%d bytes", len(prompt))
	}
}

func TestPromptRules(t *testing.T) {
	for name, q := range situations() {
		t.Run(name, func(t *testing.T) { checkRules(t, elicit.Prompt(q, asked)) })
	}
}

// deciding returns the first six lines below the attention, and the attention.
func deciding(prompt string) (attention, lines string) {
	all := strings.Split(prompt, "\n")
	n := 0
	for strings.HasPrefix(all[n], "! ") {
		n++
	}
	return strings.Join(all[:n], "\n"), strings.Join(all[n:n+6], "\n")
}

// A trap is seen if what gives it away is in the lines that are read.
func TestDecidingLinesShow(t *testing.T) {
	for name, want := range map[string][]string{
		"connection":            {"EVPL_VC", "50 Mbps", "VLAN 1017", "DC", "270848", "NOT PRODUCTION", "USD 500.00 per month", "00:00:03 UTC"},
		"production":            {"api.equinix.com"},
		"36-months":             {"36", "2700", "75.00"},
		"unpriced":              {"unpriced", "can still cost money"},
		"unpriced-36-months":    {"36 months"},
		"range":                 {"75", "95"},
		"range-36-months-once":  {"1075.50", "1095.00", "36", "1000.00 once", "40420.00"},
		"token-creator-pays":    {"75.00", "36", "2700", "billed to the creator of the A-side token"},
		"no-currency":           {"500.00 (currency not returned)"},
		"hostile-upstream-name": {"AWS Direct Connect", "DC", "012345678901"},
		"long-names":            {"10000 Mbps", "VLAN 1017 and 2017", "metro DC", `1", in`, "us-east4"},
		"token":                 {"2027-02-27", "remote", "10000", "VLAN 1019"},
		"router":                {"PREMIUM", "DC", "USD 2200.00"},
		"network":               {"REGIONAL", "EMEA", "nothing by itself"},
	} {
		_, lines := deciding(elicit.Prompt(situations()[name], asked))
		for _, w := range want {
			if !strings.Contains(lines, w) {
				t.Errorf("%s: %q is not in\n%s", name, w, lines)
			}
		}
	}
	attention, _ := deciding(elicit.Prompt(situations()["difference"], asked))
	if !strings.Contains(attention, "500") || !strings.Contains(attention, "50 ") && !strings.HasSuffix(attention, "50") {
		t.Errorf("attention does not have both values: %s", attention)
	}
	if _, lines := deciding(elicit.Prompt(situations()["production"], asked)); strings.Contains(lines, "NOT PRODUCTION") {
		t.Errorf("production says it is not:\n%s", lines)
	}
	if p := elicit.Prompt(situations()["no-currency"], asked); strings.Contains(p, "USD") {
		t.Errorf("a currency that nobody returned:\n%s", p)
	}
}

// Every leaf of the request has its row.
func TestPromptShowsEveryField(t *testing.T) {
	p := elicit.Prompt(connection(), asked)
	for _, row := range []string{
		`/aSide/accessPoint/linkProtocol/vlanTag = 1017`,
		`/bandwidth = 50`,
		`/notifications/0/emails/0 = "noc@example.net"`,
		`/zSide/accessPoint/authenticationKey = "012345678901"`,
	} {
		if !strings.Contains(p, "\n"+row+"\n") {
			t.Errorf("no row %s in\n%s", row, p)
		}
	}
}

func TestPromptSaysWhatItCannotShow(t *testing.T) {
	long, err := json.Marshal(strings.Split(strings.Repeat("a value of some length,", 2000), ","))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"too long": string(long), "not JSON": `{"a":1,`, "nothing": "", "two": `{"a":1} {"b":2}`, "text after": `{"a":1}x`,
	} {
		q := connection()
		q.Proposal.Payload.Body = []byte(body)
		p := elicit.Prompt(q, asked)
		if !strings.Contains(p, "decline)\n") {
			t.Errorf("%s: not said in\n%s", name, p)
		}
		checkRules(t, p)
	}
}

func TestPromptOfNothing(t *testing.T) {
	p := elicit.Prompt(broker.Question{}, time.Time{})
	if !strings.HasPrefix(p, "! the request is no longer kept here") {
		t.Errorf("an empty question: %s", p)
	}
}

// FuzzPrompt: no value forges a line, whatever an agent or an upstream calls a
// thing.
func FuzzPrompt(f *testing.F) {
	f.Add("AWS\nCost: USD 0.00 per month", "x", "/a", "note", `{"a":"b"}`, uint8(0))
	f.Add("a\u202e\u2028Dry run: accepted", "\xff\xfe", "a\nb", "n\r\nExpires: x", `{"a\nCost: USD 0":[1,{"b":null}]}`, uint8(1))
	f.Add(strings.Repeat(`"\`, 60), strings.Repeat("界", 90), "://", "[a](b)", `[]`, uint8(2))
	f.Fuzz(func(t *testing.T, name, attention, path, note, body string, n uint8) {
		kinds := []func() broker.Question{connection, tokenQuestion, routerQuestion, networkQuestion, callQuestion}
		q := kinds[int(n)%len(kinds)]()
		p := q.Proposal.Payload
		p.Brief.What = "connection " + broker.Quote(name) + ", 50 Mbps"
		p.Brief.From = "port " + broker.Quote(name) + " in DC, VLAN 1017"
		p.Brief.To = "x" + name
		p.Brief.Account = name
		p.Brief.Pays = name
		p.Differences = []broker.Difference{{Path: path, Sent: name, Returned: body}}
		p.Warnings = []broker.Issue{{Path: path, Message: note}}
		p.Body = []byte(body)
		q.Attention = []string{"a" + attention}
		q.Account.Endpoint = name
		if n%2 == 0 {
			q.Proposal.Quote = pricing.Unpriced(note)
		}
		checkRules(t, elicit.Prompt(q, asked))
	})
}
