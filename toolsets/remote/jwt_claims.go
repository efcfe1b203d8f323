package remote

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"fabricbroker/broker"
)

const (
	maxToken = 8 << 10
	// leeway is how far the issuer's clock may be ahead of ours.
	leeway = time.Minute
)

// checkHeader refuses what need not be verified: another algorithm, another
// kind of token. What it lets through is verified all the same.
func checkHeader(token string) error {
	first, _, _ := strings.Cut(token, ".")
	if len(token) > maxToken || strings.Count(token, ".") != 2 {
		return invalid("it is no JWT")
	}
	raw, err := base64.RawURLEncoding.DecodeString(first)
	var h struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
	}
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return invalid("its header cannot be read")
	}
	if !slices.Contains(algorithms, h.Algorithm) {
		return invalid("its algorithm is %s", broker.Quote(h.Algorithm))
	}
	switch strings.TrimPrefix(strings.ToLower(h.Type), "application/") {
	case "at+jwt", "jwt", "": // RFC 9068, and the many that came before it
		return nil
	}
	return invalid("its type is %s, not that of an access token", broker.Quote(h.Type))
}

// claims are what is looked at beside what go-oidc checks.
type claims struct {
	Type            string `json:"typ"`       // "ID": Keycloak
	Use             string `json:"token_use"` // "id": Cognito
	Nonce           string `json:"nonce"`
	AccessTokenHash string `json:"at_hash"`
	CodeHash        string `json:"c_hash"`
	StateHash       string `json:"s_hash"`
	NotBefore       number `json:"nbf"`
	IssuedAt        number `json:"iat"`
}

// number is a NumericDate: seconds, perhaps with a fraction.
type number float64

func (n number) after(t time.Time) bool { return float64(n) > float64(t.Unix()) }

// caller reads who calls out of a token that verified.
func (j *JWT) caller(t *oidc.IDToken) (Caller, error) {
	var c claims
	var all map[string]any
	if t.Claims(&c) != nil || t.Claims(&all) != nil {
		return Caller{}, invalid("its claims cannot be read")
	}
	// An ID token tells a client who has logged in. It is no permission to call
	// us, though the same issuer signs it.
	if c.Nonce != "" || c.AccessTokenHash != "" || c.CodeHash != "" || c.StateHash != "" ||
		strings.EqualFold(c.Type, "ID") || strings.EqualFold(c.Use, "id") {
		return Caller{}, invalid("it is an ID token, not an access token")
	}
	if now := j.o.Now().Add(leeway); c.NotBefore.after(now) || c.IssuedAt.after(now) {
		return Caller{}, invalid("it is from the future")
	}
	p := broker.Principal{Kind: "jwt", Issuer: t.Issuer, Subject: t.Subject}
	if !named(p.Subject) {
		return Caller{}, invalid("its subject names nobody")
	}
	if j.o.TenantClaim != "" {
		p.Tenant, _ = all[j.o.TenantClaim].(string)
		if !named(p.Tenant) {
			return Caller{}, invalid("its claim %s names no tenant", broker.Quote(j.o.TenantClaim))
		}
	}
	return Caller{Principal: p, Expires: t.Expiry}, nil
}
