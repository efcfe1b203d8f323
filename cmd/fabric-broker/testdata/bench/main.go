// Command bench measures fabric-broker beside a floor: a server of the same SDK
// whose two tools make the same upstream calls, ask the same form and return
// results of the same size, and nothing else. It is started by make bench.
//
// It is a benchmark and not a test: what is over its reach is said, and only
// what failed to run ends it with an error. Reach is judged at the median.
//
// With -load it measures the server over HTTP instead, on PostgreSQL beside the
// Memory ledger; make load starts that. There it also fails unless exactly what
// was approved was created.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

const (
	batch   = 15 // proposals of a server before the next server's turn
	batches = 2  // of a run
)

// bench is what all measurements share.
type bench struct {
	sim   *simulator
	dir   string // on disk
	quick string // on a file system without a disk, "" where there is none
	runs  int

	disk, memory, readOnly, floor command
	plan                          plan.Plan
	table                         table
}

func main() {
	bin := flag.String("bin", "bin", "where fabric-broker, fabric-sim and bench-floor are")
	runs := flag.Int("runs", 4, "how many runs")
	only := flag.String("only", "", "measure one thing: starts, lists, memories, flows, slow, pending, syncs, records; none shows the upstream calls alone")
	during := flag.Duration("load", 0, "measure this long under load, over HTTP, and nothing else")
	flag.Parse()
	var err error
	if *during > 0 {
		err = runLoad(*bin, *during)
	} else {
		err = run(*bin, *runs, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin string, runs int, only string) error {
	began := time.Now()
	b := &bench{runs: runs}
	var err error
	if b.dir, err = os.MkdirTemp("", "fabric-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if b.quick, err = os.MkdirTemp("/dev/shm", "fabric-bench-"); err == nil {
		defer func() { _ = os.RemoveAll(b.quick) }()
	}
	if b.sim, err = startSimulator(filepath.Join(bin, "fabric-sim")); err != nil {
		return err
	}
	defer b.sim.stop()
	if err := b.prepare(bin); err != nil {
		return err
	}
	fmt.Print("Upstream calls of ours, which the floor makes too, in the same order:\n\n",
		describe("propose, connection", b.plan.Propose["connection_create"]),
		describe("propose, network", b.plan.Propose["network_create"]),
		describe("confirm, connection", b.plan.Confirm), "\n")
	for _, m := range []struct {
		name    string
		measure func() error
	}{
		{"starts", b.starts},
		{"lists", b.lists},
		{"memories", b.memories},
		{"flows", b.flows},
		{"slow", b.slow},
		{"pending", b.pending},
		{"syncs", b.syncs},
		{"records", b.records},
	} {
		if only != "" && only != m.name {
			continue
		}
		if err := m.measure(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	b.table.print(os.Stdout)
	fmt.Printf("\n%d runs, %s\n", runs, time.Since(began).Round(time.Second))
	return nil
}

// prepare says how the servers are started, and derives the floor's plan.
func (b *bench) prepare(bin string) error {
	broker := filepath.Join(bin, "fabric-broker")
	env := func(state, toolsets string) []string {
		return []string{
			"HOME=" + b.dir, "PATH=" + os.Getenv("PATH"),
			"EQUINIX_API_ENDPOINT=" + b.sim.api, "EQUINIX_API_CLIENTID=bench", "EQUINIX_API_CLIENTSECRET=sim-secret",
			"EQUINIX_MCP_STATE_DIR=" + state, "EQUINIX_MCP_TOOLSETS=" + toolsets,
			"EQUINIX_MCP_MAX_CREATES_PER_DAY=100000", "EQUINIX_MCP_MAX_PENDING=1000",
		}
	}
	const all = "fabric,pricing,mutate"
	b.disk = command{broker, []string{"stdio"}, env(b.dir+"/state", all)}
	b.readOnly = command{broker, []string{"stdio"}, env(b.dir+"/state", "fabric,pricing")}
	b.memory = b.disk
	if b.quick != "" {
		b.memory = command{broker, []string{"stdio"}, env(b.quick+"/state", all)}
	}
	var err error
	if b.plan, err = derive(b.sim, b.memory); err != nil {
		return fmt.Errorf("derive the floor's calls: %w", err)
	}
	raw, err := json.Marshal(b.plan)
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "plan.json")
	b.floor = command{filepath.Join(bin, "bench-floor"), nil, []string{plan.Env + "=" + file, plan.EndpointEnv + "=" + b.sim.api}}
	return os.WriteFile(file, raw, 0o600)
}

// trio starts ours with its state on disk, ours with it in memory, and the
// floor. The run decides who is started and measured first.
func (b *bench) trio(run int, era string) ([]*runner, error) {
	var out []*runner
	for i := range 3 {
		name := []string{"disk", "memory", "floor"}[(run+i)%3]
		s, err := map[string]command{"disk": b.disk, "memory": b.memory, "floor": b.floor}[name].start(era)
		if err != nil {
			stop(out)
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, &runner{server: s, name: name})
	}
	return out, nil
}

// runner is a server that is measured.
type runner struct {
	*server
	name string
}

func stop(rs []*runner) {
	for _, r := range rs {
		r.stop()
	}
}

// sameCalls fails unless ours made exactly the calls of the floor, as often.
func sameCalls(es []entry) error {
	count := map[string]int{}
	for _, e := range es {
		call := e.Method + " " + e.Path
		if e.DryRun {
			call += "?dryRun"
		}
		if e.Status >= 300 {
			return fmt.Errorf("%s was answered %d", call, e.Status)
		}
		if e.Headers.Get("User-Agent") == "floor" {
			count[call] -= 2 // ours runs twice
		} else {
			count[call]++
		}
	}
	var differ []string
	for call, n := range count {
		if n != 0 {
			differ = append(differ, fmt.Sprintf("%s (%+d)", call, n))
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("ours and the floor made different calls: %s", strings.Join(differ, ", "))
	}
	return nil
}
