package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"fabricbroker/broker"
)

const era = "2026-07-28"

func state() State {
	p := proposal()
	return State{ID: p.ID, Hash: p.Hash, Principal: ada, Tool: "confirm", Era: era, Deadline: then}
}

func sealState(t testing.TB, r *Keyring, s State) string {
	t.Helper()
	text, err := r.SealState(s)
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

func unopened(t testing.TB, s State, err error) {
	t.Helper()
	if err != ErrState || s != (State{}) { //nolint:errorlint // exactly the sentinel: nothing may say why
		t.Errorf("got %+v, %v, want ErrState", s, err)
	}
}

func TestStateOpensForWhomItWasSealed(t *testing.T) {
	r, s := Ephemeral(), state()
	text := sealState(t, r, s)
	got, err := r.OpenState(text, s.Tool, ada, era)
	if err != nil {
		t.Fatal(err)
	}
	if got.Nonce == [nonceSize]byte{} {
		t.Error("no nonce")
	}
	s.Nonce = got.Nonce
	if got != s {
		t.Errorf("got %+v, want %+v", got, s)
	}
	again, err := r.OpenState(sealState(t, r, s), s.Tool, ada, era)
	if err != nil || again != s {
		t.Errorf("a given nonce was not kept: %v", err)
	}
	if sealState(t, r, s) == text {
		t.Error("two questions have the same state")
	}
	if strings.Contains(text, string(s.ID)) {
		t.Error("the state can be read")
	}
}

func TestStateRefusesEveryFlippedBit(t *testing.T) {
	r := Ephemeral()
	raw, err := base64.RawURLEncoding.DecodeString(sealState(t, r, state()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			s, err := r.OpenState(base64.RawURLEncoding.EncodeToString(raw), "confirm", ada, era)
			unopened(t, s, err)
			raw[i] ^= 1 << bit
		}
	}
}

func TestStateRefusesEveryTruncation(t *testing.T) {
	r := Ephemeral()
	text := sealState(t, r, state())
	for n := range len(text) {
		for _, cut := range []string{text[:n], text[n+1:], text[:n] + text[n+1:], text[:n] + "\n" + text[n+1:]} {
			s, err := r.OpenState(cut, "confirm", ada, era)
			unopened(t, s, err)
		}
	}
	for _, longer := range []string{text + "A", text + "=", text + "\n", text + text} {
		s, err := r.OpenState(longer, "confirm", ada, era)
		unopened(t, s, err)
	}
}

func TestStateIsBoundTo(t *testing.T) {
	r := Ephemeral()
	text := sealState(t, r, state())
	eve := ada
	eve.Subject = "eve"
	moved := ada
	moved.Tenant, moved.Subject = "t1a", "da"
	for _, tc := range []struct {
		rule string
		ring *Keyring
		tool string
		who  broker.Principal
		era  string
	}{
		{"the key", Ephemeral(), "confirm", ada, era},
		{"the tool", r, "other", ada, era},
		{"the principal", r, "confirm", eve, era},
		{"fields and not their sum", r, "confirm", moved, era},
		{"nobody", r, "confirm", broker.Principal{}, era},
		{"the era", r, "confirm", ada, "2025-11-25"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			s, err := tc.ring.OpenState(text, tc.tool, tc.who, tc.era)
			unopened(t, s, err)
		})
	}
}

// A thing sealed for one use never passes for another.
func TestOneLabelAUse(t *testing.T) {
	r := Ephemeral()
	tok := mint(t, r, proposal(), "confirm").Reveal()
	s, err := r.OpenState(strings.TrimPrefix(tok, "chg-"), "confirm", ada, era)
	unopened(t, s, err)
	_, err = r.Open(broker.NewSecret("chg-"+sealState(t, r, state())[:tokenLen-4]), "confirm", ada, "account-1")
	refused(t, err, broker.ErrTokenForged)
}

func TestSealStateRefuses(t *testing.T) {
	for name, change := range map[string]func(*State){
		"no uuid":   func(s *State) { s.ID = "p-1" },
		"no hash":   func(s *State) { s.Hash = "" },
		"no tool":   func(s *State) { s.Tool = "" },
		"no era":    func(s *State) { s.Era = "" },
		"no person": func(s *State) { s.Principal = broker.Principal{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := state()
			change(&s)
			if text, err := Ephemeral().SealState(s); err == nil || !text.IsZero() {
				t.Error("sealed")
			}
		})
	}
}

func TestSealData(t *testing.T) {
	r := Ephemeral()
	for _, plain := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("row"), 1000)} {
		sealed := r.SealData("ledger", plain, []byte("id-1"))
		got, err := r.OpenData("ledger", sealed, []byte("id-1"))
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes: got %d back, %v", len(plain), len(got), err)
		}
		for rule, open := range map[string]func() ([]byte, error){
			"label":           func() ([]byte, error) { return r.OpenData("other", sealed, []byte("id-1")) },
			"additional data": func() ([]byte, error) { return r.OpenData("ledger", sealed, []byte("id-2")) },
			"key":             func() ([]byte, error) { return Ephemeral().OpenData("ledger", sealed, []byte("id-1")) },
			"length":          func() ([]byte, error) { return r.OpenData("ledger", sealed[:len(sealed)-1], []byte("id-1")) },
			"anything at all": func() ([]byte, error) { return r.OpenData("ledger", nil, []byte("id-1")) },
		} {
			if b, err := open(); !errors.Is(err, ErrSealed) || b != nil {
				t.Errorf("not bound to its %s", rule)
			}
		}
	}
}

func TestStaleAfterRotation(t *testing.T) {
	a, _ := ParseSecret(Generate())
	b, _ := ParseSecret(Generate())
	before, _ := New([]Key{a})
	after, _ := New([]Key{b, a})
	sealed := before.SealData("ledger", []byte("x"), nil)
	if before.Stale(sealed) || !after.Stale(sealed) || after.Stale(after.SealData("ledger", []byte("x"), nil)) {
		t.Error("stale is what was sealed with a key that no longer seals")
	}
	if !after.Stale(nil) {
		t.Error("nothing is not fresh")
	}
}
