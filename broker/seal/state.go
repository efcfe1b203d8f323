package seal

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fabricbroker/broker"
)

// ErrState says that a request state is not one of ours for this tool, principal
// and era. It does not say why: whoever sent it could only learn from that.
var ErrState = errors.New("seal: the request state does not open")

// State is what a question sends along for its answer to bring back. The client
// holds it meanwhile and must be able neither to read nor to change it.
type State struct {
	ID        broker.ID
	Hash      broker.Hash
	Principal broker.Principal
	Tool      string
	Era       string // the protocol version that it was asked in
	// Nonce tells one question from every other. SealState replaces a zero one.
	Nonce [nonceSize]byte
	// Deadline is when asking ends, to the millisecond. Opening does not compare
	// it: an answer that comes late has its own words.
	Deadline time.Time
}

const (
	nonceSize = 16
	plainSize = idSize + len(requestHash{}) + nonceSize + 8
	stateSize = plainSize + sealedOverhead
)

// stateLen is the length of every request state: 140.
const stateLen = stateSize / 3 * 4

// SealState returns the text of s. Its error is a failure: s must have an id
// that is a uuid in lower case, a request hash, a principal, a tool and an era.
func (r *Keyring) SealState(s State) (broker.Secret, error) {
	id, err := packID(s.ID)
	if err != nil {
		return broker.Secret{}, fmt.Errorf("seal: request state: %w", err)
	}
	hash, err := packHash(s.Hash)
	if err != nil {
		return broker.Secret{}, fmt.Errorf("seal: request state: %w", err)
	}
	if s.Tool == "" || s.Era == "" || s.Principal == (broker.Principal{}) {
		return broker.Secret{}, errors.New("seal: request state: no tool, era or principal to bind it to")
	}
	if s.Nonce == [nonceSize]byte{} {
		_, _ = rand.Read(s.Nonce[:]) // never fails: the runtime ends the process instead
	}
	b := make([]byte, 0, plainSize)
	b = append(b, id[:]...)
	b = append(b, hash[:]...)
	b = append(b, s.Nonce[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.Deadline.UnixMilli()))
	sealed := r.SealData(labelState, b, bindState(s.Tool, s.Principal, s.Era))
	return broker.NewSecret(encoding.EncodeToString(sealed)), nil
}

// OpenState returns what text carries if it was sealed for tool, who and era.
// Every other text gives [ErrState].
func (r *Keyring) OpenState(text, tool string, who broker.Principal, era string) (State, error) {
	if len(text) != stateLen {
		return State{}, ErrState
	}
	sealed, err := encoding.DecodeString(text)
	if err != nil || len(sealed) != stateSize || encoding.EncodeToString(sealed) != text {
		return State{}, ErrState
	}
	b, err := r.OpenData(labelState, sealed, bindState(tool, who, era))
	if err != nil || len(b) != plainSize {
		return State{}, ErrState
	}
	s := State{Principal: who, Tool: tool, Era: era}
	var id [idSize]byte
	b = b[copy(id[:], b):]
	s.ID = unpackID(id)
	s.Hash = broker.Hash(hex.EncodeToString(b[:len(requestHash{})]))
	b = b[len(requestHash{}):]
	b = b[copy(s.Nonce[:], b):]
	s.Deadline = time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC()
	return s, nil
}

// bindState is what a state is sealed to without carrying it.
func bindState(tool string, who broker.Principal, era string) []byte {
	var b []byte
	for _, s := range []string{tool, era, who.Kind, who.Issuer, who.Tenant, who.Subject} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}
