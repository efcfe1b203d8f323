package seal

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"fabricbroker/broker"
)

// fixed is a keyring whose tokens a corpus can hold.
func fixed(f *testing.F) *Keyring {
	k, err := ParseSecret(hex.EncodeToString(secretA))
	if err != nil {
		f.Fatal(err)
	}
	r, err := New([]Key{k})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// FuzzOpenToken: whatever is sent gives one of our refusals or the claims that
// were minted, and what has the shape of a token is spelt in one way only.
func FuzzOpenToken(f *testing.F) {
	r, p := fixed(f), proposal()
	minted := mint(f, r, p, "confirm").Reveal()
	other := mint(f, Ephemeral(), p, "confirm").Reveal()
	for _, s := range []string{
		minted, other, "", "chg-", minted[4:], minted[:70], minted + "=", " " + minted, minted + "\n",
		"chg-" + strings.Repeat("A", 136), "chg-" + strings.Repeat("_", 136), strings.ToUpper(minted),
	} {
		f.Add(s, "confirm", "ada", "account-1")
	}
	f.Add(minted, "other", "ada", "account-1")
	f.Add(minted, "confirm", "eve", "account-1")
	f.Add(minted, "confirm", "ada", "")
	f.Fuzz(func(t *testing.T, text, tool, subject, account string) {
		if tok, ok := parseToken(text); ok && tok.text() != text {
			t.Error("a token with two spellings")
		}
		who := ada
		who.Subject = subject
		c, err := r.Open(broker.NewSecret(text), tool, who, account)
		if err == nil {
			if text != minted || tool != "confirm" || who != ada || account != p.Account || c.ID != p.ID || c.Hash != p.Hash {
				t.Fatalf("opened: %q %q %q %q", text, tool, subject, account)
			}
			return
		}
		ref, ok := errors.AsType[*broker.Refusal](err)
		if !ok {
			t.Fatalf("not a refusal: %v", err)
		}
		switch ref.Code {
		case broker.ErrTokenMissing, broker.ErrTokenMalformed, broker.ErrTokenForged,
			broker.ErrTokenUnknown, broker.ErrWrongTool:
			if c != (broker.Claims{}) {
				t.Fatal("claims of a token that was not trusted")
			}
		case broker.ErrWrongPrincipal:
			if text != minted || who == ada {
				t.Fatal("wrong_principal for a token that was never minted")
			}
		default:
			t.Fatalf("not one of ours: %s", ref.Code)
		}
	})
}

// FuzzOpenState: whatever is sent gives ErrState or the state that was sealed.
func FuzzOpenState(f *testing.F) {
	r, s := fixed(f), state()
	minted := sealState(f, r, s)
	for _, text := range []string{
		minted, "", minted[:len(minted)-1], minted + "=", strings.Repeat("A", stateLen), strings.ToLower(minted),
		mint(f, r, proposal(), "confirm").Reveal(),
	} {
		f.Add(text, "confirm", "ada", era)
	}
	f.Add(minted, "other", "ada", era)
	f.Add(minted, "confirm", "eve", era)
	f.Add(minted, "confirm", "ada", "2025-11-25")
	f.Fuzz(func(t *testing.T, text, tool, subject, e string) {
		who := ada
		who.Subject = subject
		got, err := r.OpenState(text, tool, who, e)
		s := s
		if err == nil {
			// Not compared with the text: each process of the fuzzer sealed its own.
			s.Nonce = got.Nonce
			if tool != s.Tool || who != ada || e != era || got != s {
				t.Fatalf("opened: %q %q %q %q", text, tool, subject, e)
			}
			return
		}
		unopened(t, got, err)
	})
}
