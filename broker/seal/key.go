package seal

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fabricbroker/broker"
)

// minSecret is how many bytes a secret has at least.
const minSecret = 32

// Key is one secret of the operator. It prints as "[redacted]". The zero value
// is no key: [New] refuses it.
type Key struct{ secret broker.Secret }

// Format implements fmt.Formatter. fmt does not call the methods of unexported
// fields, so the field's own Format would not be enough.
func (k Key) Format(f fmt.State, verb rune) { k.secret.Format(f, verb) }

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) { return k.secret.MarshalText() }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return k.secret.LogValue() }

const howToMake = "`fabric-broker secret` makes one"

// ParseSecret returns the key that s spells: hex, or base64 in either alphabet,
// padded or not, of 32 bytes or more. White space around it is ignored. Text
// that can be read as hex is hex. The error never repeats s.
func ParseSecret(s string) (Key, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Key{}, errors.New("the confirm secret is empty; " + howToMake)
	}
	b, ok := decodeSecret(s)
	if !ok {
		return Key{}, errors.New("the confirm secret is neither hex nor base64; " + howToMake)
	}
	if len(b) < minSecret {
		return Key{}, fmt.Errorf("the confirm secret has %d bytes and needs %d or more; %s", len(b), minSecret, howToMake)
	}
	return Key{broker.NewSecret(string(b))}, nil
}

// ParseSecrets returns the keys of a list of secrets, separated by commas or
// white space, the one that signs first.
func ParseSecrets(list string) ([]Key, error) {
	fields := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	if len(fields) == 0 {
		fields = []string{""}
	}
	keys := make([]Key, len(fields))
	for i, f := range fields {
		k, err := ParseSecret(f)
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

func decodeSecret(s string) ([]byte, bool) {
	if b, err := hex.DecodeString(s); err == nil {
		return b, true
	}
	// Decoders skip line breaks; a secret has none.
	if strings.ContainsAny(s, "\r\n") {
		return nil, false
	}
	for _, e := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		if b, err := e.Strict().DecodeString(s); err == nil {
			return b, true
		}
	}
	return nil, false
}

// Generate returns a new secret as text that [ParseSecret] reads: 32 random
// bytes in hex, which no shell, YAML or URL changes.
func Generate() string {
	b := make([]byte, minSecret)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return hex.EncodeToString(b)
}

// The labels under which keys are derived. A changed label makes everything
// sealed under it unreadable.
const (
	labelKeyID     = "fabric-broker v1 key id"
	labelToken     = "fabric-broker v1 confirm token"
	labelPrincipal = "fabric-broker v1 principal tag"
	labelState     = "request state"
	labelSealed    = "fabric-broker v1 sealed "
)

// derive returns n bytes for one use of the secret.
func derive(secret []byte, label string, n int) []byte {
	k, err := hkdf.Key(sha256.New, secret, nil, label, n)
	if err != nil {
		// Only a length beyond 8160 bytes, or a FIPS mode that finds the secret
		// shorter than 14 bytes, can fail, and neither can happen here.
		panic("seal: HKDF refused a constant length: " + err.Error())
	}
	return k
}
