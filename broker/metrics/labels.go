package metrics

import "fabricbroker/broker"

// The steps that have a histogram.
const (
	StepLookUp   = "look_up"
	StepDryRun   = "dry_run"
	StepPrice    = "price"
	StepDecision = "decision" // observed by Record itself
	StepCreate   = "create"
)

// other is the label of what is in no set.
const other = "other"

type set[T comparable] map[T]struct{}

func setOf[T comparable](values ...T) set[T] {
	s := set[T]{}
	for _, v := range values {
		s[v] = struct{}{}
	}
	return s
}

// known returns v if it is in s, and other if not.
func known[T ~string](s set[T], v T) T {
	if _, ok := s[v]; ok {
		return v
	}
	return other
}

var steps = setOf(StepLookUp, StepDryRun, StepPrice, StepDecision, StepCreate)

var events = setOf(
	broker.EventProposed, broker.EventRefused, broker.EventAsked, broker.EventAnswered, broker.EventSending,
	broker.EventCreated, broker.EventRejected, broker.EventUnknown, broker.EventNotSent, broker.EventStopped,
	broker.EventResolved, broker.EventWithdrawn, broker.EventSuperseded, broker.EventExpired, broker.EventEvicted, broker.EventHalted,
)

var codes = setOf(
	broker.ErrInvalidArguments, broker.ErrInvalidSpec, broker.ErrPreflightFailed, broker.ErrDryRunRejected,
	broker.ErrDryRunUnsupported, broker.ErrDryRunUnclear, broker.ErrDryRunCreated, broker.ErrUpstreamRejected,
	broker.ErrUpstreamUnavailable, broker.ErrUpstreamUnauthorized, broker.ErrUpstreamRateLimited, broker.ErrRateLimited,
	broker.ErrCoolingDown, broker.ErrTokenMissing, broker.ErrTokenMalformed, broker.ErrTokenForged, broker.ErrTokenUnknown,
	broker.ErrTokenEvicted, broker.ErrNotPending, broker.ErrTokenReplayed, broker.ErrTokenExpired, broker.ErrWrongTool,
	broker.ErrWrongPrincipal, broker.ErrRequestChanged, broker.ErrSameRequestUnresolved, broker.ErrPriceChanged,
	broker.ErrPreviewMode, broker.ErrHalted, broker.ErrDailyCeiling, broker.ErrLedgerUnavailable, broker.ErrAuditUnavailable,
	broker.ErrProposalUnknown, broker.ErrNotFound, broker.ErrUpstreamAsksUser, broker.ErrInternal,
)
