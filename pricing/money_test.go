package pricing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fabricbroker/pricing"
)

func money(t testing.TB, s string) pricing.Money {
	t.Helper()
	m, err := pricing.ParseMoney(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParseMoney(t *testing.T) {
	for _, tt := range []struct{ in, text, display string }{
		{"0", "0", "0.00"},
		{"0.00", "0", "0.00"},
		{"0e99999999999999999999", "0", "0.00"},
		{"500", "500", "500.00"},
		{"500.00", "500", "500.00"},
		{"75.0", "75", "75.00"},
		{"75.50", "75.5", "75.50"},
		{"0.05", "0.05", "0.05"},
		{"0.0525", "0.0525", "0.0525"},
		{"0.000001", "0.000001", "0.000001"},
		{"0.1000000000", "0.1", "0.10"},
		{"1200", "1200", "1,200.00"},
		{"1234567.891", "1234567.891", "1,234,567.891"},
		{"999", "999", "999.00"},
		{"100000", "100000", "100,000.00"},
		{"999999999999999.999999", "999999999999999.999999", "999,999,999,999,999.999999"},
		// Doubles beyond what text would show, and how some serializers write them.
		{"7.5E1", "75", "75.00"},
		{"1.0E-3", "0.001", "0.001"},
		{"5e+2", "500", "500.00"},
		{"12e-1", "1.2", "1.20"},
		{"1E14", "100000000000000", "100,000,000,000,000.00"},
		{"0.0000001e1", "0.000001", "0.000001"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			m := money(t, tt.in)
			if m.String() != tt.text || m.Display() != tt.display {
				t.Errorf("got %s and %s, want %s and %s", m, m.Display(), tt.text, tt.display)
			}
		})
	}
}

func TestParseMoneyRefuses(t *testing.T) {
	for _, tt := range []struct{ rule, in, reason string }{
		{"nothing", "", "empty"},
		{"negative", "-1", "negative"},
		{"negative zero", "-0", "negative"},
		{"a sign", "+1", "start with a digit"},
		{"space before", " 1", "start with a digit"},
		{"space after", "1 ", "digits and one point"},
		{"no digit before the point", ".5", "start with a digit"},
		{"no digit after the point", "5.", "after the point"},
		{"two points", "1.2.3", "digits and one point"},
		{"separators", "1,200", "digits and one point"},
		{"superfluous zero", "0500", "superfluous 0"},
		{"currency", "USD 5", "start with a digit"},
		{"hex", "0x10", "digits and one point"},
		{"underscore", "1_000", "digits and one point"},
		{"NaN", "NaN", "start with a digit"},
		{"null", "null", "start with a digit"},
		{"other digits", "٣", "start with a digit"},
		{"empty exponent", "1e", "exponent"},
		{"signed exponent without digits", "1e-", "exponent"},
		{"two signs", "1e-+1", "exponent"},
		{"two signs the other way", "1e+-1", "exponent"},
		{"broken exponent", "1e1.5", "digits and one point"},
		{"16 digits", "1000000000000000", "15 digits before"},
		{"16 digits by exponent", "1e15", "15 digits before"},
		{"huge exponent", "1e999999999999999999999", "15 digits before"},
		{"tiny exponent", "1e-999999999999999999999", "6 digits after"},
		{"7 decimals: it never rounds", "0.0000001", "6 digits after"},
		{"a float's dirt", "0.30000000000000004", "6 digits after"},
		{"long text", "1." + strings.Repeat("0", 70), "longer"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			m, err := pricing.ParseMoney(tt.in)
			var amount *pricing.AmountError
			if !errors.As(err, &amount) || !m.IsZero() {
				t.Fatalf("ParseMoney(%q) = %v, %v; want an *AmountError", tt.in, m, err)
			}
			if !strings.Contains(err.Error(), tt.reason) || !strings.HasPrefix(err.Error(), "pricing: ") {
				t.Errorf("error %q does not say %q", err, tt.reason)
			}
		})
	}
}

func TestMoneyJSON(t *testing.T) {
	type row struct {
		Price pricing.Money  `json:"price"`
		Other *pricing.Money `json:"other,omitempty"`
	}
	for _, tt := range []struct{ in, out string }{
		{`{"price":75.0}`, `{"price":"75"}`},
		{`{"price": 7.5E1 }`, `{"price":"75"}`},
		{`{"price":"0.0525"}`, `{"price":"0.0525"}`},
		{`{"price":1,"other":"2.50"}`, `{"price":"1","other":"2.5"}`},
		{`{"price":1,"other":null}`, `{"price":"1"}`},
	} {
		var r row
		if err := json.Unmarshal([]byte(tt.in), &r); err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.out, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
	for _, in := range []string{`{"price":null}`, `{"price":true}`, `{"price":[]}`, `{"price":{}}`, `{"price":""}`, `{"price":-1}`, `{"price":"x"}`} {
		var amount *pricing.AmountError
		if err := json.Unmarshal([]byte(in), new(row)); !errors.As(err, &amount) {
			t.Errorf("%s: error %v, want an *AmountError", in, err)
		}
	}
}

// TestMoneyArithmetic holds Money against exact arithmetic in millionths.
func TestMoneyArithmetic(t *testing.T) {
	amount := rapid.Custom(func(t *rapid.T) pricing.Money {
		text := fmt.Sprintf("%d.%06d", rapid.Uint64Range(0, 999_999_999_999_999).Draw(t, "units"), rapid.IntRange(0, 999_999).Draw(t, "micros"))
		m, err := pricing.ParseMoney(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
	exact := func(m pricing.Money) *big.Rat {
		r, ok := new(big.Rat).SetString(m.String())
		if !ok {
			t.Fatalf("%s is no number", m)
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		m, n := amount.Draw(t, "m"), amount.Draw(t, "n")
		times := rapid.IntRange(0, 18_000).Draw(t, "times")

		if again, err := pricing.ParseMoney(m.String()); err != nil || again != m {
			t.Errorf("%s reads back as %s, %v", m, again, err)
		}
		if again, err := pricing.ParseMoney(strings.ReplaceAll(m.Display(), ",", "")); err != nil || again != m {
			t.Errorf("%s displays as %s", m, m.Display())
		}
		if got, want := exact(m.Add(n)), new(big.Rat).Add(exact(m), exact(n)); got.Cmp(want) != 0 {
			t.Errorf("%s + %s = %s", m, n, m.Add(n))
		}
		if got, want := exact(m.Mul(times)), new(big.Rat).Mul(exact(m), big.NewRat(int64(times), 1)); got.Cmp(want) != 0 {
			t.Errorf("%s * %d = %s", m, times, m.Mul(times))
		}
		if m.Cmp(n) != exact(m).Cmp(exact(n)) || m.Cmp(n) != -n.Cmp(m) || m.Equal(n) != (m.Cmp(n) == 0) {
			t.Errorf("%s against %s is %d", m, n, m.Cmp(n))
		}
	})
}

func TestMoneyPanicsOnOverflow(t *testing.T) {
	huge := money(t, "999999999999999").Mul(18_000)
	for rule, f := range map[string]func(){
		"product":         func() { huge.Mul(1000) },
		"sum":             func() { huge.Add(huge) },
		"negative factor": func() { huge.Mul(-1) },
	} {
		t.Run(rule, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"", "0", "-0", "500.00", "7.5E1", "1e15", "1e-7", "0e9999999", "0E10000000000000000000", "0.30000000000000004", "1,200", "999999999999999.999999", "00", "1.", "1e+-1", "9e14"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := pricing.ParseMoney(s)
		if err != nil {
			var amount *pricing.AmountError
			if !errors.As(err, &amount) {
				t.Errorf("%q: not one of our errors: %v", s, err)
			}
			return
		}
		if m.IsZero() { // math/big refuses large exponents, even those of a 0
			if mantissa, _, _ := strings.Cut(strings.ToLower(s), "e"); strings.ContainsAny(mantissa, "123456789") {
				t.Errorf("%q was read as 0", s)
			}
		} else if mustRat(t, s).Cmp(mustRat(t, m.String())) != 0 {
			t.Errorf("%q was read as %s", s, m)
		}
		if again, err := pricing.ParseMoney(m.String()); err != nil || again != m || again.String() != m.String() {
			t.Errorf("%q: %s reads back as %s, %v", s, m, again, err)
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var decoded pricing.Money
		if err := json.Unmarshal(data, &decoded); err != nil || decoded != m {
			t.Errorf("%q: %s decodes to %s, %v", s, data, decoded, err)
		}
	})
}

func mustRat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%s is no number", s)
	}
	return r
}
