package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"fabricbroker/broker"
)

// tokenPrefix makes a confirm token recognisable to people and to scanners.
const tokenPrefix = "chg-"

const (
	tokenVersion = 1
	toolTagSize  = 4
	idSize       = 16
	expirySize   = 5 // seconds since 1970, until the year 36812
	tagSize      = 8

	tokenSize = 1 + keyIDSize + toolTagSize + idSize + expirySize + tagSize + sha256.Size + sha256.Size
	// tokenLen is the length of every token: 140.
	tokenLen = len(tokenPrefix) + tokenSize/3*4
)

// encoding is base64url without padding. Every text of ours has one spelling:
// sizes are multiples of three, so no bits are spare, and the exact length leaves
// no room for the line breaks that the decoder would skip. Opening re-encodes all
// the same, for the day on which a size changes.
var encoding = base64.RawURLEncoding.Strict()

type (
	toolTag      [toolTagSize]byte
	principalTag [tagSize]byte
	requestHash  [sha256.Size]byte
)

// token is a confirm token taken apart.
type token struct {
	key       keyID
	tool      toolTag
	id        [idSize]byte
	expiry    [expirySize]byte
	principal principalTag
	hash      requestHash
	mac       [sha256.Size]byte
}

// Mint returns the confirm token of p, which only tool may spend. Its error is a
// failure: p must have an id that is a uuid in lower case, a request hash and a
// principal.
func (r *Keyring) Mint(p broker.Proposal, tool string) (broker.Secret, error) {
	k := r.first()
	t := token{key: k.id, tool: tagTool(tool), expiry: packTime(p.ExpiresAt), principal: k.tag(p.Caller.Principal)}
	var err error
	if t.id, err = packID(p.ID); err != nil {
		return broker.Secret{}, fmt.Errorf("seal: mint a token: %w", err)
	}
	if t.hash, err = packHash(p.Hash); err != nil {
		return broker.Secret{}, fmt.Errorf("seal: mint a token: %w", err)
	}
	if tool == "" || p.Caller.Principal == (broker.Principal{}) {
		return broker.Secret{}, errors.New("seal: mint a token: no tool or no principal to bind it to")
	}
	t.mac = k.sign(t, p.Account)
	return broker.NewSecret(t.text()), nil
}

// Open verifies text in the order in which its parts can be trusted: shape, key,
// signature, tool, principal. The signature covers account too, so a token that
// was minted for another one is token_forged here. The expiry inside is for
// readers: the ledger's clock decides.
func (r *Keyring) Open(text broker.Secret, tool string, who broker.Principal, account string) (broker.Claims, error) {
	if text.IsZero() {
		return broker.Claims{}, broker.Refuse(broker.ErrTokenMissing,
			"pass the confirm_token that fabric_propose_change returned",
			"no confirm token was given")
	}
	t, ok := parseToken(text.Reveal())
	if !ok {
		return broker.Claims{}, broker.Refuse(broker.ErrTokenMalformed,
			"pass confirm_token exactly as fabric_propose_change returned it, whole and unchanged",
			"that is not the text of a confirm token: one is %q and %d more characters", tokenPrefix, tokenLen-len(tokenPrefix))
	}
	k := r.find(t.key)
	if k == nil {
		return broker.Claims{}, broker.Refuse(broker.ErrTokenUnknown,
			"look at your recent proposals with fabric_change_status, and propose the change again only if it was not created",
			"this confirm token was made by another process or before a restart")
	}
	if mac := k.sign(t, account); !hmac.Equal(mac[:], t.mac[:]) {
		return broker.Claims{}, broker.Refuse(broker.ErrTokenForged,
			"pass confirm_token exactly as fabric_propose_change returned it, or propose the change again",
			"this confirm token is not one that this server made for this provider account: its signature does not match")
	}
	if want := tagTool(tool); !hmac.Equal(want[:], t.tool[:]) {
		return broker.Claims{}, broker.Refuse(broker.ErrWrongTool,
			"pass it to the tool that its proposal named; the token is not spent",
			"this confirm token was made for another tool")
	}
	claims := broker.Claims{ID: unpackID(t.id), Hash: broker.Hash(hex.EncodeToString(t.hash[:]))}
	if want := k.tag(who); !hmac.Equal(want[:], t.principal[:]) {
		return claims, broker.Refuse(broker.ErrWrongPrincipal,
			"only the one who proposed the change can confirm it; propose it yourself",
			"this confirm token was made for somebody else")
	}
	return claims, nil
}

// parseToken takes text apart; it accepts only what text gives back unchanged.
func parseToken(text string) (token, bool) {
	raw, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) != tokenLen {
		return token{}, false
	}
	b, err := encoding.DecodeString(raw)
	if err != nil || len(b) != tokenSize || b[0] != tokenVersion {
		return token{}, false
	}
	var t token
	b = b[1:]
	for _, part := range t.parts() {
		b = b[copy(part, b):]
	}
	return t, t.text() == text
}

// parts are the fields in the order of the wire, the signature last.
func (t *token) parts() [][]byte {
	return [][]byte{t.key[:], t.tool[:], t.id[:], t.expiry[:], t.principal[:], t.hash[:], t.mac[:]}
}

func (t *token) text() string {
	b := make([]byte, 0, tokenSize)
	b = append(b, tokenVersion)
	for _, part := range t.parts() {
		b = append(b, part...)
	}
	return tokenPrefix + encoding.EncodeToString(b)
}

// sign returns the signature of everything in t before it, and of account.
func (k *key) sign(t token, account string) (mac [sha256.Size]byte) {
	m := hmac.New(sha256.New, k.token)
	m.Write([]byte{tokenVersion})
	parts := t.parts()
	for _, part := range parts[:len(parts)-1] { // all of fixed size
		m.Write(part)
	}
	m.Write([]byte(account))
	copy(mac[:], m.Sum(nil))
	return mac
}

// tagTool shortens a tool's name. Tools are a small set of our own.
func tagTool(tool string) (t toolTag) {
	h := sha256.Sum256([]byte(tool))
	copy(t[:], h[:])
	return t
}

func packTime(t time.Time) (b [expirySize]byte) {
	s := max(t.Unix(), 0)
	for i := range b {
		b[i] = byte(s >> (8 * (expirySize - 1 - i)))
	}
	return b
}
