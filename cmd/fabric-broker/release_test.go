package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// dockerfile is the Dockerfile's instructions: each a word and its arguments.
func dockerfile(t *testing.T) (out [][2]string) {
	t.Helper()
	b, err := os.ReadFile(root + "/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if word, args, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(word, "#") {
			out = append(out, [2]string{word, args})
		}
	}
	return out
}

// What users get is what the Dockerfile builds: its own command, run here. The
// binaries need no library, know their version, and have none of the hooks that
// let a test crash the process at a chosen point.
func TestReleaseBinaries(t *testing.T) {
	t.Parallel()
	out := t.TempDir() + "/"
	for _, in := range dockerfile(t) {
		build, isBuild := strings.CutPrefix(in[1], "go build ")
		if in[0] != "RUN" || !isBuild {
			continue
		}
		cmd := exec.Command("bash", "-c", "go build "+strings.Replace(build, "-o /out/", "-o "+out, 1))
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "VERSION=1.2.3")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, name := range []string{"fabric-broker", "fabric-sim"} {
		path := out + name
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		libs, _ := f.ImportedLibraries()
		if dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }); dynamic || len(libs) > 0 {
			t.Errorf("%s is not static: it needs %v", name, libs)
		}
		_ = f.Close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("FABRIC_BROKER_CRASH")) {
			t.Errorf("%s obeys FABRIC_BROKER_CRASH", name)
		}
	}
	if said, err := exec.Command(out+"fabric-broker", "version").Output(); err != nil || string(said) != "fabric-broker 1.2.3\n" {
		t.Errorf("version says %q, %v", said, err)
	}
}

// The Dockerfile copies what is there, sets variables that the program knows, and
// builds with the Go of go.mod.
func TestDockerfile(t *testing.T) {
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	made := []string{"/out/fabric-broker", "/out/fabric-sim", "/etc/ssl/certs/ca-certificates.crt"} // the last is of the golang image
	var cmd string
	for _, in := range dockerfile(t) {
		fields := strings.Fields(in[1])
		switch in[0] {
		case "FROM":
			if v, ok := strings.CutPrefix(fields[0], "golang:"); ok && v != goVersion {
				t.Errorf("it builds with Go %s, go.mod says %s", v, goVersion)
			}
		case "RUN":
			if fields[0] == "install" {
				made = append(made, fields[len(fields)-1])
			}
		case "COPY":
			from := slices.Contains(fields, "--from=build")
			fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, "--") })
			for _, source := range fields[:len(fields)-1] {
				if from {
					if !slices.Contains(made, source) {
						t.Errorf("%s is copied, but not made", source)
					}
				} else if _, err := os.Stat(filepath.Join(root, source)); err != nil {
					t.Error(err)
				}
			}
		case "ENV":
			if name, _, _ := strings.Cut(in[1], "="); strings.HasPrefix(name, "EQUINIX_") && !slices.Contains(knownNames(), name) {
				t.Errorf("it sets %s, which nothing reads", name)
			}
		case "CMD":
			cmd = in[1]
		}
	}
	if cmd != `["http", "--listen=0.0.0.0:8080"]` {
		t.Errorf("CMD is %s", cmd)
	}
}
