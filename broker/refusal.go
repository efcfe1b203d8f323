package broker

import "fmt"

// Refusal is a correct no: what happened, to what, and what the reader does
// now. Message and NextStep are lower case, without a full stop and free of
// secrets; a model reads them.
type Refusal struct {
	Code     Code
	Message  string
	NextStep string
	// Issues are the problems of a spec, each with the path of the field.
	Issues []Issue
	// Upstream are the provider's own errors, scrubbed of secrets.
	Upstream []UpstreamError
	// Checks says which of the confirm checks were reached; nil outside a confirm.
	Checks *Checks
	// Previous is what became of the proposal of a replayed token.
	Previous *Previous
	// Spent says that this confirm, or an earlier one, has spent the token.
	Spent bool
	// Result is an asset that exists although nothing should have created it:
	// only with ErrDryRunCreated.
	Result *Result
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Message) }

// Unwrap makes errors.Is(err, broker.ErrTokenExpired) work.
func (r *Refusal) Unwrap() error { return r.Code }

// Refuse returns a Refusal with a formatted message.
func Refuse(c Code, next, format string, args ...any) *Refusal {
	return &Refusal{Code: c, Message: fmt.Sprintf(format, args...), NextStep: next}
}

// Issue is one problem, or one warning, about a field of a spec.
type Issue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// UpstreamError is one error as the provider worded it. Path is the spec's name
// of Property where we know it.
type UpstreamError struct {
	Code          string `json:"code,omitempty"`
	Message       string `json:"message,omitempty"`
	Details       string `json:"details,omitempty"`
	Property      string `json:"property,omitempty"`
	Path          string `json:"path,omitempty"`
	CorrelationID string `json:"correlation_id,omitempty"`
}

// Checks are the checks of a confirm in their order. nil means not reached.
type Checks struct {
	ProposalExists        *bool `json:"proposal_exists"`
	NotEvicted            *bool `json:"not_evicted"`
	NotPreviouslyUsed     *bool `json:"not_previously_used"`
	NotExpired            *bool `json:"not_expired"`
	RequestMatchesBinding *bool `json:"request_matches_binding"`
}

// Previous is what is recorded for a proposal whose token was used before.
type Previous struct {
	ProposalID ID
	State      State
	Outcome    Outcome
	UUID       string // masked where it is a secret
	At         string // RFC 3339, when that state was reached
}
