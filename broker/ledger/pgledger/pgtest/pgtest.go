// Package pgtest runs a PostgreSQL of Debian's package in a directory of its own,
// for tests and for the load. Nothing that is shipped imports it.
package pgtest

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
	"syscall"
	"testing"
	"time"
)

// ErrNotInstalled is returned where there is no PostgreSQL to run.
var ErrNotInstalled = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// Server is one PostgreSQL server, with fsync on. Use [New], and Stop at the end.
type Server struct {
	bin, dir string
	port     int
	as       *syscall.Credential
	cmd      *exec.Cmd
	log      *os.File
}

// New makes an empty database and starts its server.
func New() (*Server, error) {
	s, err := Empty()
	if err != nil {
		return nil, err
	}
	if err = s.Run("initdb", "-D", s.Data(), "-U", "ledger", "-A", "trust", "-E", "UTF8", "--no-sync"); err == nil {
		err = s.Start()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Empty returns a server that has no database yet and is not started.
func Empty() (*Server, error) {
	s := &Server{}
	if s.bin = binaries(); s.bin == "" {
		return nil, ErrNotInstalled
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pgl"); err != nil { // short: a socket's path has 107 bytes
		return nil, err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses root
		if s.as, err = unprivileged(); err != nil {
			return nil, err
		}
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
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

// For returns s, and skips the test where PostgreSQL is not installed. In CI it
// always is.
func For(t testing.TB, s *Server, err error) *Server {
	t.Helper()
	if errors.Is(err, ErrNotInstalled) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
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

// Data is where the database is.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Port is where the server listens, on 127.0.0.1.
func (s *Server) Port() string { return strconv.Itoa(s.port) }

// DSN names a schema. What it has itself comes before what PostgreSQL has: that
// is how a test moves the clock, and nothing in the ledger knows of it.
func (s *Server) DSN(schema string) string {
	return fmt.Sprintf("postgres://ledger:hunter2@127.0.0.1:%d/postgres?sslmode=disable&search_path=%s,pg_catalog", s.port, schema)
}

// command is one of PostgreSQL's programs. It ends with us.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...) //nolint:gosec,noctx // a program of PostgreSQL's; Stop ends it
	c.Dir = s.dir
	c.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	return c
}

// Run runs one of PostgreSQL's programs.
func (s *Server) Run(name string, args ...string) error {
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// SQL runs statements as the owner of the database, each text a transaction.
func (s *Server) SQL(texts ...string) error {
	args := []string{"-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", s.Port(), "-U", "ledger", "-d", "postgres"}
	for _, t := range texts {
		args = append(args, "-c", t)
	}
	return s.Run("psql", args...)
}

// Start starts the server and waits until it answers.
func (s *Server) Start() error {
	s.cmd = s.command("postgres", "-D", s.Data(), "-p", s.Port(), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "max_connections=200", "-c", "shared_buffers=64MB",
		"-c", "wal_level=replica", "-c", "max_wal_senders=4", "-c", "hot_standby=on", "-c", "autovacuum_naptime=5")
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for {
		if s.Run("pg_isready", "-q", "-h", "127.0.0.1", "-p", s.Port()) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			b, _ := os.ReadFile(s.log.Name())
			return fmt.Errorf("the server does not answer:\n%s", bytes.TrimSpace(b))
		}
	}
}

// Halt ends the server at once, as a crash of its host would: clients see it go.
func (s *Server) Halt() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Stop ends the server and removes its database. A nil one has nothing to stop.
func (s *Server) Stop() {
	if s != nil {
		s.Halt()
		_ = s.log.Close()
		_ = os.RemoveAll(s.dir)
	}
}
