package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"fabricbroker/broker"
)

var secretA = []byte("0123456789abcdef0123456789abcdeF~")

func TestParseSecret(t *testing.T) {
	for name, text := range map[string]string{
		"hex":                  hex.EncodeToString(secretA),
		"upper-case hex":       strings.ToUpper(hex.EncodeToString(secretA)),
		"base64":               base64.StdEncoding.EncodeToString(secretA),
		"base64 unpadded":      base64.RawStdEncoding.EncodeToString(secretA),
		"base64url":            base64.URLEncoding.EncodeToString(secretA),
		"base64url unpadded":   base64.RawURLEncoding.EncodeToString(secretA),
		"a file's line ending": hex.EncodeToString(secretA) + "\r\n",
	} {
		t.Run("accepts/"+name, func(t *testing.T) {
			k, err := ParseSecret(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := k.secret.Reveal(); got != string(secretA) {
				t.Errorf("got %d bytes, want the %d of the secret", len(got), len(secretA))
			}
		})
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"white space":           " \n",
		"31 bytes of hex":       strings.Repeat("ab", 31),
		"31 bytes of base64":    base64.StdEncoding.EncodeToString(secretA[:31]),
		"hex that base64 reads": strings.Repeat("abcd", 11), // 33 bytes as base64, but it is hex
		"a passphrase":          "correct horse battery staple, and a lot more of it",
		"a line break inside":   base64.StdEncoding.EncodeToString(secretA[:24]) + "\n" + base64.StdEncoding.EncodeToString(secretA),
		"spare bits set":        base64.RawStdEncoding.EncodeToString(make([]byte, 32))[:42] + "B",
	} {
		t.Run("refuses/"+name, func(t *testing.T) {
			_, err := ParseSecret(text)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), "fabric-broker secret") {
				t.Errorf("%q does not say how to make one", err)
			}
			if s := strings.TrimSpace(text); s != "" && strings.Contains(err.Error(), s) {
				t.Error("I9: the error repeats the secret")
			}
		})
	}
}

func TestParseSecrets(t *testing.T) {
	a, b := Generate(), Generate()
	for _, list := range []string{a + "," + b, a + ", " + b, a + "\n" + b + "\n"} {
		keys, err := ParseSecrets(list)
		if err != nil || len(keys) != 2 {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		if got := hex.EncodeToString([]byte(keys[0].secret.Reveal())); got != a {
			t.Error("the first of the list is not the first key")
		}
	}
	for _, list := range []string{"", " , ", a + ",short"} {
		if _, err := ParseSecrets(list); err == nil {
			t.Errorf("a list of %d characters was accepted", len(list))
		}
	}
}

func TestGenerateGivesAnotherSecretEachTime(t *testing.T) {
	a, b := Generate(), Generate()
	if a == b {
		t.Fatal("twice the same")
	}
	if _, err := ParseSecret(a); err != nil {
		t.Fatal(err)
	}
}

func TestNewRefuses(t *testing.T) {
	k, err := ParseSecret(Generate())
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]Key{
		"no key": nil, "the zero key": {k, {}}, "the same key twice": {k, k},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(keys); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestI9SecretsPrintAsRedacted(t *testing.T) {
	text := Generate()
	k, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New([]Key{k})
	if err != nil {
		t.Fatal(err)
	}
	tok := mint(t, r, proposal(), "confirm")
	st, err := r.SealState(state())
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		K Key
		R *Keyring
		T broker.Secret
	}
	var out bytes.Buffer
	for _, v := range []any{k, &k, []Key{k}, r, *r, tok, st, holder{k, r, tok}, &holder{k, r, tok}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	}
	raw, _ := hex.DecodeString(text)
	for what, leak := range map[string]string{
		"the secret": string(raw), "the secret's text": text, "the secret in hex": hex.EncodeToString(raw),
		"the secret, byte by byte": strings.Trim(fmt.Sprint(raw), "[]"),
		"the token key":            hex.EncodeToString(r.first().token),
		"the token key's bytes":    strings.Trim(fmt.Sprint(r.first().token), "[]"),
		"the token":                tok.Reveal(), "the state": st.Reveal(),
	} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("printed: %s", what)
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Error("nothing was printed as [redacted]")
	}
}
