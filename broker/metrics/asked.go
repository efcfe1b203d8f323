package metrics

import (
	"sync"
	"time"

	"fabricbroker/broker"
)

// maxAsked bounds the questions that are remembered. Few wait at a time.
const maxAsked = 10_000

// asked remembers when questions were asked: what answers them does not say. The
// zero value is ready.
type asked struct {
	mu sync.Mutex
	at map[broker.ID]time.Time
}

// decided reports how long a person took, where e is a person's decision on a
// question of this process.
func (a *asked) decided(e broker.Event) (time.Duration, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := e.Proposal.ID
	switch e.Kind { //nolint:exhaustive // what begins and ends a question
	case broker.EventAsked:
		if a.at == nil {
			a.at = map[broker.ID]time.Time{}
		}
		if len(a.at) < maxAsked {
			a.at[id] = e.Time
		}
	case broker.EventAnswered:
		at, ok := a.at[id]
		delete(a.at, id)
		return e.Time.Sub(at), ok && byPerson(e.Proposal.Answer)
	case broker.EventWithdrawn, broker.EventSuperseded, broker.EventStopped, broker.EventExpired:
		delete(a.at, id)
	}
	return 0, false
}

// byPerson reports whether somebody answered, and not a deadline, a client that
// cannot ask or a call that ended.
func byPerson(a *broker.Answer) bool {
	if a == nil {
		return false
	}
	switch a.Status {
	case broker.StatusAccepted, string(broker.Declined), string(broker.Cancelled):
		return true
	}
	return false
}
