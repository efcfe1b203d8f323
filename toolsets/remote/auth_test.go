package remote

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fabricbroker/broker"
)

func TestWhoCalls(t *testing.T) {
	w := newWorld(t)
	for name, header := range map[string]map[string]string{"alice": nil, "bob": as("bob")} {
		r := w.call("who", header)
		if got := r.result()["who"]; got != "static:acme/"+name {
			t.Errorf("%s is %v: %s", name, got, r.text)
		}
		// I9: the token goes no further than its verification.
		if got := r.result()["header"]; got != "Bearer verified" {
			t.Errorf("the tool sees Authorization %v", got)
		}
		session := w.open(header)
		r = w.do("POST", "/mcp", legacyCall("who"), with(header, "Mcp-Session-Id", session))
		if got := r.result()["who"]; got != "static:acme/"+name {
			t.Errorf("in a session %s is %v: %s", name, got, r.text)
		}
	}
	if strings.Contains(w.logs.String(), "token-of") {
		t.Error("a bearer token is in the log")
	}
}

func TestACallWithoutAValidTokenIsChallenged(t *testing.T) {
	w := newWorld(t)
	metadata := `resource_metadata="` + strings.TrimSuffix(w.url, "/mcp") + `/.well-known/oauth-protected-resource/mcp"`
	bad := `Bearer error="invalid_token", error_description="the bearer token is not valid here", ` + metadata
	for rule, row := range map[string]struct{ header, want string }{
		"none":           {"", "Bearer " + metadata},
		"another scheme": {"Basic YTpi", "Bearer " + metadata},
		"no token":       {"Bearer ", "Bearer " + metadata},
		"two tokens":     {"Bearer " + tokenOf("alice") + " " + tokenOf("alice"), "Bearer " + metadata},
		"unknown":        {"Bearer nope", bad},
		"a part":         {"Bearer " + tokenOf("alice")[:20], bad},
	} {
		t.Run(rule, func(t *testing.T) {
			for _, era := range []string{modern, ""} {
				r := w.call("who", map[string]string{"Authorization": row.header, "Mcp-Protocol-Version": era})
				if got := r.header.Get("WWW-Authenticate"); r.status != 401 || got != row.want {
					t.Errorf("%d %s\nwant %s", r.status, got, row.want)
				}
			}
		})
	}
	r := w.request("POST", "/mcp", modernCall("who", ""), nil)
	r.Header["Authorization"] = []string{"Bearer " + tokenOf("alice"), "Bearer " + tokenOf("bob")}
	res, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if read(t, res).status != 401 {
		t.Error("two Authorization headers were taken")
	}
}

// RFC 9728.
func TestTheResourceSaysWhoIssuesItsTokens(t *testing.T) {
	w := newWorld(t, func(s *setup) { s.options.Issuers = []string{"https://issuer.example"} })
	for _, path := range []string{wellKnownPath, wellKnownPath + "/mcp"} {
		r := w.do("GET", path, "", map[string]string{"Authorization": ""})
		if r.status != 200 || r.message["resource"] != w.url {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
		if got := r.message["authorization_servers"].([]any); len(got) != 1 || got[0] != "https://issuer.example" {
			t.Errorf("authorization_servers %v", got)
		}
	}
	none := newWorld(t, func(s *setup) { s.options.Verifier = nil })
	if r := none.do("GET", wellKnownPath, "", nil); r.status != 404 {
		t.Errorf("without authentication: %d", r.status)
	}
	if r := none.call("who", map[string]string{"Authorization": ""}); r.result()["who"] != "static:local/anonymous" {
		t.Errorf("without authentication: %s", r.text)
	}
}

func TestTheResourceAndItsMetadata(t *testing.T) {
	for in, want := range map[string][2]string{
		"https://x.example":          {"https://x.example/mcp", "https://x.example/.well-known/oauth-protected-resource/mcp"},
		"https://x.example/":         {"https://x.example/mcp", "https://x.example/.well-known/oauth-protected-resource/mcp"},
		"https://x.example/mcp":      {"https://x.example/mcp", "https://x.example/.well-known/oauth-protected-resource/mcp"},
		"https://x.example/net/mcp/": {"https://x.example/net/mcp", "https://x.example/.well-known/oauth-protected-resource/net/mcp"},
	} {
		u, err := Resource(in)
		if err != nil || u.String() != want[0] || metadataURL(u) != want[1] {
			t.Errorf("%s: %v, %v", in, u, err)
		}
	}
	for _, in := range []string{"", "x.example", "ftp://x", "https://u:p@x", "https://x?a", "https://x#a", "https://x/{a}", "://"} {
		if u, err := Resource(in); err == nil {
			t.Errorf("%q is taken for %v", in, u)
		}
	}
}

func TestStaticTokensFile(t *testing.T) {
	good := "# comment\n\nsha256:" + strings.Repeat("ab", 32) + " acme/ann\n  sha256:" + strings.Repeat("AC", 32) + "   acme/o/p\n"
	write := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := OpenStatic(write(good, 0o600))
	if err != nil || len(s.callers) != 2 {
		t.Fatalf("%v, %v", s, err)
	}
	for rule, row := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"readable by the group": {good, 0o640, "0640"},
		"readable by all":       {good, 0o604, "0604"},
		"no hash":               {"my-secret-token acme/ann\n", 0o600, "line 1"},
		"a short hash":          {"sha256:abcd acme/ann\n", 0o600, "line 1"},
		"no subject":            {"# x\nsha256:" + strings.Repeat("ab", 32) + " acme\n", 0o600, "line 2"},
		"an empty tenant":       {"sha256:" + strings.Repeat("ab", 32) + " /ann\n", 0o600, "line 1"},
		"twice":                 {good + "sha256:" + strings.Repeat("ab", 32) + " acme/bob\n", 0o600, "line 5"},
		"empty":                 {"# nobody\n", 0o600, "no token"},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := OpenStatic(write(row.text, row.mode))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "my-secret-token") {
				t.Error("the line is in the error") // I9
			}
		})
	}
	if _, err := OpenStatic(t.TempDir()); err == nil {
		t.Error("a directory is taken for a file")
	}
}

// A token that is taken out of the file is good no longer, one that is put in is,
// and a file that cannot be trusted any more lets nobody in (I10).
func TestStaticTokensAreReadAgain(t *testing.T) {
	file := people(t, "alice", "bob")
	w := newWorld(t, func(s *setup) { s.options.Verifier = Verifiers{file, nobody{}} })
	status := func(name string) int { return w.call("who", as(name)).status }
	if a, b := status("alice"), status("bob"); a != 200 || b != 200 {
		t.Fatalf("%d, %d", a, b)
	}
	b, err := os.ReadFile(file.path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	if err := os.WriteFile(file.path, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, b := status("alice"), status("bob"); a != 200 || b != 401 {
		t.Errorf("after bob was taken out: %d, %d", a, b)
	}
	for rule, spoil := range map[string]func() error{
		"readable by all": func() error { return os.Chmod(file.path, 0o644) },
		"gone":            func() error { return os.Remove(file.path) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if a, b := status("alice"), status("bob"); a != 503 || b != 503 {
			t.Errorf("%s: %d, %d", rule, a, b)
		}
		if err := os.WriteFile(file.path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file.path, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, b := status("alice"), status("bob"); a != 200 || b != 200 {
			t.Errorf("after %s: %d, %d", rule, a, b)
		}
	}
}

// nobody knows no token.
type nobody struct{}

func (nobody) Verify(context.Context, broker.Secret) (Caller, error) {
	return Caller{}, invalid("nobody has one")
}

// I10: to one caller the session of another never existed.
func TestASessionIsItsOwners(t *testing.T) {
	w := newWorld(t)
	session := w.open(as("alice"))
	never := w.do("POST", "/mcp", legacyCall("who"), with(as("bob"), "Mcp-Session-Id", "never-was"))
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body := ""
		if method == http.MethodPost {
			body = legacyCall("who")
		}
		r := w.do(method, "/mcp", body, with(as("bob"), "Mcp-Session-Id", session))
		if r.status != 404 || r.text != never.text {
			t.Errorf("%s: %d %q, want what never was: %q", method, r.status, r.text, never.text)
		}
	}
	if r := w.do("POST", "/mcp", legacyCall("who"), with(as("alice"), "Mcp-Session-Id", session)); r.result()["who"] != "static:acme/alice" {
		t.Errorf("its owner: %d %s", r.status, r.text)
	}
}
