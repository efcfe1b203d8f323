package audit

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"fabricbroker/broker"
)

// adoptAfter is how long after the create's deadline an intent may be adopted:
// by then even a create that left in its last moment is no longer under way.
var adoptAfter = time.Minute

// Adopt makes i the intent of this process if the one that claimed it is gone
// and the create's deadline, SendBy, plus a minute is past. It reports whether it
// did; of several processes one does. The name stays taken throughout (I12). What
// is settled by now, is another proposal's or is this process's own is left.
// ErrAuditUnavailable: nobody knows, or it could not be written.
func (u *Unresolved) Adopt(ctx context.Context, i broker.Intent) (bool, error) {
	name := fileName(i.Account, i.Hash)
	adopted := false
	err := u.d.exclusive(ctx, func() error {
		r, err := u.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if r.ProposalID != i.ProposalID || !u.d.now().Round(0).After(r.SendBy.Add(adoptAfter)) {
			return nil
		}
		if alive, err := u.d.alive(r.Owner.Token); err != nil || alive {
			return err
		}
		r.Owner = ownerInfo{os.Getpid(), u.d.owner.token}
		err = u.d.overwrite(name, r)
		adopted = err == nil
		return err
	})
	if err != nil {
		return false, unavailable("adopt", notAdopted, err)
	}
	return adopted, nil
}

// Judge writes a person's verdict into the intent of proposal id, durably. Who
// holds the intent, or adopts it, takes the verdict from there; a later one
// replaces it. ErrProposalUnknown: there is no such intent, or it is settled.
func (u *Unresolved) Judge(ctx context.Context, id broker.ID, v broker.Verdict) error {
	found := false
	err := u.d.exclusive(ctx, func() error {
		all, _, err := u.list()
		if err != nil {
			return err
		}
		for _, i := range all {
			if i.ProposalID != id || id == "" {
				continue
			}
			found = true
			name := fileName(i.Account, i.Hash)
			r, err := u.read(name)
			if err != nil {
				return err
			}
			r.Verdict = &v
			return u.d.overwrite(name, r)
		}
		return nil
	})
	switch {
	case err != nil:
		return unavailable("judge", notJudged, err)
	case !found:
		return broker.Refuse(broker.ErrProposalUnknown, "`fabric-broker doctor` lists the unresolved creates",
			"there is no unresolved create of proposal %s", broker.Quote(string(id)))
	}
	return nil
}

// overwrite puts r in the place of the intent called name.
func (d *Dir) overwrite(name string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return d.replace(unresolvedDir, name, intentSuffix, append(b, '\n'))
}
