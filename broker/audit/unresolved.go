package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"fabricbroker/broker"
)

// Unresolved is the list of creates that nobody has seen the end of: a file for
// each request and account, made before the first byte of the create leaves and
// removed when its outcome is on record.
type Unresolved struct{ d *Dir }

var _ broker.Intents = (*Unresolved)(nil)

// maxIntent is how large a file may be. A masked request has some 6 KB.
const maxIntent = 1 << 20

// record is what is in a file.
type record struct {
	Version int `json:"v"`
	broker.Intent
	Owner ownerInfo `json:"owner"`
}

// ownerInfo names the process that claimed. Token names its lock file.
type ownerInfo struct {
	PID   int    `json:"pid"`
	Token string `json:"token"`
}

// Claim implements broker.Intents. The file is synced with its directory when
// Claim returns (I7), and its name is taken for every process (I12), also by a
// file that a crash left incomplete.
func (u *Unresolved) Claim(ctx context.Context, i broker.Intent) error {
	b, err := json.Marshal(record{1, i, ownerInfo{os.Getpid(), u.d.owner.token}})
	if err != nil {
		return unavailable("claim", notWritten, err)
	}
	if len(b) >= maxIntent {
		return unavailable("claim", notWritten, fmt.Errorf("an intent of %d bytes", len(b)))
	}
	if err := u.d.there(); err != nil {
		return unavailable("claim", notWritten, err)
	}
	name := fileName(i.Account, i.Hash)
	// The lock lets nobody see half a file; the name is held by the file alone.
	err = u.d.exclusive(ctx, func() error { return u.d.create(unresolvedDir, name, append(b, '\n')) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return u.taken(name)
	}
	return unavailable("claim", notWritten, err)
}

// Settle implements broker.Intents. A file that is missing, or that by now is
// another proposal's, is settled already.
func (u *Unresolved) Settle(ctx context.Context, account string, h broker.Hash, id broker.ID) error {
	name := fileName(account, h)
	// Between reading whose it is and removing it nobody else may remove it: the
	// name could then be claimed anew, and that claim would be removed.
	err := u.d.exclusive(ctx, func() error {
		r, err := u.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return u.d.sync(unresolvedDir) // an earlier try may not have got that far
		case err != nil:
			return err
		case r.ProposalID != id:
			return nil
		}
		if err := u.d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return u.d.sync(unresolvedDir)
	})
	if err != nil {
		return unavailable("settle", notSettled, err)
	}
	return nil
}

// List implements broker.Intents, the oldest claim first. A file that cannot be
// read holds its request all the same and is listed: as an Intent without a
// ProposalID and Hash, whose Name tells the file.
func (u *Unresolved) List(ctx context.Context) ([]broker.Intent, error) {
	if err := u.d.there(); err != nil {
		return nil, unavailable("list", notListed, err)
	}
	out, whole, err := u.list()
	if err == nil && !whole { // perhaps it is being written: look once more when it is not
		err = u.d.exclusive(ctx, func() error { out, _, err = u.list(); return err })
	}
	if err != nil {
		return nil, unavailable("list", notListed, err)
	}
	slices.SortStableFunc(out, func(a, b broker.Intent) int { return a.ClaimedAt.Compare(b.ClaimedAt) })
	return out, nil
}

// list reads every file and reports whether it could.
func (u *Unresolved) list() (out []broker.Intent, whole bool, err error) {
	entries, err := fs.ReadDir(u.d.root.FS(), unresolvedDir)
	if err != nil {
		return nil, false, err
	}
	whole = true
	for _, e := range entries {
		name := path.Join(unresolvedDir, e.Name())
		r, err := u.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // settled meanwhile
		case err != nil:
			whole = false
			out = append(out, broker.Intent{Name: "unreadable file " + name})
		default:
			out = append(out, r.Intent)
		}
	}
	return out, whole, nil
}

// read returns the record in a file. It is refused unless it is whole and says
// what the file's name says.
func (u *Unresolved) read(name string) (record, error) {
	b, err := u.d.read(name, maxIntent)
	if err != nil {
		return record{}, err
	}
	var r record
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&r); err != nil {
		return record{}, fmt.Errorf("%s is incomplete or damaged: %w", name, err)
	}
	if r.Version != 1 || r.ProposalID == "" || fileName(r.Account, r.Hash) != name {
		return record{}, fmt.Errorf("%s is no intent of this version and name", name)
	}
	return r, nil
}

func (u *Unresolved) taken(name string) error {
	holder := "an earlier create whose file cannot be read"
	if r, err := u.read(name); err == nil {
		holder = "proposal " + broker.Quote(string(r.ProposalID))
	}
	return broker.Refuse(broker.ErrSameRequestUnresolved,
		"do not propose it again; look at fabric_change_status and on the provider's side, and let an operator resolve the earlier create first",
		"the very same request was sent before (%s) and its outcome is not known: it may exist and be billed", holder)
}

// fileName is the one name of a request and account. Both are written behind
// their lengths, so that no two pairs are written alike.
func fileName(account string, h broker.Hash) string {
	sum := sha256.New()
	for _, s := range []string{string(h), account} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		sum.Write(n[:])
		sum.Write([]byte(s))
	}
	return path.Join(unresolvedDir, hex.EncodeToString(sum.Sum(nil)))
}

// unavailable is a refusal for whoever asked, and the cause for the log.
func unavailable(op, message string, err error) error {
	return fmt.Errorf("audit: %s: %w (%w)", op, broker.Refuse(broker.ErrAuditUnavailable, repair, "%s", message), err)
}

const (
	repair      = "let the operator repair the state directory; `fabric-broker doctor` says what is wrong"
	notWritten  = "the create cannot be put on record first, and nothing is sent without that"
	notSettled  = "the create stays on record as unresolved although it was settled"
	notAdopted  = "an unresolved create of a process that is gone cannot be taken over"
	notJudged   = "the verdict on an unresolved create cannot be written"
	notListed   = "the record of unresolved creates cannot be read"
	notSwitched = "the stop switch cannot be read or set, so nothing is sent"
)
