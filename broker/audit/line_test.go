package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fabricbroker/broker"
)

func TestLinesAreGolden(t *testing.T) {
	dir, names := sample(t, LogOptions{})
	if len(names) != 1 {
		t.Fatalf("files %v", names)
	}
	info, err := os.Stat(filepath.Join(dir, names[0]))
	do(t, err)
	if info.Mode().Perm() != 0o600 || !namePattern.MatchString(names[0]) {
		t.Errorf("%s has mode %o", names[0], info.Mode().Perm())
	}
	got := content(t, dir, names[0])
	golden := filepath.Join("testdata", "lines.jsonl")
	if *update {
		do(t, os.MkdirAll("testdata", 0o700))
		do(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want := strings.SplitAfter(content(t, golden), "\n")
	for i, line := range strings.SplitAfter(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d is not the golden one:\n%s", i+1, line)
		}
	}
	if len(strings.SplitAfter(got, "\n")) != len(want) {
		t.Error("lines are missing")
	}
}

func TestEveryEventIsInTheStory(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "ports.go"), nil, 0)
	do(t, err)
	var missing []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Event") || len(v.Values) == 0 {
			return true
		}
		kind, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		do(t, err)
		if !slices.ContainsFunc(story(), func(e broker.Event) bool { return string(e.Kind) == kind }) {
			missing = append(missing, kind)
		}
		return true
	})
	if len(missing) > 0 {
		t.Errorf("no line of %v", missing)
	}
}

// The recipe in the comment of encode, in other words.
func TestTheHashIsOfTheLineWithoutIt(t *testing.T) {
	member := regexp.MustCompile(`,"hash":"([0-9a-f]{64})"\}$`)
	dir, names := sample(t, LogOptions{})
	prev := noHash
	for i, l := range strings.Split(strings.TrimSpace(content(t, dir, names[0])), "\n") {
		sum := sha256.Sum256([]byte(member.ReplaceAllString(l, "}")))
		hash := member.FindStringSubmatch(l)[1]
		if hex.EncodeToString(sum[:]) != hash {
			t.Errorf("line %d: the hash is of something else", i+1)
		}
		if !strings.Contains(l, `"prev":"`+prev+`"`) {
			t.Errorf("line %d does not go on from %s", i+1, prev)
		}
		prev = hash
	}
}

func TestI9NoSecretIsInALine(t *testing.T) {
	dir, names := sample(t, LogOptions{})
	got := strings.ToLower(content(t, dir, names[0]))
	for _, secret := range []string{tokenUUID, secretKey, "c3f1a2b4"} {
		if strings.Contains(got, strings.ToLower(secret)) {
			t.Errorf("%q is in the log", secret)
		}
	}
	for _, shown := range []string{"...2345", "...0001", assetUUID} {
		if !strings.Contains(got, shown) {
			t.Errorf("%q is not in the log", shown)
		}
	}
}

func TestWhatAClientChoosesIsCut(t *testing.T) {
	e := refusal(0, broker.Caller{ClientName: strings.Repeat("é", maxText), ClientVersion: "1\n2", ProtocolVersion: strings.Repeat("v", 10_000)}, broker.ErrTokenForged)
	l := lineOf(e)
	b, err := l.encode()
	do(t, err)
	if len(b) > 1000 || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%d bytes: %s", len(b), b)
	}
}

func TestTooLongLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, LogOptions{})
	e := proposed(1)
	e.Proposal.Payload.Body = []byte(`"` + strings.Repeat("x", maxLine) + `"`)
	refused(t, l.Record(t.Context(), e), broker.ErrAuditUnavailable)

	// An outcome is shortened: it must get on record.
	e.Kind, e.Proposal.State = broker.EventRejected, broker.Rejected
	e.Proposal.Result = &broker.Result{Outcome: broker.OutcomeRejected, Detail: strings.Repeat("y", maxLine), Upstream: make([]broker.UpstreamError, 10)}
	write(t, l, e)
	do(t, l.Close())
	if r := verified(t, dir); !r.OK() || r.Files[0].Lines != 1 {
		t.Error(r)
	}
}

func FuzzLine(f *testing.F) {
	for _, e := range story() {
		l := lineOf(e)
		l.Seq, l.Prev = 1, noHash
		b, err := l.encode()
		do(f, err)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"v":1,"request":{"b": 1},"time":"2026-03-01T12:00:00Z"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if l, err := parse(raw); err == nil { // only what has its hash
			again(t, l)
		}
		if len(raw) < 2 {
			return
		}
		if l, err := parse(seal(raw)); err == nil { // anything, given its hash
			again(t, l)
		}
	})
}

// again checks that a line reads back as what was read.
func again(t *testing.T, l line) {
	t.Helper()
	b, err := l.encode()
	if err != nil {
		return // times that JSON cannot write again
	}
	m, err := parse(b[:len(b)-1])
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	c, err := m.encode()
	if err != nil || string(b) != string(c) {
		t.Errorf("%v\n%s\n%s", err, b, c)
	}
}
