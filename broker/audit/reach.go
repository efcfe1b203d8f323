package audit

import "fabricbroker/broker"

// states are all states.
var states = []broker.State{
	broker.Pending, broker.Asking, broker.Approved, broker.Sending, broker.Created, broker.Rejected, broker.NotSent,
	broker.Unknown, broker.Absent, broker.Declined, broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled,
	broker.UnsupportedByClient, broker.Expired, broker.Withdrawn, broker.Superseded, broker.Stopped, broker.Evicted,
}

// reaches reports whether a proposal that is in from can come to be in to, in any
// number of steps.
func reaches(from, to broker.State) bool {
	seen := map[broker.State]bool{}
	var walk func(broker.State) bool
	walk = func(s broker.State) bool {
		if s.CanBecome(to) {
			return true
		}
		for _, next := range states {
			if s.CanBecome(next) && !seen[next] {
				seen[next] = true
				if walk(next) {
					return true
				}
			}
		}
		return false
	}
	return walk(from)
}
