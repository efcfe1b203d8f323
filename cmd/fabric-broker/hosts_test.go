package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostConfig is the configuration of one host, whichever key it stands under.
type hostConfig struct {
	Inputs []struct {
		ID       string
		Password bool
	}
	MCPServers map[string]hostServer `json:"mcpServers"`
	Servers    map[string]hostServer `json:"servers"`
}

type hostServer struct {
	Command string
	Args    []string
	Env     map[string]string
}

// The golden files hold what a person gets, stdout and stderr.
func TestConfigOfEachHost(t *testing.T) {
	t.Parallel()
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			code, stdout, stderr := execute(t, []string{asBinary + "=1"}, "", "config", h.name)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			golden := filepath.Join("testdata", "hosts", h.name+".txt")
			got := stdout + "---\n" + stderr
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var c hostConfig
			if err := json.Unmarshal([]byte(stdout), &c); err != nil {
				t.Fatalf("stdout is not ready to paste: %v", err)
			}
			servers := slices.Collect(maps.Values(c.MCPServers))
			servers = append(servers, slices.Collect(maps.Values(c.Servers))...)
			if len(servers) != 1 {
				t.Fatalf("%d servers", len(servers))
			}
			startsWith(t, c, servers[0])
		})
	}
}

// startsWith starts the program as the host would, with the references in the
// environment filled in: every name must be one that the program knows.
func startsWith(t *testing.T, c hostConfig, s hostServer) {
	t.Helper()
	_, url := simulator(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("sim-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	var env []string
	for name, value := range s.Env {
		switch {
		case strings.HasSuffix(name, "_FILE"):
			value = secret
			env = append(env, strings.TrimSuffix(name, "_FILE")+"=")
		case strings.HasSuffix(name, "SECRET"):
			if !strings.HasPrefix(value, "${") {
				t.Errorf("%s stands in the configuration", name)
			}
			for _, in := range c.Inputs {
				if value == "${input:"+in.ID+"}" && !in.Password {
					t.Errorf("the input for %s shows what is typed", name)
				}
			}
		}
		env = append(env, name+"="+value)
	}
	if s.Command != "fabric-broker" {
		t.Errorf("the command is %s", s.Command)
	}
	code, stdout, stderr := execute(t, processEnv(url, t.TempDir()+"/state", env...), "", s.Args...)
	if code != 0 || stdout != "" {
		t.Errorf("exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	}
}

func TestConfigOfAnUnknownHost(t *testing.T) {
	code, stdout, stderr := execute(t, []string{asBinary + "=1"}, "", "config", "emacs")
	want := "fabric-broker: unknown host \"emacs\": the hosts are claude-code, claude-desktop, cursor, vscode\n"
	if code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
