package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"fabricbroker/pricing"
)

// ChangeType names what a proposal would create.
type ChangeType string

// The change types: creates whose dry run the Fabric specification documents.
const (
	ConnectionCreate   ChangeType = "connection_create"
	NetworkCreate      ChangeType = "network_create"
	ServiceTokenCreate ChangeType = "service_token_create"
	CloudRouterCreate  ChangeType = "cloud_router_create"
)

// ChangeTypes returns the change types in the order in which they are listed.
func ChangeTypes() []ChangeType {
	return []ChangeType{ConnectionCreate, NetworkCreate, ServiceTokenCreate, CloudRouterCreate}
}

// Hash is a request hash: SHA-256 of the change type, a newline and the
// canonical body, in lower-case hex. It is what is shown, bound and sent (I4).
type Hash string

// HashRequest returns the hash of a request of type t with the canonical body.
func HashRequest(t ChangeType, body []byte) Hash {
	h := sha256.New()
	h.Write([]byte(t))
	h.Write([]byte{'\n'})
	h.Write(body)
	return Hash(hex.EncodeToString(h.Sum(nil)))
}

// Request is what a spec compiles to. Compiling the same spec again gives the
// same Request, byte for byte.
type Request struct {
	ChangeType ChangeType
	// Name is the asset's own name.
	Name string
	// Method and Path address the create; the dry run adds a query.
	Method, Path string
	// Body is RFC 8785 canonical JSON, byte for byte what goes on the wire in
	// the dry run and in the create.
	Body []byte
	Hash Hash
	// Twin names the effect: two requests with the same Twin would make the same
	// thing twice, whatever they are called. "" = not known.
	Twin string
	// Secrets are JSON pointers into Body whose values are masked wherever a
	// person, a model or a log reads them.
	Secrets []string
	// Brief is what can be said without a look-up; Validation has a better one.
	Brief Brief
	// Item is what decides the price, as far as the spec says it.
	Item     pricing.Item
	Warnings []Issue
}

// Brief is a request in the few lines by which a person decides. Every value in
// it that an agent or an upstream chose has gone through [Quote] or is a
// checked code or number, so that no value can forge a line.
type Brief struct {
	// What is the thing and its size: `EVPL_VC connection "dc-aws-01", 50 Mbps`.
	What string
	// From and To are the two ends of a connection. For other creates From says
	// where it will be, and To what it opens or serves ("" where there is none).
	From, To string
	// Account is whose: project and account number where known.
	Account string
	// Pays says who is billed where that is not simply the account above.
	Pays string
	// Billable is false for a create that costs nothing by itself.
	Billable bool
}

// Validation is what the provider said of a request: its dry run passed.
type Validation struct {
	// Entity is the provider's normalised echo, masked, as JSON.
	Entity []byte
	// Differences are values the dry run would change.
	Differences []Difference
	// Brief has the names that the look-ups brought.
	Brief Brief
	// Warnings are what could not be checked, or deserves a look.
	Warnings []Issue
	// Date is the provider's own time of the dry run, zero where it gave none.
	Date time.Time
	// Twins are assets that exist and have the same effect.
	Twins []Asset
}

// Difference is a value that came back from the dry run other than it was sent.
// Sent and Returned are JSON texts, masked.
type Difference struct {
	Path     string `json:"path"`
	Sent     string `json:"sent"`
	Returned string `json:"returned"`
}

// Result is what a create came to. Outcome is created, rejected, not_sent or
// unknown.
type Result struct {
	Outcome Outcome
	UUID    string // the secret itself where the asset is a service token
	Name    string
	State   string // the provider's word, verbatim
	Href    string
	// Code and Upstream say why, where it was rejected or not sent.
	Code     Code
	Upstream []UpstreamError
	// Detail is what is known of an answer that proves nothing, in plain words.
	Detail        string
	CorrelationID string
}
