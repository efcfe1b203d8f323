package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"fabricbroker/broker/ledger/pgledger/pgtest"
	"fabricbroker/broker/seal"
)

const (
	callers = 400 // principals: each may make 30 proposals a minute
	few     = 1_000
	many    = 100_000
)

// load is the server over HTTP, on PostgreSQL beside the Memory ledger.
type load struct {
	bin, dir string
	sim      *simulator
	pg       *pgtest.Server
	secret   string
	client   *http.Client
	table    table
	n        atomic.Int64 // proposals so far
	postgres *site        // of the full speed
	failed   []error
}

// runLoad measures for so long with few and with many settled proposals in the
// ledger, at a pace that leaves the machine idle most of the time, and then for
// as long at full speed on each ledger.
func runLoad(bin string, during time.Duration) error {
	began := time.Now()
	l := &load{bin: bin, secret: seal.Generate(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	var err error
	if l.dir, err = os.MkdirTemp("", "fabric-load-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(l.dir) }()
	if l.pg, err = pgtest.New(); err != nil {
		return err
	}
	defer l.pg.Stop()
	if l.sim, err = startSimulator(filepath.Join(bin, "fabric-sim")); err != nil {
		return err
	}
	defer l.sim.stop()
	if err := l.tokens(); err != nil {
		return err
	}
	for _, measure := range []func(time.Duration) error{l.paced, l.fullPostgres, l.fullMemory} {
		if err := measure(during); err != nil {
			return err
		}
	}
	fmt.Println("\"ours\" is PostgreSQL, the floor is the Memory ledger of one process, in the same run.")
	l.table.print(os.Stdout)
	fmt.Printf("\n%d proposals, %s\n", l.n.Load(), time.Since(began).Round(time.Second))
	return errors.Join(l.failed...)
}

func bearer(n int) string { return fmt.Sprintf("load-%06d-0123456789abcdef", n%callers) }

func (l *load) tokens() error {
	var b strings.Builder
	for n := range callers {
		sum := sha256.Sum256([]byte(bearer(n)))
		fmt.Fprintf(&b, "sha256:%s load/p%d\n", hex.EncodeToString(sum[:]), n)
	}
	return os.WriteFile(l.dir+"/tokens", []byte(b.String()), 0o600)
}

// serve starts a server at a ledger: a schema of PostgreSQL, or memory:.
func (l *load) serve(name, ledger string) (*remote, error) {
	dsn := ledger
	if ledger != "memory:" {
		dsn = l.pg.DSN(ledger)
	}
	return command{filepath.Join(l.bin, "fabric-broker"), []string{"http", "--listen=127.0.0.1:0"}, []string{
		"HOME=" + l.dir, "PATH=" + os.Getenv("PATH"),
		"EQUINIX_API_ENDPOINT=" + l.sim.api, "EQUINIX_API_CLIENTID=load", "EQUINIX_API_CLIENTSECRET=sim-secret",
		"EQUINIX_MCP_STATE_DIR=" + filepath.Join(l.dir, name), "EQUINIX_MCP_TOOLSETS=fabric,pricing,mutate",
		"EQUINIX_MCP_CONFIRM_SECRET=" + l.secret, "EQUINIX_MCP_LEDGER_DSN=" + dsn, "EQUINIX_MCP_AUTH_TOKENS_FILE=" + l.dir + "/tokens",
		"EQUINIX_MCP_MAX_CREATES_PER_DAY=1000000",
	}}.serve(name)
}

// site is where proposals are made and confirmed, and what came of them.
type site struct {
	propose, confirm *remote
	count
}

// settled returns a site whose ledger has n settled proposals.
func (l *load) settled(n int) (*site, error) {
	schema := fmt.Sprintf("settled%d", n)
	if err := l.pg.SQL("CREATE SCHEMA " + schema); err != nil {
		return nil, err
	}
	r, err := l.serve(schema, schema)
	if err != nil {
		return nil, err
	}
	s := &site{propose: r, confirm: r}
	id, err := l.flow(s)
	if err == nil {
		err = l.pg.Settle(schema, id, n)
	}
	if err != nil {
		_ = r.stop()
	}
	return s, err
}

// paced measures what PostgreSQL adds, and whether it grows with what is in the
// ledger: three servers get one flow after the other, all the time.
func (l *load) paced(during time.Duration) error {
	if err := l.sim.reset(); err != nil {
		return err
	}
	little, err := l.settled(few)
	if err != nil {
		return err
	}
	much, err := l.settled(many)
	if err != nil {
		return err
	}
	m, err := l.serve("memory", "memory:")
	if err != nil {
		return err
	}
	memory := &site{propose: m, confirm: m}
	if _, err := l.flow(memory); err != nil { // logs in
		return err
	}
	sites := []*site{little, much, memory}
	for _, s := range sites {
		s.forget()
	}
	d, err := l.database()
	if err != nil {
		return err
	}
	every := time.NewTicker(60 * time.Millisecond)
	defer every.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-every.C {
		_, _ = l.flow(sites[int(l.n.Load())%len(sites)]) // counted
		if err := d.sample(); err != nil {
			return err
		}
	}
	l.check("paced", sites...)
	l.table.add(row{figure: "confirm, 1,000 settled", unit: ms, ours: little.confirms, floor: memory.confirms, added: 5})
	l.table.add(row{figure: "confirm, 100,000 settled", unit: ms, ours: much.confirms, floor: memory.confirms, added: 5})
	l.table.add(row{figure: "confirm, 100,000 beside 1,000 settled", unit: ms, ours: much.confirms, floor: little.confirms, times: 1.1})
	l.table.add(row{figure: "PostgreSQL: one round trip", unit: ms, ours: d.trips[""]})
	l.table.add(row{figure: "PostgreSQL: one synced change", unit: ms, ours: d.commits[""]})
	l.table.add(row{figure: "propose, 1,000 settled", unit: ms, ours: little.proposes, floor: memory.proposes})
	l.table.add(row{figure: "propose, 100,000 settled", unit: ms, ours: much.proposes, floor: memory.proposes})
	return l.stop(little.propose, much.propose, m)
}

// stop ends servers. What their logs call an error is one.
func (l *load) stop(rs ...*remote) error {
	for _, r := range rs {
		if err := r.stop(); err != nil {
			return err
		}
		if r.errors > 0 {
			l.failed = append(l.failed, fmt.Errorf("%s logged %d errors, the last: %s", r.name, r.errors, r.last))
		}
	}
	return nil
}
