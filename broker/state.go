package broker

import "slices"

// State is where a proposal stands. The set is closed.
type State string

// The states, grouped by what may still happen.
const (
	Pending  State = "pending"  // waits for its token
	Asking   State = "asking"   // the token is spent, a person is asked
	Approved State = "approved" // an approval is on record
	Sending  State = "sending"  // the create may have left

	Created  State = "created"
	Rejected State = "rejected"
	NotSent  State = "not_sent"

	Unknown State = "unknown" // the answer was lost; the asset may exist
	Absent  State = "absent"  // looked for and not found; not final

	Declined            State = "declined"
	Cancelled           State = "cancelled"
	TimedOut            State = "timed_out"
	Failed              State = "failed"
	CallCancelled       State = "call_cancelled"
	UnsupportedByClient State = "unsupported_by_client"
	Expired             State = "expired"
	Withdrawn           State = "withdrawn"
	Superseded          State = "superseded"
	Stopped             State = "stopped" // the proposal's Code says why
	Evicted             State = "evicted"
)

// transitions is the whole life of a proposal. Whatever is not here cannot
// happen: every Ledger refuses it.
var transitions = map[State][]State{
	Pending: {Asking, Expired, Evicted, Withdrawn},
	Asking: {
		Approved, Declined, Cancelled, TimedOut, Failed, CallCancelled,
		UnsupportedByClient, Expired, Withdrawn, Superseded, Stopped,
	},
	Approved: {Sending, Stopped, CallCancelled, Expired, Created},
	Sending:  {Created, Rejected, Unknown, NotSent},
	Unknown:  {Created, Absent, Rejected, NotSent},
	Absent:   {Created, Absent, Rejected, NotSent},
}

// CanBecome reports whether the transition table has a step from s to t.
func (s State) CanBecome(t State) bool { return slices.Contains(transitions[s], t) }

// Settled reports whether nothing but a later, more definite answer can follow.
// Unknown and Absent are not settled: a look may still find the asset.
func (s State) Settled() bool { return len(transitions[s]) == 0 }

// Unresolved reports whether a create may have happened that nobody has seen
// the end of. While it holds, the same request is refused (I8, I12).
func (s State) Unresolved() bool { return s == Sending || s == Unknown }

// Outcome is what a proposal came to, in the words of a confirm result. The
// zero value means that it has not ended.
type Outcome string

// The outcomes.
const (
	OutcomeNone     Outcome = ""
	OutcomeCreated  Outcome = "created"
	OutcomeRejected Outcome = "rejected"
	OutcomeNotSent  Outcome = "not_sent"
	OutcomeUnknown  Outcome = "unknown"
	OutcomeAbsent   Outcome = "absent"
)

// Outcome returns what s came to: every end without a send is not_sent.
func (s State) Outcome() Outcome {
	switch s {
	case Pending, Asking, Approved, Sending:
		return OutcomeNone
	case Created:
		return OutcomeCreated
	case Rejected:
		return OutcomeRejected
	case Unknown:
		return OutcomeUnknown
	case Absent:
		return OutcomeAbsent
	case NotSent, Declined, Cancelled, TimedOut, Failed, CallCancelled,
		UnsupportedByClient, Expired, Withdrawn, Superseded, Stopped, Evicted:
		return OutcomeNotSent
	}
	panic("broker: a state without an outcome: " + string(s))
}
