package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fabricbroker/broker"
)

// Replay rebuilds the proposals of every process of a state directory from the
// lines alone, as far as something happened to them at since or later; the newest
// comes first. They have no Payload, and the uuid of a service token is masked.
//
// They stand where the last line has them. A pending one whose time has run out
// is not yet expired here: nothing happens at that instant. One that is asking,
// approved or sending may belong to a process that is gone.
//
// Lines that are broken are left out. They are the error, beside the proposals: a
// broken chain is reported and stops nothing. Without proposals the error means
// that the directory could not be read.
func Replay(dir string, since time.Time) ([]broker.Proposal, error) {
	f := Follower{dir: dir, tails: map[string]*tail{}, replay: replay{found: map[broker.ID]*replayed{}}}
	return f.follow(since)
}

// maxLife is the longest that a proposal may be pending.
const maxLife = time.Hour

// tail is how far a file was read.
type tail struct {
	offset int64
	latest time.Time // of the lines up to there
}

// file returns the lines of the file behind the tail, none where they are all
// older than since.
func (t *tail) file(dir, name string, since time.Time) ([]line, error) {
	in, err := openLog(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // nothing was written
	info, err := in.Stat()
	if err != nil || info.Size() <= t.offset {
		return nil, err
	}
	if !since.IsZero() && info.ModTime().Before(since.Add(-2*maxLife)) {
		return nil, nil // its lines are older
	}
	var (
		out    []line
		broken []string
		n      int
	)
	added := &counting{r: io.NewSectionReader(in, t.offset, math.MaxInt64-t.offset)}
	torn, err := readLines(added, func(raw []byte) {
		n++
		l, err := parse(raw)
		if err != nil {
			if len(broken) < 10 {
				broken = append(broken, fmt.Sprintf("line %d %s", n, err))
			}
			return
		}
		// Where the clock was set back the order of the file counts.
		if l.Time.Before(t.latest) {
			l.Time = t.latest
		}
		t.latest = l.Time
		out = append(out, l)
	})
	t.offset += added.n - int64(len(torn))
	if len(torn) > 0 {
		broken = append(broken, fmt.Sprintf("line %d was not written to its end", n+1))
	}
	if err == nil && len(broken) > 0 {
		err = errors.New(strings.Join(broken, "; "))
	}
	return out, err
}

// counting counts what is read.
type counting struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// replay is the ledger that the lines tell of.
type replay struct{ found map[broker.ID]*replayed }

type replayed struct {
	p    broker.Proposal
	last time.Time
}

func (r replay) since(since time.Time) []broker.Proposal {
	out := []broker.Proposal{}
	for _, f := range r.found {
		if !f.last.Before(since) {
			out = append(out, f.p)
		}
	}
	slices.SortFunc(out, func(a, b broker.Proposal) int {
		return cmp.Or(b.MintedAt.Compare(a.MintedAt), cmp.Compare(b.ID, a.ID))
	})
	return out
}

func (r replay) line(l line) {
	if l.ProposalID == "" {
		return
	}
	f := r.found[l.ProposalID]
	if l.Event == broker.EventRefused {
		if f != nil {
			f.refused(l)
		}
		return
	}
	if f == nil {
		f = &replayed{p: broker.Proposal{ID: l.ProposalID, Caller: callerOf(l)}}
		r.found[l.ProposalID] = f
	}
	f.last = l.Time
	f.event(l)
}

// refused takes from a refusal what it changed: the first confirm of an expired
// proposal spends its token (I5). Nothing else: what it says of the state may be
// older than the line before it.
func (f *replayed) refused(l line) {
	if l.Code != broker.ErrTokenExpired || callerOf(l).Principal != f.p.Caller.Principal {
		return
	}
	if f.p.State == broker.Pending {
		f.p.State, f.p.Since = broker.Expired, f.p.ExpiresAt
	}
	if f.p.State == broker.Expired {
		f.p.Spent, f.last = true, l.Time
	}
}

// event applies a line. Two calls may write the lines of their steps in another
// order than the ledger made the steps: a line whose state cannot follow changes
// nothing but what was empty.
func (f *replayed) event(l line) {
	p := &f.p
	p.ChangeType, p.Name, p.Hash, p.Account = l.ChangeType, l.Name, l.RequestHash, l.Account
	setText(&p.Twin, cmp.Or(l.Twin, p.Twin))
	p.MintedAt, p.Spent = l.MintedAt, p.Spent || l.Spent
	if l.Price != nil {
		l.Price.put(p)
	}
	setTime(&p.AskUntil, l.AskUntil)
	setTime(&p.SendBy, l.SendBy)
	if p.State != "" && l.State != p.State && !reaches(p.State, l.State) {
		return
	}
	p.State, p.Since, p.ExpiresAt = l.State, l.Since, l.ExpiresAt
	if l.Answer != "" || l.AnswerState != "" {
		p.Answer = &broker.Answer{State: l.AnswerState, Channel: l.Channel, By: l.By, Detail: l.AnswerDetail, Status: l.Answer}
	}
	if l.Result != nil && l.Event != broker.EventHalted {
		p.Result = &broker.Result{
			Outcome: l.Outcome, UUID: l.UUID, Name: l.Result.Name, State: l.Result.State, Href: l.Result.Href,
			Code: l.Result.Code, Upstream: l.Result.Upstream, Detail: l.Result.Detail, CorrelationID: l.CorrelationID,
		}
	}
	if l.Code != "" && l.Event != broker.EventHalted && l.Event != broker.EventExpired {
		p.Code = l.Code
	}
}

func callerOf(l line) broker.Caller {
	c := broker.Caller{ProtocolVersion: l.ProtocolVersion}
	if l.Principal != nil {
		c.Principal = broker.Principal(*l.Principal)
	}
	if l.Client != nil {
		c.ClientName, c.ClientVersion = l.Client.Name, l.Client.Version
	}
	return c
}

func setTime(to *time.Time, t time.Time) {
	if !t.IsZero() {
		*to = t
	}
}
