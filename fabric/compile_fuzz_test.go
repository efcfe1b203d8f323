package fabric

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fabricbroker/broker"
)

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		specToCloud, specToPort, specToLAN, specLAN, specRouter, specToken, specTokenZ,
		"", "null", "[]", `{"a":`, `{"name":"a","name":"b"}`, `{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{}}}}}}}}}`,
		`{"type":"\ud800"}`, "{\"type\":\"\xff\"}", `{"bandwidth_mbps":1e400}`, `{"a_side":[{}]}`, `{"\u202e":1}`,
	} {
		for i := range changeWords {
			f.Add(i, []byte(s))
		}
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("FABRIC_FACTS"), "cases", "*.json"))
	for _, file := range files {
		var k compileCase
		if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &k) == nil {
			f.Add(0, []byte(k.Spec))
		}
	}
	f.Fuzz(func(t *testing.T, which int, spec []byte) {
		ct := changeWords[max(which, -which, 0)%len(changeWords)].name
		if r, err := compileForPrice(ct, spec); err != nil {
			refused(t, err)
		} else {
			itemOf(r, facts{})
		}
		r, err := compile(ct, spec, time.Time{})
		if err != nil {
			no := refused(t, err)
			for _, i := range no.Issues {
				checkIssue(t, i)
			}
			return
		}
		for _, i := range r.Warnings {
			checkIssue(t, i)
		}
		checkBrief(t, r)
		if _, err := compile(ct, spec, casesNow); err == nil {
			compiled(t, ct, spec)
		}
	})
}

// checkIssue: an issue names a field, says something, and is printable.
func checkIssue(t *testing.T, i broker.Issue) {
	t.Helper()
	if i.Path == "" || i.Message == "" || len(i.Path)+len(i.Message) > 2000 {
		t.Errorf("issue %+v", i)
	}
	for _, r := range i.Path + i.Message {
		if r < 0x20 || r > 0x7e {
			t.Errorf("issue with %U: %+v", r, i)
			return
		}
	}
}

// checkBrief: no value forges a line, hides one, or spoils the columns.
func checkBrief(t *testing.T, r broker.Request) {
	t.Helper()
	b := r.Brief
	for _, line := range []string{b.What, b.From, b.To, b.Account, b.Pays} {
		if len(line) > briefColumns {
			t.Errorf("%d columns: %s", len(line), line)
		}
		for _, c := range line {
			if c < 0x20 || c > 0x7e {
				t.Errorf("%U in %q", c, line)
			}
		}
	}
}
