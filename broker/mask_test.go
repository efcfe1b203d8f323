package broker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

func TestMaskValue(t *testing.T) {
	for _, tc := range []struct{ rule, in, want string }{
		{"an account id stays whole", "123456789012", "123456789012"},
		{"an account id and more is a secret", "1234567890123", "...0123"},
		{"eleven digits are a secret", "12345678901", "...8901"},
		{"an account id on a second line is a secret", "123456789012\n", "...012\n"},
		{"a Google key keeps region and zone", "7e51371e-72a3-40b5-b844-2e3efefaee59/us-east4/2", ".../us-east4/2"},
		{"a Google key in capitals", "7E51371E-72A3-40B5-B844-2E3EFEFAEE59/asia-east1/1", ".../asia-east1/1"},
		{"a key that only looks like Google's", "7e51371e/us-east4/2/more", "...more"},
		{"a uuid keeps its last four", "5d113752-996b-4b59-8e21-8927e7b98058", "...8058"},
		{"nine characters keep four", "abcdefghi", "...fghi"},
		{"eight characters keep nothing", "abcdefgh", "..."},
		{"one character keeps nothing", "a", "..."},
		{"nothing", "", "..."},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			got := broker.MaskValue(tc.in)
			if strings.HasPrefix(tc.want, ".../") { // the uuid's last four stand before the region
				last := tc.in[strings.Index(tc.in, "/")-4 : strings.Index(tc.in, "/")]
				tc.want = "..." + last + tc.want[3:]
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

const hush = "5d113752-996b-4b59-8e21-8927e7b98058"

func TestNewMaskFindsPointers(t *testing.T) {
	body := []byte(`{"a":{"b/c":[0,{"k~":"` + hush + `"}]},"n":123456789,"e":"","x":"plain value"}`)
	for rule, tc := range map[string]struct {
		pointer string
		masked  bool
	}{
		"objects, arrays, ~1 and ~0":   {"/a/b~1c/1/k~0", true},
		"an index that is too large":   {"/a/b~1c/2/k~0", false},
		"an index that is no number":   {"/a/b~1c/x/k~0", false},
		"a negative index":             {"/a/b~1c/-1", false},
		"through a number":             {"/n/x", false},
		"a number is no secret":        {"/n", false},
		"an empty string is no secret": {"/e", false},
		"nothing is there":             {"/a/none", false},
		"the whole document":           {"", false},
	} {
		t.Run(rule, func(t *testing.T) {
			got := string(broker.NewMask(body, []string{tc.pointer}).JSON(body))
			if masked := !strings.Contains(got, hush); masked != tc.masked {
				t.Errorf("got %s", got)
			}
			if !strings.Contains(got, "plain value") || !strings.Contains(got, "123456789") {
				t.Errorf("lost what is no secret: %s", got)
			}
		})
	}
	if got := broker.NewMask([]byte("{"), []string{"/a"}).Text(hush); got != hush {
		t.Errorf("a mask of no document: %s", got)
	}
	if got := (broker.Mask{}).Text(hush); got != hush {
		t.Errorf("the zero mask hides %s", got)
	}
}

func maskOf(t testing.TB, secrets ...string) broker.Mask {
	t.Helper()
	body, err := json.Marshal(secrets)
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for i := range secrets {
		at = append(at, fmt.Sprintf("/%d", i))
	}
	return broker.NewMask(body, at)
}

func TestMaskText(t *testing.T) {
	for _, tc := range []struct{ rule, secret, in, want string }{
		{"within an error text", hush, "key " + hush + " is in use", "key ...8058 is in use"},
		{"twice", hush, hush + "," + hush, "...8058,...8058"},
		{"in capitals", hush, "key " + strings.ToUpper(hush), "key ...8058"},
		{"in both cases at once", hush, hush + " " + strings.ToUpper(hush), "...8058 ...8058"},
		{"beside letters that grow in lower case", hush, "İ " + strings.ToUpper(hush), "İ ...8058"},
		{"beside a byte that is no UTF-8", hush, "\xff " + strings.ToUpper(hush), "\xff ...8058"},
		{"a short value as a whole", "ab1", "ab1", "..."},
		{"not a short value inside words", "ab1", "cab1n", "cab1n"},
		{"not an account id", "123456789012", "account 123456789012", "account 123456789012"},
		{"nothing", hush, "", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := maskOf(t, tc.secret).Text(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// I9: where one secret is a part of another, the longer one must not show what
// the shorter one left over.
func TestI9MaskOverlappingSecrets(t *testing.T) {
	short, long := "abcdefgh1234", "abcdefgh1234-and-the-rest-5678"
	for range 50 { // the order must not depend on a map's
		if got := maskOf(t, short, long).Text("key " + long); got != "key ...5678" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestMaskErrors(t *testing.T) {
	in := []broker.UpstreamError{{Code: "EQ-1", Message: "m " + hush, Details: strings.ToUpper(hush), Property: "/k/" + hush, Path: "a.b"}}
	want := []broker.UpstreamError{{Code: "EQ-1", Message: "m ...8058", Details: "...8058", Property: "/k/...8058", Path: "a.b"}}
	if diff := cmp.Diff(want, maskOf(t, hush).Errors(in)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if in[0].Details != strings.ToUpper(hush) {
		t.Error("changed its argument")
	}
}

func TestMaskJSON(t *testing.T) {
	m := maskOf(t, hush)
	for rule, tc := range map[string]struct{ in, want string }{
		"values anywhere":     {`{"a":["x ` + hush + `",{"b":"` + hush + `"}]}`, `{"a":["x ...8058",{"b":"...8058"}]}`},
		"numbers keep digits": {`{"n":12345678901234567890.10}`, `{"n":12345678901234567890.10}`},
		"nothing is escaped":  {`{"a":"<&>"}`, `{"a":"<&>"}`},
		"no JSON":             {`{`, `null`},
		"nothing":             {``, `null`},
	} {
		if got := string(m.JSON([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: got %s, want %s", rule, got, tc.want)
		}
	}
}

func TestMaskLargeDocuments(t *testing.T) {
	doc := `{"a":"` + strings.Repeat("x", 10_000) + hush + `","b":[` + strings.Repeat(`"`+hush+`",`, 250) + `1]}`
	begin := time.Now()
	got := string(maskOf(t, hush, "another-secret").JSON([]byte(doc)))
	if strings.Contains(got, hush) || !strings.Contains(got, strings.Repeat("x", 10_000)+"...8058") {
		t.Error("a secret shows, or text is lost")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

// I9: no text shows the secret, in either case.
func FuzzMask(f *testing.F) {
	f.Add(hush, "key ", " is in use")
	f.Add("0123456", "İ", "\xff")
	f.Add("K\u212Aabcdef", "", "k")
	f.Add("000000000", "00000", "") // what is shown and the text behind it make it again
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 6 || broker.MaskValue(secret) == secret {
			return
		}
		if b, _ := json.Marshal(secret); string(b) != `"`+secret+`"` {
			return // not what a JSON string holds as it is
		}
		m := maskOf(t, secret)
		for _, s := range []string{secret, upperASCII(secret)} {
			got := m.Text(before + s + after)
			if strings.Contains(got, s) {
				t.Errorf("%q shows %q", got, s)
			}
		}
	})
}

func upperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
