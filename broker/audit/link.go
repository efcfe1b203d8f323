package audit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// link checks that what goes on from another file goes on from its last line.
func (v verifier) link(out *Report) {
	for i, c := range v.chains {
		f := &out.Files[i]
		if len(c.entries) == 0 || f.Bad != nil || c.entries[0].prev == noHash {
			continue
		}
		first := c.entries[0]
		if seq, ok := v.ends[first.prev]; ok && seq+1 == first.seq {
			continue
		}
		if v.known(first) {
			continue // pruned; or its file is bad or missing, which is said there
		}
		if before := v.before(i, out); before != nil && before.Bad != nil {
			continue // that says enough
		} else if before != nil {
			before.Bad = bad(before.Lines, Cut, "%s goes on from number %d, which is gone", c.name, first.seq-1)
			continue
		}
		f.Bad = bad(0, Removed, "it goes on from number %d of another file, which is gone", first.seq-1)
	}
}

// known reports whether audit.head has the line before first as the last of a file.
func (v verifier) known(first entry) bool {
	for _, h := range v.heads.entries {
		if h.Hash == first.prev && h.Seq+1 == first.seq {
			return true
		}
	}
	return false
}

// before returns the file of the same process before file i, if that has not come
// as far as i begins, or nobody knows how far it came.
func (v verifier) before(i int, out *Report) *FileReport {
	_, pid, ok := parseName(v.chains[i].name)
	for n := i - 1; ok && n >= 0; n-- {
		if _, other, ok := parseName(v.chains[n].name); !ok || other != pid {
			continue
		}
		if e, ok := v.chains[n].last(); out.Files[n].Bad != nil || ok && e.seq+1 < v.chains[i].entries[0].seq {
			return &out.Files[n]
		}
		return nil
	}
	return nil
}

// missing reports files that audit.head knows and that are not here, but for
// those that were pruned.
func (v verifier) missing(out *Report) error {
	names := map[string]bool{}
	for _, c := range v.chains {
		names[c.name] = true
	}
	now, err := readHeads(filepath.Join(v.dir, headFile)) // one may have been pruned since
	if err != nil {
		return fmt.Errorf("audit: verify: %w", err)
	}
	pruned := 0
	for name, h := range v.heads.entries {
		if names[name] {
			continue
		}
		if h.Pruned.IsZero() && now.entries[name].Pruned.IsZero() {
			out.Files = append(out.Files, FileReport{Name: name, Bad: &Bad{
				Kind: Removed, Detail: fmt.Sprintf("audit.head says that it had numbers %d to %d", h.First, h.Seq),
			}})
			continue
		}
		pruned++
	}
	if pruned > 0 {
		out.Notes = append(out.Notes, plural(pruned, "earlier file")+" pruned; what they said cannot be checked any more")
	}
	slices.SortFunc(out.Files, func(a, b FileReport) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
