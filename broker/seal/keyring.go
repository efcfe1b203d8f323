package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"log/slog"

	"fabricbroker/broker"
)

// keyIDSize is how many bytes name a key. They tell "another key" from "forged"
// and protect nothing.
const keyIDSize = 4

type keyID [keyIDSize]byte

// Keyring signs and seals with its first key and verifies and opens with all.
// It is safe for concurrent use and prints as "[redacted]". The zero value has
// no key; use [New] or [Ephemeral].
type Keyring struct{ keys []*key }

var _ broker.Tokens = (*Keyring)(nil)

// key is one secret with what is derived from it.
type key struct {
	id        keyID
	secret    []byte
	token     []byte // HMAC key of confirm tokens
	principal []byte // HMAC key of principal tags
}

// New returns the keyring of secrets, the one that signs first. It refuses an
// empty list, a zero key and the same key twice.
func New(secrets []Key) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no confirm secret; " + howToMake)
	}
	r := &Keyring{}
	for i, s := range secrets {
		secret := []byte(s.secret.Reveal())
		if len(secret) < minSecret {
			return nil, fmt.Errorf("confirm secret %d of %d is empty; %s", i+1, len(secrets), howToMake)
		}
		k := newKey(secret)
		if r.find(k.id) != nil {
			return nil, fmt.Errorf("confirm secret %d of %d is there twice; remove one of the two", i+1, len(secrets))
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// Ephemeral returns a keyring that nobody else has and that ends with the
// process.
func Ephemeral() *Keyring {
	b := make([]byte, minSecret)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return &Keyring{keys: []*key{newKey(b)}}
}

// Format implements fmt.Formatter. It hides a copied Keyring too.
func (Keyring) Format(f fmt.State, verb rune) { broker.Secret{}.Format(f, verb) }

// MarshalText implements encoding.TextMarshaler.
func (Keyring) MarshalText() ([]byte, error) { return broker.Secret{}.MarshalText() }

// LogValue implements slog.LogValuer.
func (Keyring) LogValue() slog.Value { return broker.Secret{}.LogValue() }

func newKey(secret []byte) *key {
	return &key{
		id:        keyID(derive(secret, labelKeyID, keyIDSize)),
		secret:    secret,
		token:     derive(secret, labelToken, sha256.Size),
		principal: derive(secret, labelPrincipal, sha256.Size),
	}
}

func (r *Keyring) first() *key { return r.keys[0] }

// find returns the key of that id, nil where there is none.
func (r *Keyring) find(id keyID) *key {
	for _, k := range r.keys {
		if k.id == id {
			return k
		}
	}
	return nil
}

// tag returns the principal tag that tokens carry. It is keyed: a token tells
// nobody who its principal is, not even by trying out names.
func (k *key) tag(p broker.Principal) (t principalTag) {
	m := hmac.New(sha256.New, k.principal)
	for _, s := range []string{p.Kind, p.Issuer, p.Tenant, p.Subject} {
		writeField(m, s)
	}
	copy(t[:], m.Sum(nil))
	return t
}

// writeField writes s behind its length, so that no two lists of fields are
// written alike.
func writeField(h hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}
