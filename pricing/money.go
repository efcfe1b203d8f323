package pricing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

const (
	fractionDigits = 6         // what Money keeps after the point
	microsPerUnit  = 1_000_000 // 10 to the power of fractionDigits
	unitDigits     = 15        // what ParseMoney accepts before the point
)

// Money is an exact amount of 0 or more, to a millionth. It carries no currency:
// the currency stands beside it. The zero value is 0, and equal amounts are
// equal with ==.
type Money struct {
	units  uint64
	micros uint32 // below microsPerUnit
}

// String returns the shortest exact text: "500", "75.5", "0.05". [ParseMoney]
// reads it back to the same amount, as long as the amount was parsed and not a
// sum or product that grew past what ParseMoney accepts.
func (m Money) String() string {
	units := strconv.FormatUint(m.units, 10)
	if m.micros == 0 {
		return units
	}
	return units + "." + strings.TrimRight(m.fraction(), "0")
}

// Display returns the amount as people read it, exact, with thousands separators
// and at least two decimals: "1,200.00", "0.0525".
func (m Money) Display() string {
	units := strconv.FormatUint(m.units, 10)
	var b strings.Builder
	for i := range len(units) {
		if i > 0 && (len(units)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(units[i])
	}
	fraction := m.fraction()
	b.WriteByte('.')
	b.WriteString(fraction[:2])
	b.WriteString(strings.TrimRight(fraction[2:], "0"))
	return b.String()
}

func (m Money) fraction() string { return fmt.Sprintf("%0*d", fractionDigits, m.micros) }

// Cmp returns -1, 0 or +1 as m is less than, equal to or more than n.
func (m Money) Cmp(n Money) int {
	return cmp.Or(cmp.Compare(m.units, n.units), cmp.Compare(m.micros, n.micros))
}

// Equal reports whether m and n are the same amount, as m == n does.
func (m Money) Equal(n Money) bool { return m == n }

// IsZero reports whether m is 0.
func (m Money) IsZero() bool { return m == Money{} }

// Add returns m + n. It panics when the sum does not fit, which takes thousands
// of amounts of the largest size [ParseMoney] accepts.
func (m Money) Add(n Money) Money {
	micros := m.micros + n.micros
	units, carry := bits.Add64(m.units, n.units, uint64(micros/microsPerUnit))
	if carry != 0 {
		panic("pricing: bug: a sum of money does not fit")
	}
	return Money{units, micros % microsPerUnit}
}

// Mul returns m times n. It panics when n is negative, or when the product does
// not fit: any parsed amount may be multiplied by 18,000 and less.
func (m Money) Mul(n int) Money {
	if n < 0 {
		panic("pricing: bug: money times a negative number")
	}
	high, units := bits.Mul64(m.units, uint64(n))
	microsHigh, micros := bits.Mul64(uint64(m.micros), uint64(n))
	if high != 0 || microsHigh != 0 {
		panic("pricing: bug: a product of money does not fit")
	}
	return Money{units: units}.Add(Money{micros / microsPerUnit, uint32(micros % microsPerUnit)})
}

// MarshalText writes the text of [Money.String].
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what [ParseMoney] reads. Its errors are [*AmountError].
func (m *Money) UnmarshalText(text []byte) error {
	parsed, err := ParseMoney(string(text))
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}

// MarshalJSON writes a JSON string, so that no reader turns it into a float.
func (m Money) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// UnmarshalJSON reads a JSON string, or a JSON number by its digits, as
// [ParseMoney] does. Anything else is an [*AmountError], null included: no amount
// is not 0.
func (m *Money) UnmarshalJSON(data []byte) error {
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return &AmountError{cut(text, mostQuoted), "not a JSON string"}
		}
	}
	return m.UnmarshalText([]byte(text))
}
