package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"fabricbroker/broker"
)

// JWTOptions say which JSON Web Tokens are taken.
type JWTOptions struct {
	// Issuer is the issuer's URL: https, or http on loopback.
	Issuer string
	// Audience must be among the token's audiences. It names this server, never
	// a client: with a client's id its ID tokens would fit.
	Audience string
	// TenantClaim is the claim that names the tenant; "" knows no tenants.
	TenantClaim string
	Now         func() time.Time
	Log         *slog.Logger
}

// algorithms are the signatures that are taken: asymmetric ones only. With an
// HMAC the issuer's public key would be the secret.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// JWT verifies access tokens of one OpenID Connect issuer. Use [NewJWT]. It is
// safe for concurrent use.
type JWT struct {
	o      JWTOptions
	client *http.Client

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	retry    time.Time // before it, the issuer is not asked again
	failure  error
}

var _ Verifier = (*JWT)(nil)

// NewJWT returns a verifier. The issuer is asked for its keys at the first
// token: one that cannot be reached stops no start.
func NewJWT(o JWTOptions) (*JWT, error) {
	if err := secureURL(o.Issuer); err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	if o.Audience == "" {
		return nil, fmt.Errorf("no audience: a token for anybody would be taken")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &JWT{o: o, client: issuerClient()}, nil
}

// Verify implements Verifier.
func (j *JWT) Verify(ctx context.Context, token broker.Secret) (Caller, error) {
	if err := checkHeader(token.Reveal()); err != nil {
		return Caller{}, err
	}
	v, err := j.ready(ctx)
	if err != nil {
		return Caller{}, err
	}
	keys := &keysFailed{}
	t, err := v.Verify(context.WithValue(ctx, keysFailedKey{}, keys), token.Reveal())
	if err != nil && keys.err != nil {
		return Caller{}, fmt.Errorf("remote: the keys of %s: %w", j.o.Issuer, keys.err)
	}
	if err != nil {
		return Caller{}, invalid("%v", err)
	}
	return j.caller(t)
}

// ready returns the verifier, and has the issuer say where its keys are if that
// is not known yet.
func (j *JWT) ready(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.verifier != nil {
		return j.verifier, nil
	}
	if now := j.o.Now(); now.Before(j.retry) {
		return nil, j.failure
	}
	// Detached: others wait for it too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), issuerTimeout)
	defer cancel()
	v, err := j.discover(ctx)
	if err != nil {
		j.retry, j.failure = j.o.Now().Add(issuerPause), fmt.Errorf("remote: the issuer %s: %w", j.o.Issuer, err)
		return nil, j.failure
	}
	j.verifier = v
	return v, nil
}

func (j *JWT) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	ctx = oidc.ClientContext(ctx, j.client)
	p, err := oidc.NewProvider(ctx, j.o.Issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := p.Claims(&says); err != nil {
		return nil, err
	}
	if err := secureURL(says.KeysURL); err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	keys := watchedKeys{oidc.NewRemoteKeySet(ctx, says.KeysURL)}
	return oidc.NewVerifier(j.o.Issuer, keys, &oidc.Config{
		ClientID: j.o.Audience, SupportedSigningAlgs: algorithms, Now: j.o.Now,
	}), nil
}
