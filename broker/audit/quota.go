package audit

import (
	"time"

	"fabricbroker/broker"
)

const (
	// maxSingle is how many refusals of a principal have a line of their own in
	// a minute. The others are counted and share one line.
	maxSingle = 60
	// maxWindows is how many principals are counted apart. Beyond that, further
	// ones are counted together.
	maxWindows = 4096
)

// quota decides which refusals have a line of their own. None is dropped: what
// has none is in the count of another. The zero value is ready.
type quota struct {
	windows map[broker.Principal]*window
	extra   int // windows that have something to say
}

// window is a principal's minute.
type window struct {
	start  time.Time
	single int
	extra  int
	codes  map[broker.Code]int
	last   broker.Event
}

func (w *window) over(now time.Time) bool {
	return now.Sub(w.start) >= time.Minute || now.Before(w.start)
}

// single reports whether e has a line of its own; otherwise it was counted.
func (q *quota) single(e broker.Event, now time.Time) bool {
	w := q.of(e.Caller.Principal, now)
	if w.extra == 0 && w.over(now) {
		*w = window{start: now}
	}
	if w.single < maxSingle {
		w.single++
		return true
	}
	if w.extra++; w.extra == 1 {
		w.codes = map[broker.Code]int{}
		q.extra++
	}
	w.codes[e.Code]++
	w.last = e
	return false
}

// of returns the window of who. When too many principals are counted, those go
// that have nothing to say; then the others share the window of nobody.
func (q *quota) of(who broker.Principal, now time.Time) *window {
	if w := q.windows[who]; w != nil {
		return w
	}
	if q.windows == nil {
		q.windows = map[broker.Principal]*window{}
	}
	if len(q.windows) >= maxWindows {
		for k, w := range q.windows {
			if w.extra == 0 && w.over(now) {
				delete(q.windows, k)
			}
		}
		if len(q.windows) >= maxWindows {
			who = broker.Principal{}
			if w := q.windows[who]; w != nil {
				return w
			}
		}
	}
	w := &window{start: now}
	q.windows[who] = w
	return w
}

// flush writes a line for every principal whose minute is over, or for all. What
// cannot be written stays counted.
func (l *Log) flush(now time.Time, all bool) {
	if l.quota.extra == 0 {
		return
	}
	for who, w := range l.quota.windows {
		if w.extra == 0 || !all && !w.over(now) {
			continue
		}
		ln := line{V: 1, Time: w.last.Time.UTC(), Event: broker.EventRefused, Codes: w.codes, Count: w.extra}
		if who != (broker.Principal{}) {
			ln.Principal = &principal{who.Kind, who.Issuer, who.Tenant, who.Subject}
		}
		if l.append(ln, false) != nil {
			return
		}
		l.quota.extra--
		delete(l.quota.windows, who)
	}
}

// flushLater has the counts written when their minute is over, although nothing
// else happens.
func (l *Log) flushLater() {
	if l.minute != nil {
		return
	}
	l.minute = time.AfterFunc(time.Minute, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.minute = nil
		if l.closed {
			return
		}
		if l.flush(l.o.Now(), false); l.quota.extra > 0 {
			l.flushLater()
		}
	})
}
