package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// count is what came of the flows at a site.
type count struct {
	mu                 sync.Mutex
	proposes, confirms []float64 // milliseconds
	approved, created  int
	errors             map[string]int
}

// forget drops what a warm-up took. What it created stays counted.
func (c *count) forget() { c.proposes, c.confirms = nil, nil }

var code = regexp.MustCompile(`"code":"(\w+)"`)

// flow proposes and confirms once, and returns the proposal. The person agrees at
// once.
func (l *load) flow(s *site) (id string, err error) {
	n := int(l.n.Add(1))
	agent, asked := s.propose.as(bearer(n), l.client), s.confirm.as(bearer(n), l.client)
	began := time.Now()
	proposed, err := agent.propose("network_create", network(values(n, 0)))
	took := time.Since(began)
	var confirmed json.RawMessage
	if err == nil {
		var t string
		if t, err = token(proposed); err == nil {
			began = time.Now()
			confirmed, err = asked.confirm(t)
		}
	}
	tookToo := time.Since(began)
	if err == nil && !bytes.Contains(confirmed, []byte(`"outcome":"created"`)) {
		err = fmt.Errorf("not created: %s", confirmed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approved += asked.approvals
	if err != nil {
		what := err.Error()
		if m := code.FindStringSubmatch(what); m != nil {
			what = m[1]
		}
		if s.errors == nil {
			s.errors = map[string]int{}
		}
		s.errors[what]++
		return "", err
	}
	s.created++
	s.proposes = append(s.proposes, float64(took)/float64(time.Millisecond))
	s.confirms = append(s.confirms, float64(tookToo)/float64(time.Millisecond))
	var p struct {
		ID string `json:"proposal_id"`
	}
	return p.ID, json.Unmarshal(proposed, &p)
}

// check fails the run unless the simulator has exactly one create for each
// approval since it was reset, and nothing else went wrong.
func (l *load) check(phase string, sites ...*site) {
	approved, created, wrong := 0, 0, map[string]int{}
	for _, s := range sites {
		approved, created = approved+s.approved, created+s.created
		for what, n := range s.errors {
			wrong[what] += n
		}
	}
	es, _, err := l.sim.history(0)
	if err != nil {
		l.failed = append(l.failed, err)
		return
	}
	creates := map[string]int{}
	for _, e := range es {
		if e.Method == "POST" && e.Path == "/fabric/v4/networks" && !e.DryRun {
			creates[e.Headers.Get("X-Correlation-Id")]++
		}
	}
	fmt.Printf("%s: %d approvals, %d creates, %d reported as created, errors %v\n", phase, approved, len(creates), created, wrong)
	twice := slices.Max(append(slices.Collect(maps.Values(creates)), 0)) > 1
	if len(creates) != approved || approved != created || twice {
		l.failed = append(l.failed, fmt.Errorf("%s: what was created is not what was approved", phase))
	}
	if len(wrong) > 0 {
		l.failed = append(l.failed, fmt.Errorf("%s: %v", phase, wrong))
	}
}

// full has many principals propose and confirm as fast as they can.
func (l *load) full(phase string, during time.Duration, s *site) (memory []float64, err error) {
	const workers = 16
	var all sync.WaitGroup
	var over atomic.Bool
	for range workers {
		all.Go(func() {
			for !over.Load() {
				_, _ = l.flow(s) // counted
			}
		})
	}
	tick := time.NewTicker(max(during/60, 50*time.Millisecond))
	defer tick.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-tick.C {
		n, e := rss(s.confirm.cmd.Process.Pid)
		err = errors.Join(err, e)
		memory = append(memory, n)
	}
	over.Store(true)
	all.Wait()
	fmt.Printf("%s at full speed, %d workers: %.1f creates a second\n", phase, workers, float64(s.created)/during.Seconds())
	l.check(phase, s)
	return memory, err
}

// fullPostgres has one replica propose and another confirm.
func (l *load) fullPostgres(during time.Duration) error {
	if err := l.sim.reset(); err != nil {
		return err
	}
	schema := fmt.Sprintf("settled%d", many)
	one, err := l.serve("one", schema)
	if err != nil {
		return err
	}
	two, err := l.serve("two", schema)
	if err != nil {
		return err
	}
	s := &site{propose: one, confirm: two}
	memory, err := l.full("PostgreSQL, two replicas", during, s)
	if err != nil {
		return err
	}
	l.postgres = s
	// The first quarter is warming up.
	q := len(memory) / 4
	l.table.add(row{figure: "memory of a replica, last quarter beside the second", unit: megabytes, ours: memory[3*q:], floor: memory[q : 2*q], times: 1.1})
	return l.stop(one, two)
}

func (l *load) fullMemory(during time.Duration) error {
	if err := l.sim.reset(); err != nil {
		return err
	}
	m, err := l.serve("memory-full", "memory:")
	if err != nil {
		return err
	}
	s := &site{propose: m, confirm: m}
	if _, err := l.full("Memory, one process", during, s); err != nil {
		return err
	}
	l.table.add(row{figure: "confirm, full speed", unit: ms, ours: l.postgres.confirms, floor: s.confirms})
	l.table.add(row{figure: "propose, full speed", unit: ms, ours: l.postgres.proposes, floor: s.proposes})
	return l.stop(m)
}
