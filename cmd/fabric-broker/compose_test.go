package main

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"fabricbroker/broker/seal"
)

// compose is as much of compose.yaml as the program has to do with.
type compose struct {
	Services map[string]struct {
		Command     []string
		Environment map[string]string
		Secrets     []any
	}
	Secrets map[string]struct{ Environment string }
}

func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// The replicas of compose.yaml start as they are written there, but for the
// address, the simulator and the database: with their variables and secrets.
func TestComposeStarts(t *testing.T) {
	var c compose
	readYAML(t, root+"/compose.yaml", &c)
	_, api := simulator(t)
	tokens, err := os.ReadFile(tokensFile(t, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	replicas := 0
	for name, s := range c.Services {
		if len(s.Command) == 0 || s.Command[0] != "http" {
			continue
		}
		replicas++
		t.Run(name, func(t *testing.T) {
			secrets := t.TempDir()
			given := map[string]string{"CONFIRM_SECRET": seal.Generate(), "LEDGER_DSN": memoryLedger, "TOKENS": string(tokens)}
			for _, one := range s.Secrets {
				id, short := one.(string)
				if !short {
					id = one.(map[string]any)["source"].(string)
				}
				from := c.Secrets[id].Environment
				if given[from] == "" {
					t.Fatalf("the secret %s is of %q, which nothing sets", id, from)
				}
				if err := os.WriteFile(filepath.Join(secrets, id), []byte(given[from]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := []string{asBinary + "=1", "EQUINIX_MCP_STATE_DIR=" + t.TempDir() + "/state"}
			for k, v := range s.Environment {
				switch {
				case strings.HasPrefix(k, "EQUINIX_") && !slices.Contains(knownNames(), k):
					t.Errorf("it sets %s, which nothing reads", k)
				case k == "EQUINIX_API_ENDPOINT":
					v = api
				}
				env = append(env, k+"="+strings.Replace(v, "/run/secrets", secrets, 1))
			}
			listen, ok := strings.CutPrefix(s.Command[1], "--listen=0.0.0.0:")
			if public := s.Environment["EQUINIX_MCP_PUBLIC_URL"]; !ok || len(s.Command) != 2 || !strings.HasSuffix(public, ":"+listen) {
				t.Errorf("it listens with %q and is reached by %s", s.Command[1:], public)
			}
			p := startHTTP(t, env)
			p.url = "http://" + listeningOn.FindStringSubmatch(p.log.String())[1] + "/mcp"
			if code, text := p.get("/readyz"); code != 200 {
				t.Errorf("readyz: %d %s", code, text)
			}
			p.peer(modern).propose(connectionSpec("dc-aws-01", 1017))
		})
	}
	if replicas != 2 {
		t.Errorf("%d replicas, want 2", replicas)
	}
}

var listeningOn = regexp.MustCompile(`"msg":"listening","addr":"([^"]+)"`)

// The workflow does nothing but .ci/run.
func TestWorkflowRunsTheCheck(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ Uses, Run string }
		}
	}
	readYAML(t, root+"/.github/workflows/ci.yml", &w)
	var runs []string
	for _, s := range w.Jobs["check"].Steps {
		if s.Run != "" {
			runs = append(runs, s.Run)
		}
	}
	if !slices.Equal(runs, []string{".ci/run"}) {
		t.Errorf("it runs %q", runs)
	}
	if info, err := os.Stat(root + "/.ci/run"); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf(".ci/run cannot be executed: %v", err)
	}
}

// server.json keeps to what the MCP registry's schema of 2025-12-11 demands.
func TestServerManifest(t *testing.T) {
	b, err := os.ReadFile(root + "/server.json")
	if err != nil {
		t.Fatal(err)
	}
	type input struct {
		Name, Description, Placeholder string
		IsRequired, IsSecret           bool
	}
	var m struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Remotes                           []struct {
			Type, URL string
			Variables map[string]input
			Headers   []input
		}
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for rule, holds := range map[string]bool{
		"schema":      strings.HasSuffix(m.Schema, "/schemas/2025-12-11/server.schema.json"),
		"name":        len(m.Name) <= 200 && regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(m.Name),
		"title":       m.Title != "" && len(m.Title) <= 100,
		"description": m.Description != "" && len(m.Description) <= 100,
		"version":     regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$`).MatchString(m.Version),
		"remotes":     len(m.Remotes) > 0,
	} {
		if !holds {
			t.Errorf("%s is not as the schema wants it", rule)
		}
	}
	for _, r := range m.Remotes {
		var used []string
		for _, v := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.URL, -1) {
			used = append(used, v[1])
		}
		u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(r.URL))
		if err != nil || r.Type != "streamable-http" || u.Scheme != "https" || u.Path != "/mcp" || !slices.Equal(used, slices.Collect(maps.Keys(r.Variables))) {
			t.Errorf("the remote %+v", r)
		}
		for _, h := range r.Headers {
			if h.Name != "Authorization" || !h.IsSecret || !h.IsRequired {
				t.Errorf("the header %+v", h)
			}
		}
	}
}
