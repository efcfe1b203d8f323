package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

// ErrSealed says that sealed data was not sealed with these keys, this label and
// this additional data, or was changed since.
var ErrSealed = errors.New("seal: the sealed data does not open")

const (
	sealedVersion = 1
	gcmOverhead   = 12 + 16 // nonce and tag
	// sealedOverhead is by how much SealData makes data longer.
	sealedOverhead = 1 + keyIDSize + gcmOverhead
)

// SealData encrypts plaintext with AES-256-GCM under a key of its own for each
// label. It opens only with the same label and additional data. A ledger seals
// its secrets with it, with the row's id as additional data.
//
// The nonce is random: one label of one secret is good for 2^32 seals.
func (r *Keyring) SealData(label string, plaintext, aad []byte) []byte {
	k := r.first()
	head := append([]byte{sealedVersion}, k.id[:]...)
	return k.gcm(label).Seal(head, nil, plaintext, append(head[:len(head):len(head)], aad...)) //nolint:gosec // the AEAD makes its own random nonce
}

// OpenData decrypts what SealData made, with whichever key made it. Every error
// is [ErrSealed].
func (r *Keyring) OpenData(label string, sealed, aad []byte) ([]byte, error) {
	if len(sealed) < sealedOverhead || sealed[0] != sealedVersion {
		return nil, ErrSealed
	}
	head, box := sealed[:1+keyIDSize:1+keyIDSize], sealed[1+keyIDSize:]
	k := r.find(keyID(head[1:]))
	if k == nil {
		return nil, ErrSealed
	}
	b, err := k.gcm(label).Open(nil, nil, box, append(head, aad...))
	if err != nil {
		return nil, ErrSealed
	}
	return b, nil
}

// Stale reports whether sealed data was made with a key that no longer seals,
// so that a ledger can seal it again.
func (r *Keyring) Stale(sealed []byte) bool {
	return len(sealed) < sealedOverhead || keyID(sealed[1:1+keyIDSize]) != r.first().id
}

// gcm puts a random nonce in front of what it seals.
func (k *key) gcm(label string) cipher.AEAD {
	block, err := aes.NewCipher(derive(k.secret, labelSealed+label, 32))
	if err != nil {
		panic("seal: AES refused a key of 32 bytes: " + err.Error())
	}
	a, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("seal: GCM refused AES: " + err.Error())
	}
	return a
}
