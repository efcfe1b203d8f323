package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"fabricbroker/broker"
)

// LogOptions are a Log's clock and limits. Zero values take their defaults.
type LogOptions struct {
	// Now is the clock, time.Now.
	Now func() time.Time
	// MaxBytes is how large a file may get before the next one is begun, 64 MB.
	MaxBytes int64
	// MinFree is the free disk space, in bytes, below which proposals are
	// refused, 64 MB. What is under way is still recorded. Negative is no limit.
	MinFree int64
	// NoSync leaves out every fsync. Only benchmarks may.
	NoSync bool
}

const (
	defaultMaxBytes = 64 << 20
	defaultMinFree  = 64 << 20
	// syncLag is how long after an event that need not be synced at once it is
	// synced all the same, so that audit.head reaches it.
	syncLag = time.Second
)

// Log is the audit log of this process: a Recorder that writes a line for every
// event, each with the hash of the one before. It is safe for concurrent use.
//
// When Record returns, the line is with the operating system: a crash of the
// process does not lose it. Before money and after it, the line and all before
// it are on disk too: for answered, sending, every outcome, resolved and halted.
// The others follow within a second.
//
// A line that could not be written is taken back and its file is closed; the
// next event begins a new file, whose first line goes on in the chain.
type Log struct {
	d *Dir
	o LogOptions
	// pid, free and wrap are replaced by tests.
	pid  int
	free func(path string) (free int64, known bool, err error)
	wrap func(*os.File) file

	mu     sync.Mutex
	closed bool
	f      *logFile // nil until the first event, and after an error
	seq    uint64   // of the last line, and its hash
	prev   string
	quota  quota
	// dirty says that lines are not synced yet; lag will.
	dirty  bool
	lag    *time.Timer
	minute *time.Timer
}

var _ broker.Recorder = (*Log)(nil)

// Log returns a log of its own in the state directory. Its file is made at the
// first event. Close it before the Dir.
func (d *Dir) Log(o LogOptions) (*Log, error) {
	if o.MaxBytes < 0 {
		return nil, fmt.Errorf("audit: log: a file of at most %d bytes", o.MaxBytes)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	o.MinFree = cmp.Or(o.MinFree, defaultMinFree)
	l := &Log{d: d, o: o, pid: os.Getpid(), free: freeSpace, wrap: func(f *os.File) file { return f }, prev: noHash}
	return l, nil
}

// Record implements broker.Recorder. Its errors are refusals with
// ErrAuditUnavailable: the event is not on record. The context is not looked at:
// what happened is recorded also when its caller is gone.
func (l *Log) Record(_ context.Context, e broker.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.record(e); err != nil { //nolint:contextcheck // what happened is recorded also when its caller is gone
		return unavailable("record "+string(e.Kind), notRecorded, err)
	}
	return nil
}

func (l *Log) record(e broker.Event) error {
	if l.closed {
		return errors.New("the log is closed")
	}
	now := l.o.Now()
	if e.Time.IsZero() {
		e.Time = now
	}
	l.flush(now, false)
	if e.Kind == broker.EventProposed {
		if err := l.room(); err != nil {
			return err
		}
	}
	if e.Kind == broker.EventRefused && !changes(e) && e.Count == 0 && !l.quota.single(e, now) {
		l.flushLater()
		return nil
	}
	return l.append(lineOf(e), durable(e.Kind))
}

// changes reports whether a refusal changed its proposal: the first confirm of an
// expired one spends the token (I5). There is one for a proposal.
func changes(e broker.Event) bool {
	return e.Code == broker.ErrTokenExpired && e.Proposal.ID != "" && e.Caller.Principal == e.Proposal.Caller.Principal
}

// durable says which events are on disk when Record returns. An fsync covers
// all lines before it: with sending, what was asked and answered is there too.
func durable(k broker.EventKind) bool {
	switch k {
	case broker.EventAnswered, broker.EventSending, broker.EventCreated, broker.EventRejected, broker.EventUnknown,
		broker.EventNotSent, broker.EventResolved, broker.EventHalted:
		return true
	case broker.EventProposed, broker.EventRefused, broker.EventAsked, broker.EventStopped, broker.EventWithdrawn,
		broker.EventSuperseded, broker.EventExpired, broker.EventEvicted:
	}
	return false
}

// room refuses proposals while the disk is nearly full: they come first, so that
// what is under way still finds room for its record.
func (l *Log) room() error {
	free, known, err := l.free(l.d.path)
	if err != nil {
		return err
	}
	if known && free < l.o.MinFree {
		return fmt.Errorf("%d bytes are free on the disk of the state directory, and below %d nothing is proposed", free, l.o.MinFree)
	}
	return nil
}

// Close writes what was summed up, syncs and closes the file. Nothing can be
// recorded after it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.flush(l.o.Now(), true)
	l.closed = true
	for _, t := range []*time.Timer{l.lag, l.minute} {
		if t != nil {
			t.Stop()
		}
	}
	if err := l.finish(); err != nil {
		return fmt.Errorf("audit: close the log: %w", err)
	}
	return nil
}

const notRecorded = "the event cannot be put on record"
