package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// samples are measurements by the name of what was measured.
type samples map[string][]float64

func (s samples) took(name string, began time.Time) {
	s[name] = append(s[name], float64(time.Since(began))/float64(time.Millisecond))
}

// starts measures from the start of the process to the answer to tools/list.
func (b *bench) starts() error {
	s := samples{}
	for run := range b.runs * 6 {
		for i := range 3 {
			name := []string{"disk", "memory", "floor"}[(run+i)%3]
			p, err := map[string]command{"disk": b.disk, "memory": b.memory, "floor": b.floor}[name].start(modern)
			if err != nil {
				return err
			}
			_, err = p.request("tools/list", object{})
			s.took(name, p.began)
			p.stop()
			if err != nil {
				return err
			}
		}
	}
	b.table.add(row{figure: "start to tools/list, state in memory", unit: ms, ours: s["memory"], floor: s["floor"]})
	b.table.add(row{figure: "start to tools/list, state on disk", unit: ms, ours: s["disk"], floor: s["floor"], times: 2})
	return nil
}

// lists measures the answer to tools/list.
func (b *bench) lists() error {
	for _, l := range []struct {
		figure string
		c      command
		most   float64
	}{{"list, read-only", b.readOnly, 4.5e3}, {"list, with mutate", b.disk, 16e3}} {
		var sizes [2]float64
		for i, c := range []command{l.c, b.floor} {
			p, err := c.start(modern)
			if err != nil {
				return err
			}
			res, err := p.request("tools/list", object{})
			p.stop()
			if err != nil {
				return err
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, res); err != nil {
				return err
			}
			sizes[i] = float64(compact.Len())
		}
		b.table.add(row{figure: l.figure, unit: bytesOf, ours: sizes[:1], floor: sizes[1:], most: l.most})
	}
	return nil
}

// memories measures resident memory when the list is out and nothing goes on.
func (b *bench) memories() error {
	s := samples{}
	for run := range b.runs {
		rs, err := b.trio(run, modern)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if _, err := r.request("tools/list", object{}); err != nil {
				return err
			}
		}
		<-time.After(time.Second)
		for _, r := range rs {
			n, err := r.rss()
			if err != nil {
				return err
			}
			s[r.name] = append(s[r.name], n)
		}
		stop(rs)
	}
	b.table.add(row{figure: "idle resident memory", unit: megabytes, ours: s["disk"], floor: s["floor"], most: 25e6})
	return nil
}

// flows measures proposing and confirming. A confirm begins with the agent's
// call and ends with the outcome; the person answers at once.
func (b *bench) flows() error {
	for _, era := range []string{modern, legacy} {
		proposes, confirms, firsts := samples{}, samples{}, samples{}
		for run := range b.runs {
			if err := b.flow(run, era, proposes, confirms, firsts); err != nil {
				return fmt.Errorf("%s: %w", era, err)
			}
		}
		// A propose syncs no intent. A confirm does, which is no part of its
		// reach: with the state in memory it costs next to nothing.
		b.table.add(row{figure: "propose " + era + ", state in memory", unit: ms, ours: proposes["memory"], floor: proposes["floor"]})
		b.table.add(row{figure: "propose " + era + ", state on disk", unit: ms, ours: proposes["disk"], floor: proposes["floor"], times: 1.5})
		b.table.add(row{figure: "confirm " + era + ", state in memory", unit: ms, ours: confirms["memory"], floor: confirms["floor"], times: 1.5})
		b.table.add(row{figure: "confirm " + era + ", state on disk", unit: ms, ours: confirms["disk"], floor: confirms["floor"]})
		b.table.add(row{figure: "first propose " + era + ", logs in", unit: ms, ours: firsts["memory"], floor: firsts["floor"]})
	}
	return nil
}

func (b *bench) flow(run int, era string, proposes, confirms, firsts samples) error {
	if err := b.sim.reset(); err != nil {
		return err
	}
	rs, err := b.trio(run, era)
	defer stop(rs)
	if err != nil {
		return err
	}
	n := 0
	for _, r := range rs {
		began := time.Now()
		if _, err := r.propose("connection_create", connection(values(n, slots-1))); err != nil {
			return err
		}
		firsts.took(r.name, began)
		n++
	}
	for k := range batches {
		tokens := map[string][]string{}
		for _, r := range rs {
			for i := range batch {
				spec := connection(values(n, k*batch+i))
				n++
				began := time.Now()
				res, err := r.propose("connection_create", spec)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				proposes.took(r.name, began)
				t, err := token(res)
				if err != nil {
					return err
				}
				tokens[r.name] = append(tokens[r.name], t)
			}
		}
		<-time.After(keptFor)
		for _, r := range rs {
			for _, t := range tokens[r.name] {
				began := time.Now()
				res, err := r.confirm(t)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				confirms.took(r.name, began)
				if !bytes.Contains(res, []byte(`"outcome":"created"`)) {
					return fmt.Errorf("%s: a confirm created nothing: %s", r.name, res)
				}
			}
		}
	}
	es, _, err := b.sim.history(0)
	if err != nil {
		return err
	}
	return sameCalls(es)
}

// slow measures with 200 ms added to every upstream call: what counts is how
// many of them follow each other.
func (b *bench) slow() error {
	if err := b.sim.reset(); err != nil {
		return err
	}
	rs, err := b.trio(0, modern)
	defer stop(rs)
	if err != nil {
		return err
	}
	n := 0
	for _, r := range rs {
		if _, err := r.propose("network_create", network(values(n, 0))); err != nil {
			return err
		}
		n++
	}
	if err := b.sim.delay(200*time.Millisecond, object{}); err != nil {
		return err
	}
	defer func() { _ = b.sim.noDelays() }()
	connections, networks, confirms := samples{}, samples{}, samples{}
	tokens := map[string][]string{}
	for slot := range 8 {
		for _, r := range rs {
			v := values(n, slot)
			n++
			began := time.Now()
			res, err := r.propose("connection_create", connection(v))
			if err != nil {
				return err
			}
			connections.took(r.name, began)
			t, err := token(res)
			if err != nil {
				return err
			}
			tokens[r.name] = append(tokens[r.name], t)
			began = time.Now()
			if _, err := r.propose("network_create", network(v)); err != nil {
				return err
			}
			networks.took(r.name, began)
		}
	}
	<-time.After(keptFor)
	for i := range 4 {
		for _, r := range rs {
			began := time.Now()
			if _, err := r.confirm(tokens[r.name][i]); err != nil {
				return err
			}
			confirms.took(r.name, began)
		}
	}
	b.table.add(row{figure: "+200 ms upstream: propose, connection", unit: ms, ours: connections["disk"], floor: connections["floor"], most: 460})
	b.table.add(row{figure: "+200 ms upstream: propose, network", unit: ms, ours: networks["disk"], floor: networks["floor"], most: 260})
	b.table.add(row{figure: "+200 ms upstream: confirm, connection", unit: ms, ours: confirms["disk"], floor: confirms["floor"]})
	return nil
}
