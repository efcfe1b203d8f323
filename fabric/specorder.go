package fabric

import (
	"slices"
	"strconv"
	"strings"

	"fabricbroker/broker"
)

// wholeSpec is the path of a problem of the spec as a whole.
const wholeSpec = "spec"

// sortIssues puts issues into the order of specFields, unknown fields last and
// in the order in which they were met.
func sortIssues(issues []broker.Issue) {
	slices.SortStableFunc(issues, func(a, b broker.Issue) int {
		return slices.Compare(specRank(a.Path), specRank(b.Path))
	})
}

const unknownRank = 1 << 20

// specRank is where a path stands: the index of each of its segments.
func specRank(path string) []int {
	if path == wholeSpec {
		return nil
	}
	var rank []int
	fields := specFields
	for seg := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		if n, ok := strings.CutPrefix(seg, "["); ok {
			i, _ := strconv.Atoi(strings.TrimSuffix(n, "]"))
			rank = append(rank, i)
			continue
		}
		i := slices.IndexFunc(fields, func(f specField) bool { return f.name == seg })
		if i < 0 {
			return append(rank, unknownRank)
		}
		rank = append(rank, i)
		fields = fields[i].fields
	}
	return rank
}
