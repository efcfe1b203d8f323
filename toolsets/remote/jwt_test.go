package remote

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fabricbroker/broker"
)

// issuer is an OpenID Connect issuer on loopback with keys of its own.
type issuer struct {
	t       *testing.T
	url     string
	key     *rsa.PrivateKey
	curve   *ecdsa.PrivateKey
	down    atomic.Bool
	fetched atomic.Int32 // how often its keys were
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t}
	var err error
	if i.key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if i.curve, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(f func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if i.down.Load() {
				http.Error(w, "down", http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(f())
		}
	}
	mux.HandleFunc("/.well-known/openid-configuration", answer(func() any {
		return map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys", "id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}}
	}))
	mux.HandleFunc("/keys", answer(func() any {
		i.fetched.Add(1)
		b64 := base64.RawURLEncoding.EncodeToString
		point, err := i.curve.PublicKey.Bytes() // 4, x, y
		if err != nil {
			return err
		}
		return map[string]any{"keys": []any{
			map[string]any{"kty": "RSA", "kid": "rsa", "use": "sig", "n": b64(i.key.N.Bytes()), "e": b64(big.NewInt(int64(i.key.E)).Bytes())},
			map[string]any{"kty": "EC", "kid": "ec", "use": "sig", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
		}}
	}))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	i.url = srv.URL
	return i
}

const audience = "https://broker.example/mcp"

// claims are those of a valid access token, changed by more; nil takes one away.
func (i *issuer) claims(more map[string]any) map[string]any {
	now := time.Now().Unix()
	c := map[string]any{"iss": i.url, "aud": audience, "sub": "ann", "org": "acme", "iat": now, "nbf": now, "exp": now + 600, "scope": "fabric"}
	maps.Copy(c, more)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func segment(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// sign signs with the issuer's keys, or as an attacker would.
func (i *issuer) sign(header, claims map[string]any) string {
	i.t.Helper()
	h := map[string]any{"alg": "RS256", "kid": "rsa", "typ": "at+jwt"}
	maps.Copy(h, header)
	text := segment(i.t, h) + "." + segment(i.t, claims)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	var err error
	switch h["alg"] {
	case "RS256":
		sig, err = rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	case "ES256":
		var r, s *big.Int
		r, s, err = ecdsa.Sign(rand.Reader, i.curve, sum[:])
		sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case "HS256": // with the public key as the secret
		m := hmac.New(sha256.New, i.key.N.Bytes())
		m.Write([]byte(text))
		sig = m.Sum(nil)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func (i *issuer) verifier() *JWT {
	i.t.Helper()
	v, err := NewJWT(JWTOptions{Issuer: i.url, Audience: audience, TenantClaim: "org"})
	if err != nil {
		i.t.Fatal(err)
	}
	return v
}

func TestAccessTokens(t *testing.T) {
	i, stranger := newIssuer(t), newIssuer(t)
	v := i.verifier()
	now := time.Now()
	tampered := i.sign(nil, i.claims(nil))
	parts := strings.Split(tampered, ".")
	parts[1] = segment(t, i.claims(map[string]any{"sub": "root"}))
	for _, row := range []struct {
		rule  string
		token string
		want  string // subject; "" refuses
	}{
		{"an access token", i.sign(nil, i.claims(nil)), "ann"},
		{"of another algorithm", i.sign(map[string]any{"alg": "ES256", "kid": "ec"}, i.claims(nil)), "ann"},
		{"without a type", i.sign(map[string]any{"typ": ""}, i.claims(nil)), "ann"},
		{"of the old type", i.sign(map[string]any{"typ": "JWT"}, i.claims(nil)), "ann"},
		{"among other audiences", i.sign(nil, i.claims(map[string]any{"aud": []string{"x", audience}})), "ann"},
		{"of a clock that is a bit ahead", i.sign(nil, i.claims(map[string]any{"iat": now.Unix() + 30, "nbf": now.Unix() + 30})), "ann"},
		{"without iat and nbf", i.sign(nil, i.claims(map[string]any{"iat": nil, "nbf": nil})), "ann"},

		{"wrong audience", i.sign(nil, i.claims(map[string]any{"aud": "https://other.example"})), ""},
		{"no audience", i.sign(nil, i.claims(map[string]any{"aud": nil})), ""},
		{"a part of the audience", i.sign(nil, i.claims(map[string]any{"aud": audience + "x"})), ""},
		{"wrong issuer", i.sign(nil, i.claims(map[string]any{"iss": "https://other.example"})), ""},
		{"a stranger's token", stranger.sign(nil, stranger.claims(nil)), ""},
		{"a stranger's signature", stranger.sign(nil, i.claims(nil)), ""},
		{"an unknown key", i.sign(map[string]any{"kid": "new"}, i.claims(nil)), ""},
		{"tampered claims", strings.Join(parts, "."), ""},
		{"no signature", parts[0] + "." + parts[1] + ".", ""},
		{"algorithm none", i.sign(map[string]any{"alg": "none"}, i.claims(nil)), ""},
		{"algorithm None", i.sign(map[string]any{"alg": "None"}, i.claims(nil)), ""},
		{"the public key as a secret", i.sign(map[string]any{"alg": "HS256"}, i.claims(nil)), ""},
		{"the signature of another algorithm", i.sign(map[string]any{"kid": "ec"}, i.claims(nil)), ""},
		{"expired", i.sign(nil, i.claims(map[string]any{"exp": now.Unix() - 1})), ""},
		{"without expiry", i.sign(nil, i.claims(map[string]any{"exp": nil})), ""},
		{"not valid yet", i.sign(nil, i.claims(map[string]any{"nbf": now.Unix() + 120})), ""},
		{"issued in the future", i.sign(nil, i.claims(map[string]any{"iat": now.Unix() + 120})), ""},
		{"an ID token with a nonce", i.sign(map[string]any{"typ": "JWT"}, i.claims(map[string]any{"nonce": "n"})), ""},
		{"an ID token with at_hash", i.sign(map[string]any{"typ": "JWT"}, i.claims(map[string]any{"at_hash": "h"})), ""},
		{"an ID token of Keycloak", i.sign(map[string]any{"typ": "JWT"}, i.claims(map[string]any{"typ": "ID"})), ""},
		{"an ID token of Cognito", i.sign(map[string]any{"typ": "JWT"}, i.claims(map[string]any{"token_use": "id"})), ""},
		{"a log-out token", i.sign(map[string]any{"typ": "logout+jwt"}, i.claims(nil)), ""},
		{"without subject", i.sign(nil, i.claims(map[string]any{"sub": nil})), ""},
		{"a subject of two lines", i.sign(nil, i.claims(map[string]any{"sub": "ann\nbob"})), ""},
		{"without tenant", i.sign(nil, i.claims(map[string]any{"org": nil})), ""},
		{"a tenant that is no text", i.sign(nil, i.claims(map[string]any{"org": 7})), ""},
		{"a critical header", i.sign(map[string]any{"crit": []string{"x"}, "x": 1}, i.claims(nil)), ""},
		{"too long", i.sign(nil, i.claims(map[string]any{"pad": strings.Repeat("x", 9000)})), ""},
		{"no JWT", "abc", ""},
		{"nothing", "..", ""},
	} {
		t.Run(row.rule, func(t *testing.T) {
			c, err := v.Verify(t.Context(), broker.NewSecret(row.token))
			if row.want == "" {
				if !errors.Is(err, ErrInvalidToken) {
					t.Errorf("%v, %v: want a refusal", c, err)
				}
				return
			}
			want := broker.Principal{Kind: "jwt", Issuer: i.url, Tenant: "acme", Subject: row.want}
			if err != nil || c.Principal != want || c.Expires.Before(now) {
				t.Errorf("%v, %v: want %v", c, err, want)
			}
		})
	}
	// Tokens that nobody can verify make us look for new keys; not every time.
	for range 50 {
		_, _ = v.Verify(t.Context(), broker.NewSecret(stranger.sign(nil, i.claims(nil))))
	}
	if n := i.fetched.Load(); n > 6 {
		t.Errorf("the keys were fetched %d times", n)
	}
	if _, err := v.Verify(t.Context(), broker.NewSecret(i.sign(nil, i.claims(nil)))); err != nil {
		t.Errorf("afterwards a valid token is refused: %v", err)
	}
}

// An issuer that is down says nothing about a token: 503, not 401, and no login
// screen on the client's side.
func TestAnIssuerThatIsDown(t *testing.T) {
	i := newIssuer(t)
	i.down.Store(true)
	var skipped atomic.Int64
	v, err := NewJWT(JWTOptions{Issuer: i.url, Audience: audience, Now: func() time.Time { return time.Now().Add(time.Duration(skipped.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(s *setup) { s.options.Verifier = Verifiers{people(t, "alice"), v} })
	token := map[string]string{"Authorization": "Bearer " + i.sign(nil, i.claims(nil))}
	if r := w.call("who", token); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", r.status, r.header)
	}
	if r := w.call("who", nil); r.result()["who"] != "static:acme/alice" {
		t.Errorf("static tokens: %d %s", r.status, r.text)
	}
	i.down.Store(false)
	skipped.Store(int64(issuerPause))
	if r := w.call("who", token); r.result()["who"] != "jwt:/ann" {
		t.Errorf("afterwards: %d %s", r.status, r.text)
	}
}

func TestIssuersMustBeSecure(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://issuer.example": true, "http://127.0.0.1:8080/realm": true, "http://[::1]:1": true, "http://localhost": true,
		"http://issuer.example": false, "": false, "issuer.example": false, "ftp://127.0.0.1": false, "https://u:p@issuer.example": false,
		"http://localhost.evil.example": false,
	} {
		if _, err := NewJWT(JWTOptions{Issuer: url, Audience: audience}); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := NewJWT(JWTOptions{Issuer: "https://issuer.example"}); err == nil {
		t.Error("no audience is taken")
	}
}
