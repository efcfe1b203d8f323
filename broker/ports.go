package broker

import (
	"context"
	"time"

	"fabricbroker/pricing"
)

// Provider is the API on which assets are created.
type Provider interface {
	// Compile turns a spec into a Request. It is pure: no network, and the same
	// spec gives the same Request. A non-zero now also applies the rules that
	// look at the clock; recompiling a stored spec passes the zero time. Its
	// error is a *Refusal with ErrInvalidSpec and every issue at once.
	Compile(t ChangeType, spec []byte, now time.Time) (Request, error)
	// Validate reads what r refers to and has the API's dry run judge its exact
	// bytes. A nil error means that the dry run passed (I1). Its errors are
	// *Refusals: preflight_failed, the dry_run_… and upstream_… codes.
	Validate(ctx context.Context, r Request) (Validation, error)
	// Create sends r once and never again. It reports what it knows as an
	// Outcome, never as an error. sendBy is when the first byte may last leave.
	Create(ctx context.Context, r Request, id ID, sendBy time.Time) Result
	// Find returns the assets that a create may have made, on every page of the
	// provider's search, deleted and failed ones included. An error means that
	// not everything was seen: nothing can be concluded from what is missing.
	Find(ctx context.Context, s Search) ([]Asset, error)
}

// Search is what is known of a create whose answer was lost.
type Search struct {
	ChangeType ChangeType
	Name       string
	// Body is the masked request.
	Body []byte
	// Since is the earliest time, by the provider's clock, at which it can have
	// been made.
	Since time.Time
	// Before are the uuids that matched before the create was sent.
	Before []string
}

// Asset is an asset as a search shows it. Values are the provider's words.
type Asset struct {
	UUID      string `json:"uuid"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Href      string `json:"href"`
	CreatedAt string `json:"created_at"`
}

// Quoter says what a request would cost. It never fails: what it cannot find
// out is an unpriced Quote with the reason (I11).
type Quoter interface {
	Quote(ctx context.Context, r Request) pricing.Quote
}

// Ledger keeps proposals. Every call is atomic and uses the ledger's own clock.
// A Ledger that cannot be reached returns ErrLedgerUnavailable.
type Ledger interface {
	// Add stores a pending proposal that lives for o.Lifetime, and evicts the
	// principal's oldest pending one beyond o.MaxPending. It returns what it
	// stored. ErrRateLimited: the ledger is full.
	Add(ctx context.Context, p Proposal, o AddOptions) (Added, error)
	// Load returns a proposal. ErrProposalUnknown: never here, or swept.
	Load(ctx context.Context, id ID) (Proposal, error)
	// List returns what q matches, newest first.
	List(ctx context.Context, q Query) ([]Proposal, error)
	// Move makes one step. Errors: ErrProposalUnknown, *LostError (the proposal
	// is in another state), ErrTokenExpired, ErrSameRequestUnresolved,
	// ErrDailyCeiling, ErrRateLimited, ErrHalted.
	Move(ctx context.Context, s Step) (Moved, error)
}

// AddOptions bound what is kept.
type AddOptions struct {
	// Lifetime is what is left of the time to live, counted from MintedAt.
	Lifetime time.Duration
	// MaxPending is how many pending proposals a principal may have.
	MaxPending int
}

// Added is a stored proposal and what had to go for it.
type Added struct {
	Proposal Proposal
	Evicted  []Proposal
}

// Query selects proposals. Zero fields select all.
type Query struct {
	Principal Principal
	Hash      Hash
	Twin      string
	Account   string
	States    []State
	Limit     int
}

// Step is one transition and its conditions, all checked in one statement.
type Step struct {
	ID   ID
	From []State
	To   State

	// Unexpired refuses the step with ErrTokenExpired after expiry (I6).
	Unexpired bool
	// MaxAsking, for a step to asking, bounds the principal's waiting prompts.
	MaxAsking int
	// MaxCreates, for a step to sending, bounds the creates of 24 hours. A step
	// to sending is also refused while another proposal of the same hash and
	// account is sending or unknown (I12).
	MaxCreates int

	// What is set; zero values leave what is there.
	Spend       bool
	Code        Code
	Answer      *Answer
	Result      *Result
	AskUntil    time.Time
	SendBy      time.Time
	Attention   []string
	ConfirmCode string
}

// Moved is a proposal after a step. A step to asking ends the same principal's
// equal proposals that are asking: those are Superseded.
type Moved struct {
	Proposal   Proposal
	Superseded []Proposal
}

// LostError says that a step came too late: Proposal is what won.
type LostError struct{ Proposal Proposal }

// Error implements error.
func (e *LostError) Error() string { return "the proposal is already " + string(e.Proposal.State) }

// Recorder is told of every event before its effect, where that effect could
// cost money. An error refuses what has not happened yet.
type Recorder interface {
	Record(ctx context.Context, e Event) error
}

// Event is one line of a proposal's story.
type Event struct {
	Time     time.Time
	Kind     EventKind
	Proposal Proposal
	// Caller is who caused it; it differs from the proposal's where somebody
	// else's token was used.
	Caller Caller
	Code   Code
	// Count is how many equal events a summarised one stands for.
	Count int
}

// EventKind names an event.
type EventKind string

// The events.
const (
	EventProposed   EventKind = "proposed"
	EventRefused    EventKind = "refused"
	EventAsked      EventKind = "asked"
	EventAnswered   EventKind = "answered"
	EventSending    EventKind = "sending"
	EventCreated    EventKind = "created"
	EventRejected   EventKind = "rejected"
	EventUnknown    EventKind = "unknown"
	EventNotSent    EventKind = "not_sent"
	EventStopped    EventKind = "stopped"
	EventResolved   EventKind = "resolved"
	EventWithdrawn  EventKind = "withdrawn"
	EventSuperseded EventKind = "superseded"
	EventExpired    EventKind = "expired"
	EventEvicted    EventKind = "evicted"
	EventHalted     EventKind = "halted"
)

// Claims are what an authentic confirm token says.
type Claims struct {
	ID   ID
	Hash Hash
}

// Tokens mints and opens confirm tokens.
type Tokens interface {
	// Mint returns the confirm token of p for the tool that may spend it.
	Mint(p Proposal, tool string) (Secret, error)
	// Open verifies a token. Its errors are *Refusals: token_missing,
	// token_malformed, token_forged, token_unknown, wrong_tool,
	// wrong_principal. No state is consulted: a forged token never reaches the
	// ledger. With wrong_principal the claims are returned too.
	Open(token Secret, tool string, who Principal, account string) (Claims, error)
}

// Intent is a create that is about to be sent: enough to search for and compare
// what it may have made, should the answer be lost.
type Intent struct {
	Account    string     `json:"account"`
	ProposalID ID         `json:"proposal_id"`
	ChangeType ChangeType `json:"change_type"`
	Name       string     `json:"name"`
	Hash       Hash       `json:"request_sha256"`
	Twin       string     `json:"twin,omitempty"`
	Principal  Principal  `json:"principal"`
	MintedAt   time.Time  `json:"minted_at"`
	ClaimedAt  time.Time  `json:"claimed_at"`
	SendBy     time.Time  `json:"send_by"`
	Path       string     `json:"path"`
	Request    []byte     `json:"request"` // masked
	// Since and Before bound the search for what it may have made.
	Since  time.Time `json:"since"`
	Before []string  `json:"before,omitempty"`
	// Verdict is a person's last word, nil while there is none.
	Verdict *Verdict `json:"verdict,omitempty"`
}

// Verdict is a person's last word on a create whose outcome is not known.
type Verdict struct {
	UUID   string    `json:"uuid,omitempty"` // "" = absent
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// search is the search for what i may have made.
func (i Intent) search() Search {
	return Search{ChangeType: i.ChangeType, Name: i.Name, Body: i.Request, Since: i.Since, Before: i.Before}
}

// Intents is the durable list of creates nobody has seen the end of. It is what
// I7 and I12 stand on across processes and crashes.
type Intents interface {
	// Claim writes and syncs i. ErrSameRequestUnresolved: another create of
	// this hash and account is unresolved. ErrAuditUnavailable: it could not
	// be written.
	Claim(ctx context.Context, i Intent) error
	// Settle removes the intent of a create whose outcome is on record. Only
	// the proposal that claimed it can.
	Settle(ctx context.Context, account string, h Hash, id ID) error
	// List returns every unresolved intent.
	List(ctx context.Context) ([]Intent, error)
	// Adopt makes an intent this process's own, if the one that claimed it is
	// gone and the create's deadline plus a minute is past. It reports whether
	// it did; another process may have been faster.
	Adopt(ctx context.Context, i Intent) (bool, error)
}

// Halt is the operator's stop switch. While it is set no dry run and no create
// is sent.
type Halt interface {
	// Halted returns the reason, "" while nothing is halted.
	Halted(ctx context.Context) (string, error)
	// Set halts everything, durably.
	Set(ctx context.Context, reason string) error
}
