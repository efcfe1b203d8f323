package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// postgres is a PostgreSQL server of its own, for a test that has two replicas.
type postgres struct {
	t    *testing.T
	bin  string
	dir  string
	port string
	as   *syscall.Credential
	cmd  *exec.Cmd
}

func newPostgres(t *testing.T) *postgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed (apt-get install postgresql)")
	}
	p := &postgres{t: t, bin: filepath.Dir(found[len(found)-1])}
	var err error
	if p.dir, err = os.MkdirTemp("", "fbpg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(); _ = os.RemoveAll(p.dir) })
	if os.Geteuid() == 0 { // PostgreSQL refuses root
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user postgres")
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(p.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	if out, err := p.command("initdb", "-D", p.dir+"/data", "-U", "ledger", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	p.start()
	return p
}

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	c.Dir, c.Env = p.dir, []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return c
}

func (p *postgres) start() {
	p.t.Helper()
	var log bytes.Buffer
	p.cmd = p.command("postgres", "-D", p.dir+"/data", "-p", p.port, "-k", p.dir, "-c", "listen_addresses=127.0.0.1")
	p.cmd.Stderr = &log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, "PostgreSQL answers", func() bool {
		return p.command("pg_isready", "-q", "-h", "127.0.0.1", "-p", p.port).Run() == nil
	})
}

// stop ends the server at once, as a crash of its host would.
func (p *postgres) stop() {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

func (p *postgres) dsn() string {
	return "postgres://ledger@127.0.0.1:" + p.port + "/postgres?sslmode=disable"
}

// Two replicas at one ledger: any of them confirms what another proposed, and a
// ledger that is away refuses mutations while reads go on.
func TestHTTPReplicasShareALedger(t *testing.T) {
	pg := newPostgres(t)
	sim, api := simulator(t)
	env := mutating(t, api, t.TempDir()+"/one", "EQUINIX_MCP_LEDGER_DSN="+pg.dsn())
	one := startHTTP(t, env)
	two := startHTTP(t, append(env, "EQUINIX_MCP_STATE_DIR="+t.TempDir()+"/two"))
	here, there := one.peer(modern), two.peer(modern)
	for _, s := range []*server{one, two} {
		if code, text := s.get("/readyz"); code != 200 {
			t.Errorf("readyz %d %s", code, text)
		}
	}

	proposed := here.propose(connectionSpec("dc-aws-01", 1017))
	q := there.ask(proposed)
	var calls []*pending
	for i := range 6 {
		calls = append(calls, []*peer{here, there}[i%2].retry(q.token, q.state, `{"confirm":`+saysYes+`}`))
	}
	for _, c := range calls {
		createdAfter("accepted").check(t, c.wait().structured(t))
	}
	refused("token_replayed", "spent", "ttf--").check(t, here.confirm(proposed))
	wantMade(t, sim, 1)

	// A question that a session of one replica asks can be withdrawn at another.
	old := one.peer("2025-11-25")
	asked := old.propose(connectionSpec("dc-aws-02", 1018))
	waiting := old.ask(asked)
	there.call("fabric_withdraw_change", map[string]any{"proposal_id": asked["proposal_id"]})
	ended("withdrawn").check(t, waiting.call.wait().structured(t))

	// What an operator halts is halted everywhere.
	if code, out, errs := execute(t, env, "", "halt", "--reason=maintenance"); code != 0 {
		t.Errorf("halt: %d %s%s", code, out, errs)
	}
	for _, p := range []*peer{here, there} {
		if got := p.call("fabric_propose_change", map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-03", 1019)}); got.at("error.code") != "halted" {
			t.Errorf("propose while halted: %v", got)
		}
	}
	if code, out, errs := execute(t, env, "", "resume"); code != 0 || !strings.Contains(out, "maintenance") {
		t.Errorf("resume: %d %s%s", code, out, errs)
	}

	pg.stop()
	if got := here.call("fabric_propose_change", map[string]any{"change_type": "connection_create", "spec": connectionSpec("dc-aws-03", 1019)}); got.at("error.code") != "ledger_unavailable" && got.at("error.code") != "halted" {
		t.Errorf("propose without a ledger: %v", got)
	}
	if got := here.call("fabric_list_metros", map[string]any{}); got["error"] != nil {
		t.Errorf("a read without a ledger: %v", got)
	}
	eventually(t, "readyz tells of it", func() bool { code, _ := one.get("/readyz"); return code == 503 })
	pg.start()
	eventually(t, "readyz tells of it", func() bool { code, _ := one.get("/readyz"); return code == 200 })
	there.propose(connectionSpec("dc-aws-03", 1019))
	wantMade(t, sim, 1)
	for _, s := range []*server{one, two} {
		if code := s.end(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}
