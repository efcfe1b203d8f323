package fabricsim

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// compare orders two values as times, as numbers or else as text, by what both
// of them are.
func compare(a, b string) int {
	if x, err := time.Parse(time.RFC3339, a); err == nil {
		if y, err := time.Parse(time.RFC3339, b); err == nil {
			return x.Compare(y)
		}
	}
	if x, ok := new(big.Rat).SetString(a); ok && plainNumber(a) {
		if y, ok := new(big.Rat).SetString(b); ok && plainNumber(b) {
			return x.Cmp(y)
		}
	}
	return strings.Compare(a, b)
}

// plainNumber keeps ids such as 1e5 or 0x1 from being read as numbers.
func plainNumber(s string) bool { return len(s) < 20 && strings.Trim(s, "-.0123456789") == "" }

// sorting is one sort criterion.
type sorting struct {
	property string
	down     bool
}

type sortings []sorting

func (l sortings) less(a, b doc) bool {
	for _, s := range l {
		x, y := each(a, s.property), each(b, s.property)
		var c int
		switch {
		case len(x) == 0 || len(y) == 0:
			c = len(x) - len(y)
		default:
			c = compare(fmt.Sprint(x[0]), fmt.Sprint(y[0]))
		}
		if c != 0 {
			return (c < 0) != s.down
		}
	}
	return false
}
