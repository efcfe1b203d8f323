package audit

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fabricbroker/broker"
)

// kept is how much longer than it was last asked for a Follower remembers what it
// has read.
const kept = 24 * time.Hour

// Follower replays the logs of a state directory again and again, and reads only
// what has been added. It is safe for concurrent use.
type Follower struct {
	dir string

	mu     sync.Mutex
	tails  map[string]*tail
	replay replay
	// from is the instant before which it has forgotten.
	from time.Time
}

// Follow returns a Follower that has read nothing yet.
func (d *Dir) Follow() *Follower {
	return &Follower{dir: d.path, tails: map[string]*tail{}, replay: replay{found: map[broker.ID]*replayed{}}}
}

// Replay does what the function of that name does.
func (f *Follower) Replay(since time.Time) ([]broker.Proposal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since.Before(f.from) {
		return Replay(f.dir, since)
	}
	_, err := f.follow(since.Add(-kept))
	f.forget(since.Add(-kept))
	return f.replay.since(since), err
}

func (f *Follower) follow(since time.Time) ([]broker.Proposal, error) {
	names, err := logNames(f.dir)
	if err != nil {
		return nil, fmt.Errorf("audit: replay: %w", err)
	}
	var (
		added  []line
		broken []error
	)
	for _, name := range names {
		if f.tails[name] == nil {
			f.tails[name] = &tail{}
		}
		lines, err := f.tails[name].file(f.dir, name, since)
		if err != nil {
			broken = append(broken, fmt.Errorf("audit: replay: %s: %w", name, err))
		}
		added = append(added, lines...)
	}
	slices.SortStableFunc(added, func(a, b line) int { return a.Time.Compare(b.Time) })
	for _, l := range added {
		f.replay.line(l)
	}
	return f.replay.since(since), errors.Join(broken...)
}

func (f *Follower) forget(before time.Time) {
	if before.After(f.from) {
		f.from = before
	}
	for id, r := range f.replay.found {
		if r.last.Before(f.from) {
			delete(f.replay.found, id)
		}
	}
}
