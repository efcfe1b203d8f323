package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"fabricbroker/broker/seal"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// What is wrong is one line that says why, and exit code 2.
func TestHTTPStartUp(t *testing.T) {
	tokens := tokensFile(t, "alice")
	open := tokensFile(t, "alice")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	const read, secret, memory = "EQUINIX_MCP_TOOLSETS=fabric,pricing", "EQUINIX_MCP_CONFIRM_SECRET=", "EQUINIX_MCP_LEDGER_DSN=memory:"
	some := secret + seal.Generate()
	file := "EQUINIX_MCP_AUTH_TOKENS_FILE=" + tokens
	for name, row := range map[string]struct {
		env  []string
		args []string
		want string
	}{
		"no confirm secret":        {[]string{file, memory}, nil, "EQUINIX_MCP_CONFIRM_SECRET is not set: without it"},
		"no ledger":                {[]string{file, some}, nil, "EQUINIX_MCP_LEDGER_DSN is not set: without a shared ledger"},
		"a ledger of another kind": {[]string{file, some, "EQUINIX_MCP_LEDGER_DSN=mysql://u:hunter2@h/d"}, nil, "EQUINIX_MCP_LEDGER_DSN must be postgres://"},
		"unconfirmed creates":      {[]string{file, some, memory, "EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS=true"}, nil, "EQUINIX_MCP_ALLOW_UNCONFIRMED_MUTATIONS works over stdio only"},
		"nobody could call":        {[]string{read}, nil, "nobody could call"},
		"anonymous in public":      {[]string{read}, []string{"--insecure-no-auth", "--listen=0.0.0.0:0"}, "on loopback only"},
		"anonymous on every one":   {[]string{read}, []string{"--insecure-no-auth", "--listen=:0"}, "on loopback only"},
		"anonymous and tokens":     {[]string{read, file}, []string{"--insecure-no-auth"}, "contradict"},
		"anonymous behind a proxy": {[]string{read, "EQUINIX_MCP_PUBLIC_URL=https://x.example"}, []string{"--insecure-no-auth"}, "EQUINIX_MCP_PUBLIC_URL"},
		"tokens that all can read": {[]string{read, "EQUINIX_MCP_AUTH_TOKENS_FILE=" + open}, nil, "mode 0644"},
		"tokens that are not":      {[]string{read, "EQUINIX_MCP_AUTH_TOKENS_FILE=/nowhere"}, nil, "EQUINIX_MCP_AUTH_TOKENS_FILE"},
		"an insecure issuer":       {[]string{read, "EQUINIX_MCP_AUTH_ISSUER=http://issuer.example", "EQUINIX_MCP_AUTH_AUDIENCE=x"}, nil, "must be https"},
		"an issuer for anybody":    {[]string{read, "EQUINIX_MCP_AUTH_ISSUER=https://issuer.example"}, nil, "EQUINIX_MCP_AUTH_AUDIENCE is not set"},
		"no address":               {[]string{read, file, "EQUINIX_MCP_LISTEN=8080"}, nil, "EQUINIX_MCP_LISTEN"},
		"a typo":                   {[]string{read, file, "EQUINIX_MCP_AUTH_ISUER=https://issuer.example"}, nil, "did you mean EQUINIX_MCP_AUTH_ISSUER"},
	} {
		t.Run(name, func(t *testing.T) {
			env := append(processEnv("http://127.0.0.1:1", t.TempDir()+"/state"), row.env...)
			code, out, errs := execute(t, env, "", append([]string{"http"}, row.args...)...)
			if code != exitUsage || !strings.Contains(errs, row.want) || strings.Count(errs, "\n") != 1 || out != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
			}
			if strings.Contains(errs, "hunter2") {
				t.Error("the DSN's password is printed") // I9
			}
		})
	}
}

// server is `fabric-broker http` in a process of its own.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	log    lockedBuffer
	exited chan struct{}
}

func startHTTP(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"http", "--listen=127.0.0.1:0"}, args...)...)
	cmd.Env = env
	return startServer(t, cmd)
}

// startServer starts a command that logs where it listens. It ends with the
// test at the latest.
func startServer(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, exited: make(chan struct{})}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	listening := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			_, _ = s.log.Write(append(lines.Bytes(), '\n'))
			var m struct{ Msg, Endpoint string }
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.Msg == "listening" {
				listening <- m.Endpoint
			}
		}
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		if t.Failed() {
			t.Logf("stderr of the process:\n%s", s.log.String())
		}
	})
	select {
	case s.url = <-listening:
	case <-s.exited:
		t.Fatalf("the server did not start: %s", s.log.String())
	case <-time.After(patience):
		t.Fatal("the server does not listen")
	}
	return s
}

// mutating is the environment of a server that may create.
func mutating(t *testing.T, api, state string, more ...string) []string {
	return append(processEnv(api, state,
		"EQUINIX_MCP_CONFIRM_SECRET="+seal.Generate(), "EQUINIX_MCP_LEDGER_DSN=memory:", "EQUINIX_MCP_CONFIRM_CODE=never",
		"EQUINIX_MCP_AUTH_TOKENS_FILE="+tokensFile(t, "alice")), more...)
}

func (s *server) get(path string) (int, string) {
	s.t.Helper()
	res, err := httpClient(s.t, "alice", &http.Transport{}).Get(strings.TrimSuffix(s.url, "/mcp") + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// peer connects a peer to the process. It may outlive it.
func (s *server) peer(era string) *peer {
	s.t.Helper()
	return s.peerOf(&quiet{TB: s.t}, "alice", era)
}

// peerOf connects a peer as somebody.
func (s *server) peerOf(t testing.TB, name, era string) *peer {
	s.t.Helper()
	p := bridged(t, s.url, httpClient(s.t, name, &http.Transport{}), era, canAsk)
	p.hello(era)
	return p
}

func (s *server) end(sig os.Signal) int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatal("the process did not end")
	}
	return s.cmd.ProcessState.ExitCode()
}

// A read-only server needs neither secret nor ledger.
func TestHTTPReadOnly(t *testing.T) {
	_, api := simulator(t)
	s := startHTTP(t, processEnv(api, t.TempDir()+"/state", "EQUINIX_MCP_TOOLSETS=fabric,pricing"), "--insecure-no-auth")
	got := s.peer(modern).call("fabric_list_metros", map[string]any{})
	if got["error"] != nil {
		t.Errorf("%v", got)
	}
	if code, text := s.get("/readyz"); code != 200 {
		t.Errorf("readyz %d %s", code, text)
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// SIGTERM while a person is asked: the prompt ends as call_cancelled, and
// nothing is sent.
func TestHTTPProcessEndsWhileAsked(t *testing.T) {
	for _, era := range eras[1:] {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			sim, api := simulator(t)
			state := t.TempDir() + "/state"
			s := startHTTP(t, mutating(t, api, state))
			p := s.peer(era)
			q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
			began := time.Now()
			if code := s.end(syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if !p.modern() {
				ended("call_cancelled").check(t, q.call.wait().structured(t))
			}
			wantMade(t, sim, 0)
			if left := unresolved(t, state); len(left) != 0 {
				t.Errorf("unresolved/ has %v", left)
			}
		})
	}
}

// SIGTERM in the middle of a create: it is finished, recorded, and answered. I2.
func TestHTTPProcessEndsWhileSending(t *testing.T) {
	t.Parallel()
	for _, era := range eras[1:] {
		for name, sig := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": os.Interrupt} {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				sim, api := simulator(t)
				state := t.TempDir() + "/state"
				s := startHTTP(t, mutating(t, api, state))
				p := s.peer(era)
				q := p.ask(p.propose(connectionSpec("dc-aws-01", 1017)))
				onCreate(sim, 1, fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 700})
				done := make(chan wire, 1)
				go func() { done <- q.reply(saysYes) }()
				eventually(t, "the create arrives", func() bool { sent, _ := seen(sim); return sent == 1 })
				want := map[string]int{"SIGTERM": 0, "SIGINT": exitInterrupted}[name]
				if code := s.end(sig); code != want {
					t.Errorf("exit code %d, want %d", code, want)
				}
				select {
				case m := <-done:
					createdAfter("accepted").check(t, m.structured(t))
				case <-time.After(patience):
					t.Error("the confirm was not answered")
				}
				wantMade(t, sim, 1)
				if left := unresolved(t, state); len(left) != 0 {
					t.Errorf("unresolved/ has %v", left)
				}
			})
		}
	}
}

// readyz tells of a refused log-in, and never makes one.
func TestHTTPReadiness(t *testing.T) {
	sim, api := simulator(t)
	env := mutating(t, api, t.TempDir()+"/state", "EQUINIX_API_CLIENTSECRET=wrong")
	s := startHTTP(t, env)
	for range 3 {
		if code, text := s.get("/readyz"); code != 200 || !strings.Contains(text, `"ledger":"ok"`) {
			t.Errorf("readyz %d %s", code, text)
		}
	}
	if n := len(sim.History()); n != 0 {
		t.Errorf("%d requests were made for it", n)
	}
	p := s.peer(modern)
	got := p.call(mutate.ProposeTool, map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-01", 1017)})
	if got.at("error.code") != "upstream_unauthorized" {
		t.Errorf("%v", got)
	}
	eventually(t, "readyz tells of it", func() bool {
		code, text := s.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, `"log_in":"failing"`)
	})
	if code, _ := s.get("/healthz"); code != 200 {
		t.Errorf("healthz %d", code)
	}
}

// I9: nothing that a server over HTTP writes to its log is a secret.
func TestHTTPLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	_, api := simulator(t)
	env := mutating(t, api, t.TempDir()+"/state", "EQUINIX_MCP_LOG_LEVEL=debug")
	s := startHTTP(t, env)
	p := s.peer(modern)
	proposed := p.propose(connectionSpec("dc-aws-01", 1017))
	q := p.ask(proposed)
	q.answer(saysYes)
	p.retry(q.token, q.state+"x", `{"confirm":1}`).wait() // the SDK's error repeats it to its sender
	_ = s.end(syscall.SIGTERM)
	secrets := []string{tokenOf("alice"), text(proposed["confirm_token"]), q.state, fabricsim.Secret, "123456789012"}
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "EQUINIX_MCP_CONFIRM_SECRET="); ok {
			secrets = append(secrets, v)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	if !strings.Contains(s.log.String(), `"request_id"`) {
		t.Error("the log has no requests")
	}
}
