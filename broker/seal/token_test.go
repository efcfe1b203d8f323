package seal

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
)

var (
	ada  = broker.Principal{Kind: "jwt", Issuer: "https://issuer.example", Tenant: "t1", Subject: "ada"}
	then = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func proposal() broker.Proposal {
	return broker.Proposal{
		ID:         "0192f3c4-5b6a-7c8d-9e0f-112233445566",
		ChangeType: broker.ConnectionCreate,
		Hash:       broker.HashRequest(broker.ConnectionCreate, []byte(`{"name":"a"}`)),
		Caller:     broker.Caller{Principal: ada},
		Account:    "account-1",
		ExpiresAt:  then,
	}
}

func mint(t testing.TB, r *Keyring, p broker.Proposal, tool string) broker.Secret {
	t.Helper()
	s, err := r.Mint(p, tool)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused checks that err is a refusal that its reader can act on.
func refused(t testing.TB, err error, want broker.Code) {
	t.Helper()
	r, ok := errors.AsType[*broker.Refusal](err)
	switch {
	case !ok:
		t.Errorf("got %v, want %s", err, want)
	case r.Code != want:
		t.Errorf("got %s, want %s", r.Code, want)
	case r.Message == "" || r.NextStep == "":
		t.Errorf("%s without a message or a next step", r.Code)
	}
}

func TestTokenOpensForWhomItWasMinted(t *testing.T) {
	r, p := Ephemeral(), proposal()
	text := mint(t, r, p, "confirm")
	if n := len(text.Reveal()); n > 140 || !strings.HasPrefix(text.Reveal(), "chg-") {
		t.Errorf("a token of %d characters that begins with %q", n, text.Reveal()[:4])
	}
	c, err := r.Open(text, "confirm", ada, p.Account)
	if err != nil {
		t.Fatal(err)
	}
	if want := (broker.Claims{ID: p.ID, Hash: p.Hash}); c != want {
		t.Errorf("got %v, want %v", c, want)
	}
	if mint(t, r, p, "confirm") != text {
		t.Error("minting again gave another token")
	}
}

func TestTokenRefuses(t *testing.T) {
	r, p := Ephemeral(), proposal()
	text := mint(t, r, p, "confirm").Reveal()
	raw, err := base64.RawURLEncoding.DecodeString(text[4:])
	if err != nil {
		t.Fatal(err)
	}
	join := func(b []byte) string { return "chg-" + base64.RawURLEncoding.EncodeToString(b) }
	for _, tc := range []struct {
		rule, text string
		want       broker.Code
	}{
		{"nothing", "", broker.ErrTokenMissing},
		{"the bare prefix", "chg-", broker.ErrTokenMalformed},
		{"no prefix", text[4:], broker.ErrTokenMalformed},
		{"a prefix in upper case", "CHG-" + text[4:], broker.ErrTokenMalformed},
		{"a space in front", " " + text, broker.ErrTokenMalformed},
		{"a line break behind", text + "\n", broker.ErrTokenMalformed},
		{"a line break for a character", text[:20] + "\n" + text[21:], broker.ErrTokenMalformed},
		{"padding", text + "=", broker.ErrTokenMalformed},
		{"the other alphabet", text[:10] + "+/" + text[12:], broker.ErrTokenMalformed},
		{"not ASCII", text[:10] + "é" + text[12:], broker.ErrTokenMalformed},
		{"three bytes more", join(append(raw[:len(raw):len(raw)], 0, 0, 0)), broker.ErrTokenMalformed},
		{"twice", text + text, broker.ErrTokenMalformed},
		{"a megabyte", "chg-" + strings.Repeat("A", 1<<20), broker.ErrTokenMalformed},
		{"another server's", mint(t, Ephemeral(), p, "confirm").Reveal(), broker.ErrTokenUnknown},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			c, err := r.Open(broker.NewSecret(tc.text), "confirm", ada, p.Account)
			refused(t, err, tc.want)
			if c != (broker.Claims{}) {
				t.Errorf("claims with %s: %v", tc.want, c)
			}
			if err != nil && tc.text != "" && strings.Contains(err.Error(), tc.text) && len(tc.text) > 10 {
				t.Error("I9: the refusal repeats the token")
			}
		})
	}
}

func TestTokenRefusesEveryFlippedBit(t *testing.T) {
	r, p := Ephemeral(), proposal()
	raw, err := base64.RawURLEncoding.DecodeString(mint(t, r, p, "confirm").Reveal()[4:])
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		want := broker.ErrTokenForged
		switch {
		case i == 0:
			want = broker.ErrTokenMalformed // another version
		case i <= keyIDSize:
			want = broker.ErrTokenUnknown
		}
		for bit := range 8 {
			raw[i] ^= 1 << bit
			_, err := r.Open(broker.NewSecret("chg-"+base64.RawURLEncoding.EncodeToString(raw)), "confirm", ada, p.Account)
			refused(t, err, want)
			raw[i] ^= 1 << bit
		}
	}
}

func TestTokenRefusesEveryTruncation(t *testing.T) {
	r, p := Ephemeral(), proposal()
	text := mint(t, r, p, "confirm").Reveal()
	for n := 1; n < len(text); n++ {
		for _, cut := range []string{text[:n], text[n:], text[:n-1] + text[n:]} {
			_, err := r.Open(broker.NewSecret(cut), "confirm", ada, p.Account)
			refused(t, err, broker.ErrTokenMalformed)
		}
	}
}

func TestTokenIsBoundTo(t *testing.T) {
	r, p := Ephemeral(), proposal()
	text := mint(t, r, p, "confirm")
	claims := broker.Claims{ID: p.ID, Hash: p.Hash}
	other := func(change func(*broker.Principal)) broker.Principal { q := ada; change(&q); return q }
	for _, tc := range []struct {
		rule    string
		tool    string
		who     broker.Principal
		account string
		want    broker.Code
		claims  broker.Claims
	}{
		{"the tool", "other", ada, p.Account, broker.ErrWrongTool, broker.Claims{}},
		{"no tool", "", ada, p.Account, broker.ErrWrongTool, broker.Claims{}},
		{"the account", "confirm", ada, "account-2", broker.ErrTokenForged, broker.Claims{}},
		{"no account", "confirm", ada, "", broker.ErrTokenForged, broker.Claims{}},
		{"the subject", "confirm", other(func(q *broker.Principal) { q.Subject = "eve" }), p.Account, broker.ErrWrongPrincipal, claims},
		{"the tenant", "confirm", other(func(q *broker.Principal) { q.Tenant = "t2" }), p.Account, broker.ErrWrongPrincipal, claims},
		{"the issuer", "confirm", other(func(q *broker.Principal) { q.Issuer = "x" }), p.Account, broker.ErrWrongPrincipal, claims},
		{"the kind", "confirm", other(func(q *broker.Principal) { q.Kind = "static" }), p.Account, broker.ErrWrongPrincipal, claims},
		{"fields and not their sum", "confirm", other(func(q *broker.Principal) { q.Tenant, q.Subject = "t1a", "da" }), p.Account, broker.ErrWrongPrincipal, claims},
		{"nobody", "confirm", broker.Principal{}, p.Account, broker.ErrWrongPrincipal, claims},
		{"the signature before the tool", "other", ada, "account-2", broker.ErrTokenForged, broker.Claims{}},
		{"the tool before the principal", "other", broker.Local, p.Account, broker.ErrWrongTool, broker.Claims{}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			c, err := r.Open(text, tc.tool, tc.who, tc.account)
			refused(t, err, tc.want)
			if c != tc.claims {
				t.Errorf("claims %v, want %v", c, tc.claims)
			}
		})
	}
}

// Two authentic tokens cut and joined at any byte are a forgery.
func TestTokenRefusesACrossing(t *testing.T) {
	r, p := Ephemeral(), proposal()
	q := p
	q.ID, q.Hash = "ffffffff-ffff-4fff-bfff-ffffffffffff", broker.HashRequest(broker.ConnectionCreate, []byte(`{"name":"b"}`))
	q.ExpiresAt = then.Add(time.Hour)
	q.Caller.Principal.Subject = "eve"
	a, b := mint(t, r, p, "confirm").Reveal(), mint(t, r, q, "other").Reveal()
	for n := 5; n < len(a); n++ {
		crossed := a[:n] + b[n:]
		if crossed == a || crossed == b {
			continue
		}
		_, err := r.Open(broker.NewSecret(crossed), "confirm", ada, p.Account)
		refused(t, err, broker.ErrTokenForged)
	}
}

func TestMintRefuses(t *testing.T) {
	r := Ephemeral()
	for name, change := range map[string]func(*broker.Proposal){
		"no id":                   func(p *broker.Proposal) { p.ID = "" },
		"an id that is no uuid":   func(p *broker.Proposal) { p.ID = "p-1" },
		"an id in upper case":     func(p *broker.Proposal) { p.ID = broker.ID(strings.ToUpper(string(p.ID))) },
		"an id with other dashes": func(p *broker.Proposal) { p.ID = "0192f3c45-b6a-7c8d-9e0f-112233445566" },
		"an id that is not hex":   func(p *broker.Proposal) { p.ID = "0192f3c4-5b6a-7c8d-9e0f-11223344556g" },
		"no hash":                 func(p *broker.Proposal) { p.Hash = "" },
		"half a hash":             func(p *broker.Proposal) { p.Hash = p.Hash[:32] },
		"a hash and more":         func(p *broker.Proposal) { p.Hash += "00" },
		"a hash in upper case":    func(p *broker.Proposal) { p.Hash = broker.Hash(strings.ToUpper(string(p.Hash))) },
		"nobody":                  func(p *broker.Proposal) { p.Caller.Principal = broker.Principal{} },
	} {
		t.Run(name, func(t *testing.T) {
			p := proposal()
			change(&p)
			if s, err := r.Mint(p, "confirm"); err == nil || !s.IsZero() {
				t.Errorf("minted: %v", err)
			}
		})
	}
	if _, err := r.Mint(proposal(), ""); err == nil {
		t.Error("minted for no tool")
	}
}

func TestRotation(t *testing.T) {
	key := func() Key {
		k, err := ParseSecret(Generate())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ring := func(keys ...Key) *Keyring {
		r, err := New(keys)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	prev, next := key(), key()
	steps := []struct {
		name string
		ring *Keyring
	}{{"old", ring(prev)}, {"old,new", ring(prev, next)}, {"new,old", ring(next, prev)}, {"new", ring(next)}}
	p := proposal()
	for i, a := range steps {
		tok := mint(t, a.ring, p, "confirm")
		st, err := a.ring.SealState(state())
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range steps {
			_, tokErr := b.ring.Open(tok, "confirm", ada, p.Account)
			_, stErr := b.ring.OpenState(st.Reveal(), "confirm", ada, "2026-07-28")
			// Signed with the old key in the first two steps, with the new one
			// in the last two; a ring of one key knows only its own.
			known := i < 2 && j < 3 || i >= 2 && j > 0
			if known {
				if tokErr != nil || stErr != nil {
					t.Errorf("%s does not open what %s made: %v, %v", b.name, a.name, tokErr, stErr)
				}
				continue
			}
			refused(t, tokErr, broker.ErrTokenUnknown)
			if !errors.Is(stErr, ErrState) {
				t.Errorf("%s opens a state of %s", b.name, a.name)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	r, p := Ephemeral(), proposal()
	text := mint(b, r, p, "confirm")
	for b.Loop() {
		if _, err := r.Open(text, "confirm", ada, p.Account); err != nil {
			b.Fatal(err)
		}
	}
}
