package fabric

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

// casesNow is the instant at which the collected cases happen.
var casesNow = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

type compileCase struct {
	ID         string            `json:"id"`
	Title      string            `json:"title"`
	ChangeType broker.ChangeType `json:"change_type"`
	Spec       json.RawMessage   `json:"spec"`
	Expect     struct {
		Outcome       string         `json:"outcome"`
		ErrorPath     string         `json:"error_path"`
		ErrorMentions []string       `json:"error_mentions"`
		WarningPath   string         `json:"warning_path"`
		Wire          any            `json:"wire"`
		WireHas       map[string]any `json:"wire_has"`
		IfCreated     map[string]any `json:"if_created_wire_has"`
		WireLacks     []string       `json:"wire_lacks"`
		NeverPrinted  []string       `json:"never_printed"`
	} `json:"expect"`
}

// TestCompileCases runs the collected failures of real creates against compile.
func TestCompileCases(t *testing.T) {
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is unset")
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var k compileCase
		if err := json.Unmarshal(raw, &k); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(k.ID+" "+k.Title, func(t *testing.T) { k.check(t) })
	}
}

func (k compileCase) check(t *testing.T) {
	r, err := compile(k.ChangeType, k.Spec, casesNow)
	var no *broker.Refusal
	if err != nil && !errors.As(err, &no) {
		t.Fatalf("compile: %v, want a refusal", err)
	}
	switch k.Expect.Outcome {
	case "compile_error", "refused":
		if no == nil {
			t.Fatalf("compiled to %s", r.Body)
		}
	case "compile_ok_or_error", "refused_or_flagged":
	default: // goes wrong later, or not at all
		if no != nil {
			t.Fatalf("refused: %+v", no.Issues)
		}
	}
	said := printed(t, no)
	for _, s := range k.Expect.NeverPrinted {
		if strings.Contains(said, s) {
			t.Errorf("prints %q in %s", s, said)
		}
	}
	if no != nil {
		if p := k.Expect.ErrorPath; p != "" && !slices.ContainsFunc(no.Issues, func(i broker.Issue) bool {
			return i.Path == p || strings.HasPrefix(i.Path, p+".") || strings.HasPrefix(i.Path, p+"[")
		}) {
			t.Errorf("no issue at %s: %+v", p, no.Issues)
		}
		for _, m := range k.Expect.ErrorMentions {
			if !strings.Contains(strings.ToLower(said), strings.ToLower(m)) {
				t.Errorf("does not mention %q: %s", m, said)
			}
		}
		return
	}
	if p := k.Expect.WarningPath; p != "" && !slices.ContainsFunc(r.Warnings, func(i broker.Issue) bool { return i.Path == p }) {
		t.Errorf("no warning at %s: %+v", p, r.Warnings)
	}
	k.checkBody(t, r.Body)
}

func (k compileCase) checkBody(t *testing.T, body []byte) {
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	if k.Expect.Wire != nil {
		if d := cmp.Diff(k.Expect.Wire, doc); d != "" {
			t.Errorf("body (-want +got):\n%s", d)
		}
	}
	for _, has := range []map[string]any{k.Expect.WireHas, k.Expect.IfCreated} {
		for pointer, want := range has {
			if d := cmp.Diff(want, pointed(doc, pointer)); d != "" {
				t.Errorf("body at %s (-want +got):\n%s", pointer, d)
			}
		}
	}
	for _, pointer := range k.Expect.WireLacks {
		if got := pointed(doc, pointer); got != nil {
			t.Errorf("body has %v at %s", got, pointer)
		}
	}
}

// printed is everything that a refusal can put before a reader.
func printed(t *testing.T, no *broker.Refusal) string {
	t.Helper()
	if no == nil {
		return ""
	}
	b, err := json.Marshal(no.Issues)
	if err != nil {
		t.Fatal(err)
	}
	return no.Error() + "\n" + no.NextStep + "\n" + string(b)
}

// pointed returns what a JSON pointer without escapes points at, nil if nothing.
func pointed(doc any, pointer string) any {
	for seg := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[seg]
		case []any:
			i, err := strconv.Atoi(seg)
			if err != nil || i >= len(d) {
				return nil
			}
			doc = d[i]
		default:
			return nil
		}
	}
	return doc
}
