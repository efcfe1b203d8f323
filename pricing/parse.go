package pricing

import (
	"fmt"
	"strconv"
	"strings"
)

// mostAmountText bounds the work on one amount. It leaves room for a double
// printed in full and for the zeros that people write.
const mostAmountText = 64

// ParseMoney reads an amount: the text of a JSON number ("75.0", "7.5E1") of 0 or
// more, with at most 15 digits before the point and 6 after it, not counting
// zeros that change nothing. It never rounds and knows no signs, separators,
// spaces or currencies. Its errors are [*AmountError].
//
// Exponents are read because a price arrives as a JSON number, and some
// serializers write doubles that way.
func ParseMoney(s string) (Money, error) {
	refuse := func(reason string) (Money, error) {
		return Money{}, &AmountError{cut(s, mostQuoted), reason}
	}
	if s == "" {
		return refuse("empty")
	}
	if len(s) > mostAmountText {
		return refuse(fmt.Sprintf("longer than %d characters", mostAmountText))
	}
	if s[0] == '-' {
		return refuse("negative")
	}

	whole, rest := leadingDigits(s)
	if whole == "" {
		return refuse(`does not start with a digit; write it like "1200.50"`)
	}
	if len(whole) > 1 && whole[0] == '0' {
		return refuse("starts with a superfluous 0")
	}
	fraction, hasPoint := "", strings.HasPrefix(rest, ".")
	if hasPoint {
		if fraction, rest = leadingDigits(rest[1:]); fraction == "" {
			return refuse("no digit after the point")
		}
	}
	exponent := 0
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		var ok bool
		if exponent, rest, ok = parseExponent(rest[1:]); !ok {
			return refuse("not an exponent after the e")
		}
	}
	if rest != "" {
		return refuse(`digits and one point only; write it like "1200.50"`)
	}

	// The amount is digits times 10 to the power of exponent from here on.
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	significant := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(significant)
	if significant == "" {
		return Money{}, nil
	}
	if len(significant)+exponent > unitDigits {
		return refuse(fmt.Sprintf("more than %d digits before the point", unitDigits))
	}
	if -exponent > fractionDigits {
		return refuse(fmt.Sprintf("more than %d digits after the point", fractionDigits))
	}
	return assemble(significant, exponent), nil
}

// assemble expects bounds that were checked: the padded digits are 21 at most,
// and the two halves fit their types.
func assemble(significant string, exponent int) Money {
	micros := significant + strings.Repeat("0", exponent+fractionDigits)
	if missing := fractionDigits + 1 - len(micros); missing > 0 {
		micros = strings.Repeat("0", missing) + micros
	}
	point := len(micros) - fractionDigits
	units, err := strconv.ParseUint(micros[:point], 10, 64)
	if err != nil {
		panic("pricing: bug: " + err.Error())
	}
	part, err := strconv.ParseUint(micros[point:], 10, 32)
	if err != nil {
		panic("pricing: bug: " + err.Error())
	}
	return Money{units, uint32(part)}
}

// parseExponent reads what follows the e. An exponent of more than four digits
// counts as 9999: beyond every bound, so that only a 0 survives it.
func parseExponent(s string) (exponent int, rest string, ok bool) {
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	digits, rest := leadingDigits(strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+"))
	if strings.HasPrefix(s, "-+") || digits == "" {
		return 0, rest, false
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > 4 {
		digits = "9999"
	}
	if digits == "" {
		return 0, rest, true
	}
	n, err := strconv.Atoi(digits)
	return sign * n, rest, err == nil
}

func leadingDigits(s string) (digits, rest string) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return s[:i], s[i:]
		}
	}
	return s, ""
}
