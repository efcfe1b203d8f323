package broker

// Code names a refusal or a failure. It is a closed set that clients may switch
// on, and an error, so that errors.Is(err, broker.ErrTokenExpired) reads well.
type Code string

// Error implements error.
func (c Code) Error() string { return string(c) }

// The codes, in the order in which a request can meet them.
const (
	ErrInvalidArguments      Code = "invalid_arguments"
	ErrInvalidSpec           Code = "invalid_spec"
	ErrPreflightFailed       Code = "preflight_failed"
	ErrDryRunRejected        Code = "dry_run_rejected"
	ErrDryRunUnsupported     Code = "dry_run_unsupported"
	ErrDryRunUnclear         Code = "dry_run_unclear"
	ErrDryRunCreated         Code = "dry_run_created"
	ErrUpstreamRejected      Code = "upstream_rejected"
	ErrUpstreamUnavailable   Code = "upstream_unavailable"
	ErrUpstreamUnauthorized  Code = "upstream_unauthorized"
	ErrUpstreamRateLimited   Code = "upstream_rate_limited"
	ErrRateLimited           Code = "rate_limited"
	ErrCoolingDown           Code = "cooling_down"
	ErrTokenMissing          Code = "token_missing"
	ErrTokenMalformed        Code = "token_malformed"
	ErrTokenForged           Code = "token_forged"
	ErrTokenUnknown          Code = "token_unknown"
	ErrTokenEvicted          Code = "token_evicted"
	ErrNotPending            Code = "not_pending"
	ErrTokenReplayed         Code = "token_replayed"
	ErrTokenExpired          Code = "token_expired"
	ErrWrongTool             Code = "wrong_tool"
	ErrWrongPrincipal        Code = "wrong_principal"
	ErrRequestChanged        Code = "request_changed"
	ErrSameRequestUnresolved Code = "same_request_unresolved"
	ErrPriceChanged          Code = "price_changed"
	ErrPreviewMode           Code = "preview_mode"
	ErrHalted                Code = "halted"
	ErrDailyCeiling          Code = "daily_ceiling"
	ErrLedgerUnavailable     Code = "ledger_unavailable"
	ErrAuditUnavailable      Code = "audit_unavailable"
	ErrProposalUnknown       Code = "proposal_unknown"
	ErrNotFound              Code = "not_found"
	ErrUpstreamAsksUser      Code = "upstream_asks_user"
	ErrInternal              Code = "internal"
)
