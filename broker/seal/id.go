package seal

import (
	"encoding/hex"
	"errors"

	"fabricbroker/broker"
)

// packID returns the 16 bytes of an id. Ids are uuids in lower case: only they
// fit a token of 140 characters and come back as the same text.
func packID(id broker.ID) (b [idSize]byte, err error) {
	s := string(id)
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return b, errors.New("the proposal's id is no uuid")
	}
	if _, err := hex.Decode(b[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])); err != nil || unpackID(b) != id {
		return b, errors.New("the proposal's id is no uuid in lower case")
	}
	return b, nil
}

func unpackID(b [idSize]byte) broker.ID {
	s := hex.EncodeToString(b[:])
	return broker.ID(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
}

// packHash returns the 32 bytes of a request hash.
func packHash(h broker.Hash) (b requestHash, err error) {
	n, err := hex.Decode(b[:], []byte(h[:min(len(h), 2*len(b))]))
	if err != nil || n != len(b) || hex.EncodeToString(b[:]) != string(h) {
		return b, errors.New("the proposal's request hash is not SHA-256 in lower-case hex")
	}
	return b, nil
}
