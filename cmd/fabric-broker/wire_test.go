package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fabricbroker/fabric/fabricsim"
)

// A session is a prose header and sections: what the client writes to the
// program's stdin, and what must come out of its stdout, in this order. Of each
// expected message the named members must be there and equal, others may be.
// "$name" stands for a value: the first time it is kept, later it is compared, and
// in what the client writes it is put in. "$name~" is that text with one
// character changed.
type section struct {
	name  string
	lines []string
}

func readSession(t *testing.T, path string) (sections []section) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		name, isHeader := strings.CutPrefix(line, "-- ")
		switch {
		case isHeader:
			sections = append(sections, section{name: strings.TrimSuffix(name, " --")})
		case len(sections) > 0 && line != "":
			s := &sections[len(sections)-1]
			s.lines = append(s.lines, line)
		}
	}
	return sections
}

// session is one in progress.
type session struct {
	t    *testing.T
	vars map[string]any
}

// fill puts the kept values into what the client writes.
func (s *session) fill(v any) any {
	switch v := v.(type) {
	case string:
		name, isVar := strings.CutPrefix(v, "$")
		if !isVar {
			return v
		}
		name, changed := strings.CutSuffix(name, "~")
		value, known := s.vars[name]
		if !known {
			s.t.Fatalf("%s is not kept yet", v)
		}
		if changed {
			b := []byte(value.(string))
			b[len(b)/2] ^= 1
			return string(b)
		}
		return value
	case map[string]any:
		for k := range v {
			v[k] = s.fill(v[k])
		}
	case []any:
		for i := range v {
			v[i] = s.fill(v[i])
		}
	}
	return v
}

// match compares and keeps; it returns where the two differ.
func (s *session) match(at string, want, got any) []string {
	switch want := want.(type) {
	case string:
		name, isVar := strings.CutPrefix(want, "$")
		if !isVar {
			break
		}
		if _, known := s.vars[name]; !known && got != nil {
			s.vars[name] = got
		}
		return s.match(at, s.vars[name], got)
	case map[string]any:
		has, _ := got.(map[string]any)
		if has == nil {
			return []string{fmt.Sprintf("%s: want an object, got %v", at, got)}
		}
		var out []string
		for k, v := range want {
			out = append(out, s.match(at+"."+k, v, has[k])...)
		}
		slices.Sort(out)
		return out
	}
	if w, g := fmt.Sprintf("%#v", want), fmt.Sprintf("%#v", got); w != g {
		return []string{fmt.Sprintf("%s: want %s, got %s", at, w, g)}
	}
	return nil
}

func decode(t *testing.T, line string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return v
}

// program is the real fabric-broker in a process of its own, at a simulator.
type program struct {
	sim    *fabricsim.Sim
	in     io.WriteCloser
	out    io.Reader
	stderr *lockedBuffer
	cmd    *exec.Cmd
}

func startProgram(t *testing.T, env ...string) *program {
	t.Helper()
	w := &world{t: t, sim: &fabricsim.Sim{SettleAfter: -1}}
	w.seed()
	api := httptest.NewServer(w.sim)
	t.Cleanup(api.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	p := &program{sim: w.sim, stderr: &lockedBuffer{}, cmd: exec.CommandContext(ctx, os.Args[0], "stdio")}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "EQUINIX_") {
			p.cmd.Env = append(p.cmd.Env, kv)
		}
	}
	p.cmd.Env = append(p.cmd.Env, asBinary+"=1",
		"EQUINIX_API_ENDPOINT="+api.URL, "EQUINIX_API_CLIENTID=test-client", "EQUINIX_API_CLIENTSECRET="+fabricsim.Secret,
		"EQUINIX_MCP_TOOLSETS=fabric,pricing,mutate", "EQUINIX_MCP_STATE_DIR="+t.TempDir()+"/state", "EQUINIX_MCP_CONFIRM_CODE=never")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.in.Close()
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Logf("stderr:\n%s", p.stderr)
		}
	})
	return p
}

// TestSessions drives the real program with lines of JSON. Every line on its
// stdout is a JSON-RPC message, and each request gets one response. I9: no
// secret of a session is on stderr.
func TestSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			p := startProgram(t)
			s := &session{t: t, vars: map[string]any{}}
			lines := json.NewDecoder(p.out)
			open := map[string]bool{} // requests without a response
			creates := -1
			for _, part := range readSession(t, path) {
				switch part.name {
				case "client":
					for _, line := range part.lines {
						m := s.fill(decode(t, line)).(map[string]any)
						b, err := json.Marshal(m)
						if err != nil {
							t.Fatal(err)
						}
						if m["id"] != nil && m["method"] != nil {
							open[fmt.Sprint(m["id"])] = true
						}
						if _, err := p.in.Write(append(b, '\n')); err != nil {
							t.Fatal(err)
						}
					}
				case "server":
					for _, line := range part.lines {
						s.expect(lines, open, decode(t, line))
					}
				case "creates":
					creates = len(part.lines)
					for _, line := range part.lines {
						if line == "none" {
							creates = 0
						}
					}
				}
			}
			s.end(p, lines, open, creates)
		})
	}
}

func (s *session) expect(lines *json.Decoder, open map[string]bool, want any) {
	s.t.Helper()
	var raw json.RawMessage
	if err := lines.Decode(&raw); err != nil {
		s.t.Fatalf("nothing came: %v; want %v", err, want)
	}
	got, _ := decode(s.t, string(raw)).(map[string]any)
	if got["jsonrpc"] != "2.0" {
		s.t.Errorf("no JSON-RPC message: %s", raw)
	}
	if id := fmt.Sprint(got["id"]); got["method"] == nil {
		if !open[id] {
			s.t.Errorf("a response to nothing, or a second one: %s", raw)
		}
		delete(open, id)
	}
	if d := s.match("message", want, got); d != nil {
		s.t.Fatalf("%s\nin %s", strings.Join(d, "\n"), raw)
	}
}

// end closes stdin: the program ends well and has nothing left to say.
func (s *session) end(p *program, lines *json.Decoder, open map[string]bool, creates int) {
	s.t.Helper()
	if err := p.in.Close(); err != nil {
		s.t.Error(err)
	}
	var rest json.RawMessage
	if err := lines.Decode(&rest); err != io.EOF {
		s.t.Errorf("left on stdout: %s (%v)", rest, err)
	}
	if len(open) > 0 {
		s.t.Errorf("never answered: %v", open)
	}
	if err := p.cmd.Wait(); err != nil {
		s.t.Errorf("exit: %v", err)
	}
	(&world{t: s.t, sim: p.sim}).wantCreates(creates)
	for _, name := range []string{"token", "state"} {
		if v, _ := s.vars[name].(string); v != "" && bytes.Contains([]byte(p.stderr.String()), []byte(v)) {
			s.t.Errorf("the %s is on stderr", name)
		}
	}
}
