package elicit

import (
	"crypto/subtle"
	"io"
	"strings"
)

// codeAlphabet has no two characters that look or sound alike in a client's
// font: none of 0 O Q, 1 I L, 2 Z, 5 S, 6 G, 8 B, U V.
const codeAlphabet = "ACDEFHJKMNPRTWXY3479"

// codeLength gives 64 million codes: an answer has one try.
const codeLength = 6

// NewCode returns a fresh code of six unmistakable characters. It panics when
// rand fails, which crypto/rand.Reader does not.
func NewCode(rand io.Reader) string {
	const fair = 256 - 256%len(codeAlphabet) // beyond it some characters would come more often
	code := make([]byte, 0, codeLength)
	var b [1]byte
	for len(code) < codeLength {
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			panic("elicit: bug: the source of codes failed: " + err.Error())
		}
		if int(b[0]) < fair {
			code = append(code, codeAlphabet[int(b[0])%len(codeAlphabet)])
		}
	}
	return string(code)
}

// sameCode compares a typed code with the asked one in constant time. Spaces
// around it and the case of ASCII letters do not count.
func sameCode(typed, asked string) bool {
	t, a := upper(strings.TrimSpace(typed)), upper(strings.TrimSpace(asked))
	return a != "" && subtle.ConstantTimeCompare([]byte(t), []byte(a)) == 1
}

// upper folds ASCII only: Unicode has other letters whose capital is an S or a K.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
