package pgledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	code := m.Run()
	shared.stop()
	os.Exit(code)
}

// shared is the server of the tests that leave it alone.
var shared struct {
	once sync.Once
	*server
	err error
}

// server is a PostgreSQL of Debian's package in a directory of its own.
type server struct {
	bin, dir string
	port     int
	cred     *syscall.Credential
	cmd      *exec.Cmd
	log      *os.File
}

// sharedServer returns the server that all tests share, each with its own schema.
func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = newServer() })
	usable(t, shared.err)
	return shared.server
}

// ownServer returns a server that the test may stop.
func ownServer(t testing.TB) *server {
	t.Helper()
	s, err := newServer()
	usable(t, err)
	t.Cleanup(s.stop)
	return s
}

var errNoPostgres = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

func usable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoPostgres) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newServer() (*server, error) {
	s, err := emptyServer()
	if err != nil {
		return nil, err
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "ledger", "-A", "trust", "-E", "UTF8", "--no-sync"); err != nil {
		s.stop()
		return nil, err
	}
	if err := s.start(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func emptyServer() (*server, error) {
	s := &server{}
	if s.bin = binaries(); s.bin == "" {
		return nil, errNoPostgres
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pgl"); err != nil { // short: a socket's path has 107 bytes
		return nil, err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses root
		if s.cred, err = unprivileged(); err != nil {
			return nil, err
		}
		if err := os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			return nil, err
		}
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	return s, l.Close()
}

// binaries is the directory of the newest installed server.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p)
	}
	return ""
}

func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("neither postgres nor nobody is a user here")
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Pdeathsig: syscall.SIGQUIT}
	return c
}

func (s *server) run(name string, args ...string) error {
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// start starts the server, with fsync, and waits until it answers.
func (s *server) start() error {
	s.cmd = s.command("postgres", "-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "max_connections=200", "-c", "shared_buffers=64MB",
		"-c", "wal_level=replica", "-c", "max_wal_senders=4", "-c", "hot_standby=on", "-c", "autovacuum_naptime=5")
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := pgx.Connect(ctx, s.dsn("public"))
		if err == nil {
			_ = c.Close(ctx)
			cancel()
			return nil
		}
		cancel()
		time.Sleep(20 * time.Millisecond)
	}
	b, _ := os.ReadFile(s.log.Name())
	return fmt.Errorf("the server does not answer:\n%s", bytes.TrimSpace(b))
}

// halt ends the server at once, as a crash of its host would: clients see it go.
func (s *server) halt() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) stop() {
	if s != nil {
		s.halt()
		_ = s.log.Close()
		_ = os.RemoveAll(s.dir)
	}
}

// dsn names a schema. What it has itself comes before what PostgreSQL has: that
// is how a test moves the clock, and nothing in the ledger knows of it.
func (s *server) dsn(schema string) string {
	return fmt.Sprintf("postgres://ledger:hunter2@127.0.0.1:%d/postgres?sslmode=disable&search_path=%s,pg_catalog", s.port, schema)
}

// exec runs SQL as the owner of the database, in a schema.
func (s *server) exec(t testing.TB, schema, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.dsn(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// value returns the one value that a query gives.
func value[T any](t testing.TB, s *server, schema, sql string, args ...any) (v T) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.dsn(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if err := c.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

var schemas atomic.Int64

// schema makes an empty schema, dropped at the end of the test.
func (s *server) schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", schemas.Add(1))
	s.exec(t, "public", "CREATE SCHEMA "+name)
	return name
}
