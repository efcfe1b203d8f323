package broker_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fabricbroker/broker"
)

func TestQuote(t *testing.T) {
	for _, tc := range []struct{ rule, in, want string }{
		{"plain text", "dc-aws_01 (a)", `"dc-aws_01 (a)"`},
		{"nothing", "", `""`},
		{"quotes and backslashes", `a"b\n`, `"a\"b\\n"`},
		{"lines", "a\nb\r\tc", `"a\nb\r\tc"`},
		{"control characters", "\x00\x1b[2J\x7f", `"\x00\x1b\x5b2J\x7f"`},
		{"C1 controls", "\u0085", `"\u0085"`},
		{"line separators", "\u2028\u2029", `"\u2028\u2029"`},
		{"bidi", "a\u202eb\u2066", `"a\u202eb\u2066"`},
		{"zero width", "a\u200bb\ufeff\u200d", `"a\u200bb\ufeff\u200d"`},
		{"other scripts", "pаypal", `"p\u0430ypal"`},
		{"beyond the basic plane", "\U0001F600\U000E0041", `"\U0001f600\U000e0041"`},
		{"markdown", "`*[]<>|~#", `"\x60\x2a\x5b\x5d\x3c\x3e\x7c\x7e\x23"`},
		{"links", "https://evil.example", `"https\x3a//evil.example"`},
		{"a colon alone", "12:30", `"12:30"`},
		{"no UTF-8", "a\xffb\xc3", `"a\xffb\xc3"`},
		{"half of a surrogate", "\xed\xa0\x80", `"\xed\xa0\x80"`},
		{"the replacement character itself", "\uFFFD", `"\ufffd"`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := broker.Quote(tc.in); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestQuoteSaysWhatItCut(t *testing.T) {
	for _, tc := range []struct {
		rule, in string
		limit    int
		want     string
	}{
		{"not at the limit", "abc", 3, `"abc"`},
		{"one more", "abcd", 3, `"abc" (cut, 1 bytes more)`},
		{"counts characters and says bytes", "äöüß", 2, `"\u00e4\u00f6" (cut, 4 bytes more)`},
		{"everything", "abc", 0, `"" (cut, 3 bytes more)`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := broker.QuoteMax(tc.in, tc.limit); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if got := broker.Quote(strings.Repeat("a", broker.MaxQuoted+1)); !strings.HasSuffix(got, `" (cut, 1 bytes more)`) {
		t.Errorf("got %s", got)
	}
}

// quoted checks what must hold of every Quote, and undoes it.
func quoted(fatalf func(string, ...any), in, out string) (back string) {
	if len(out) < 2 || out[0] != '"' || out[len(out)-1] != '"' {
		fatalf("Quote(%q) = %s is not in quotes", in, out)
	}
	body := out[1 : len(out)-1]
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c < 0x20 || c > 0x7e:
			fatalf("Quote(%q) = %s holds %q", in, out, c)
		case c == '"' || strings.ContainsRune("`*[]<>|~#", rune(c)):
			fatalf("Quote(%q) = %s holds a bare %c", in, out, c)
		case c == '\\':
			i++ // whatever follows is escaped
			if i == len(body) {
				fatalf("Quote(%q) = %s ends in an escape: its last quote is no end", in, out)
			}
		}
	}
	if strings.Contains(body, "://") {
		fatalf("Quote(%q) = %s holds a link", in, out)
	}
	return body
}

func TestQuoteIsSafeAndInjective(t *testing.T) {
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.StringN(0, 40, 160), rapid.StringOfN(rapid.RuneFrom([]rune(`"\nx0a:/[`+"\n\u202e`")), 0, 12, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })).Draw(t, "in")
		out := broker.Quote(in)
		quoted(t.Fatalf, in, out)
		if other, ok := seen[out]; ok && other != in {
			t.Fatalf("%q and %q are both %s", in, other, out)
		}
		seen[out] = in
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `a"b\`, "\x00\xff\u202e", "https://x", "`*[]<>|~#", strings.Repeat("ä", 300), `\x2a`, `" (cut, 1 bytes more)`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := broker.QuoteMax(in, len(in))
		quoted(t.Fatalf, in, out)
		if cut := broker.Quote(in); cut != out {
			head, tail, found := strings.Cut(cut, ` (cut, `)
			for found && strings.Contains(tail, ` (cut, `) { // the text itself may say so
				var more string
				more, tail, _ = strings.Cut(tail, ` (cut, `)
				head += ` (cut, ` + more
			}
			quoted(t.Fatalf, in, head)
		}
	})
}
