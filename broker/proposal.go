package broker

import (
	"time"

	"fabricbroker/pricing"
)

// ID names a proposal. It is no secret and no proof of anything.
type ID string

// Principal is who calls. It is comparable. The zero value is nobody.
type Principal struct {
	Kind    string // "local", "jwt", "static"
	Issuer  string
	Tenant  string
	Subject string
}

// Local is the one principal of a server on stdio.
var Local = Principal{Kind: "local"}

// Account is the provider account that an approved request would bill.
type Account struct {
	// Identity is a digest of the API endpoint and the client id: the provider
	// identity that tokens and unresolved creates are bound to.
	Identity string
	// Endpoint is the API's host as a person knows it, without a scheme.
	Endpoint string
	// Production is true only for the provider's production API.
	Production bool
}

// Caller is who calls and with what.
type Caller struct {
	Principal       Principal
	ClientName      string
	ClientVersion   string
	ProtocolVersion string
}

// Proposal is a request that passed its dry run.
type Proposal struct {
	ID         ID
	ChangeType ChangeType
	Name       string
	Hash       Hash
	// Twin names the effect, see Request.Twin.
	Twin   string
	Caller Caller
	// Account is the provider identity it was made for.
	Account string

	State State
	// Since is when State was reached, by the ledger's clock.
	Since time.Time
	// Code says why a stopped one was stopped.
	Code Code
	// Spent says that a confirm has reached the ledger (I5).
	Spent bool

	// MintedAt is before the dry run; ExpiresAt counts from it.
	MintedAt, ExpiresAt time.Time
	// AskUntil is when asking ends, SendBy when a create may last begin.
	AskUntil, SendBy time.Time

	Quote  pricing.Quote
	Answer *Answer
	Result *Result
	// Payload is dropped once nothing can be sent or compared any more.
	Payload *Payload
}

// Payload is what a proposal needs only until it ends.
type Payload struct {
	Spec        []byte
	Body        []byte // masked: for people
	Method      string
	Path        string
	Brief       Brief
	Differences []Difference
	Warnings    []Issue
	DryRunAt    time.Time
	// DryRunDate is the provider's own time of the dry run.
	DryRunDate time.Time
	// Twins are assets with the same effect that existed at propose.
	Twins []Asset
	// Attention is what stands above the prompt; ConfirmCode is what must be
	// typed into the form, "" where none is asked.
	Attention   []string
	ConfirmCode string
}

// Answer is what became of a question. State is one of the states that follow
// asking; only Approved lets anything happen.
type Answer struct {
	State   State
	Channel string // "form", "page", "terminal", "none"
	// Hash is of the request that the person was shown, which every channel
	// sets: an approval holds for nothing else (I3, I4).
	Hash   Hash
	By     string // who decided, where that is not the principal
	Detail string // plain words for the result, free of secrets
	// Status is the word of human_confirmation. It differs from State where the
	// operator's opt-in approves for a client that cannot ask, or where an
	// acceptance came too late.
	Status string
}

// StatusAccepted is the human_confirmation of an accepted form.
const StatusAccepted = "accepted"
