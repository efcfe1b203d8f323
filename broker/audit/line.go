package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"fabricbroker/broker"
)

// line is one event as a file has it. The order of the fields is the order in
// the file. Beside what the design lists there is what it takes to rebuild a
// proposal from its lines alone (name, account, twin, state, since, spent, the
// deadlines, answer_state, answer_detail, result), and:
//
//   - file is the name of the file, in its first line only: a file that does not
//     begin with it has lost its beginning.
//   - count and codes are on a line that stands for many refusals.
//
// A refusal's state is what its caller was told of, perhaps no longer the last.
type line struct {
	V               int                 `json:"v"`
	Seq             uint64              `json:"seq"` // goes on from file to file of one log
	Time            time.Time           `json:"time"`
	Event           broker.EventKind    `json:"event"`
	File            string              `json:"file,omitempty"`
	ProposalID      broker.ID           `json:"proposal_id,omitempty"`
	Principal       *principal          `json:"principal,omitempty"` // who caused it
	ChangeType      broker.ChangeType   `json:"change_type,omitempty"`
	Name            string              `json:"name,omitempty"`
	Account         string              `json:"account,omitempty"` // a digest
	RequestHash     broker.Hash         `json:"request_sha256,omitempty"`
	Twin            string              `json:"twin,omitempty"` // a digest of the effect
	Client          *client             `json:"client,omitempty"`
	ProtocolVersion string              `json:"protocol_version,omitempty"`
	State           broker.State        `json:"state,omitempty"` // after the event
	Since           time.Time           `json:"since,omitzero"`
	Spent           bool                `json:"spent,omitempty"`
	MintedAt        time.Time           `json:"minted_at,omitzero"`
	ExpiresAt       time.Time           `json:"expires_at,omitzero"`
	AskUntil        time.Time           `json:"ask_until,omitzero"`
	SendBy          time.Time           `json:"send_by,omitzero"`
	Price           *price              `json:"price,omitempty"`
	Channel         string              `json:"channel,omitempty"`
	Answer          string              `json:"answer,omitempty"` // the word of human_confirmation
	AnswerState     broker.State        `json:"answer_state,omitempty"`
	AnswerDetail    string              `json:"answer_detail,omitempty"`
	By              string              `json:"by,omitempty"`
	Code            broker.Code         `json:"code,omitempty"`
	Codes           map[broker.Code]int `json:"codes,omitempty"`
	Count           int                 `json:"count,omitempty"`
	Request         json.RawMessage     `json:"request,omitempty"` // masked; proposed and sending
	CorrelationID   string              `json:"correlation_id,omitempty"`
	Outcome         broker.Outcome      `json:"outcome,omitempty"`
	UUID            string              `json:"uuid,omitempty"` // a service token's is masked
	Result          *result             `json:"result,omitempty"`
	Prev            string              `json:"prev"`
	// hash is written behind all others by encode.
	hash string
}

type principal struct {
	Kind    string `json:"kind,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	Subject string `json:"subject,omitempty"`
}

type client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// result is what else is known of an outcome.
type result struct {
	Name     string                 `json:"name,omitempty"`
	State    string                 `json:"state,omitempty"`
	Href     string                 `json:"href,omitempty"`
	Code     broker.Code            `json:"code,omitempty"`
	Detail   string                 `json:"detail,omitempty"`
	Upstream []broker.UpstreamError `json:"upstream,omitempty"`
}

const (
	// noHash stands where there is no line before.
	noHash = "0000000000000000000000000000000000000000000000000000000000000000"
	// maxLine is the longest line with its newline.
	maxLine = 1 << 20

	hashStart = `,"hash":"`
	hashEnd   = `"}`
	hashSize  = len(hashStart) + 2*sha256.Size + len(hashEnd)
)

// encode returns the line with its newline, and sets its hash: the SHA-256 of
// the line's JSON without the hash, in the very bytes that stand in the file.
// That JSON has the fields in the order of the type, no white space between
// them, and no escape that JSON does not demand (but for U+2028 and U+2029). So
// anyone can check a line by taking `,"hash":"…"` out of it:
//
//	head -n 1 FILE | sed 's/,"hash":"[0-9a-f]*"}$/}/' | tr -d '\n' | sha256sum
func (l *line) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, err
	}
	out := seal(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	l.hash = string(out[len(out)-len(hashEnd)-2*sha256.Size : len(out)-len(hashEnd)])
	return append(out, '\n'), nil
}

// seal puts the hash of an object behind its other fields.
func seal(object []byte) []byte {
	sum := sha256.Sum256(object)
	out := append([]byte{}, object[:len(object)-1]...)
	out = append(out, hashStart...)
	out = hex.AppendEncode(out, sum[:])
	return append(out, hashEnd...)
}

// Why bytes are no line.
var (
	errShape = errors.New("is no line of an audit log")
	errHash  = errors.New("does not have the hash that it says")
)

// parse reads a line without its newline. It succeeds for exactly the bytes that
// have the hash that they say.
func parse(raw []byte) (line, error) {
	at := len(raw) - hashSize
	if at < 2 || raw[0] != '{' || string(raw[at:at+len(hashStart)]) != hashStart || !bytes.HasSuffix(raw, []byte(hashEnd)) {
		return line{}, errShape
	}
	object := append(bytes.Clone(raw[:at]), '}')
	if !bytes.Equal(seal(object), raw) {
		return line{}, errHash
	}
	var l line
	if err := json.Unmarshal(object, &l); err != nil || l.V < 1 {
		return line{}, errShape
	}
	l.hash = string(raw[at+len(hashStart) : len(raw)-len(hashEnd)])
	return l, nil
}

// maxText is how much is kept of a text that a client chose.
const maxText = 256

func short(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "") }
