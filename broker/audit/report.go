package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind says what happened to a line, as far as can be told.
type Kind string

// The kinds.
const (
	Changed Kind = "changed"
	Removed Kind = "removed"
	Doubled Kind = "doubled"
	Swapped Kind = "swapped"
	Cut     Kind = "cut" // the last lines are gone
)

// Bad is the first bad line of a file. Line counts from 1; of what was removed it
// is the line in whose place it stood, and 0 where the whole file is gone.
type Bad struct {
	Line   int
	Kind   Kind
	Detail string
}

// FileReport is what is known of one file.
type FileReport struct {
	Name  string
	Lines int
	// First and Last are the times of its first and last whole line.
	First, Last time.Time
	// Bad is nil where every line is where it was written.
	Bad *Bad
	// Torn is the number of a last line that was not written to its end, 0 where
	// there is none. A crash leaves one; it proves nothing.
	Torn int
	// Beyond is how many of its last lines audit.head does not vouch for.
	Beyond int
	// Notes are what else should be known.
	Notes []string
}

// Report is what Verify found.
type Report struct {
	Files []FileReport
	// Notes are about audit.head and the directory.
	Notes []string
}

// OK reports whether no line is known to be bad.
func (r Report) OK() bool {
	for _, f := range r.Files {
		if f.Bad != nil {
			return false
		}
	}
	return true
}

// Limits says what even an unbroken chain does not prove.
func (Report) Limits() string {
	return strings.Join([]string{
		"an unbroken chain does not prove:",
		"- that nobody rewrote it: who can write the directory can compute every hash anew, and audit.head with them; a copy elsewhere shows that",
		"- that the last lines are there: beyond what audit.head vouches for, lines can be cut off unseen, and more where audit.head is older or gone",
		"- that a process that left neither file nor entry in audit.head never ran",
		"- that the times are right: they are those of this machine's clock",
		"- that everything that happened was recorded: it holds only what the server was able to write",
	}, "\n")
}

// String is the report for people, a line for each file and note.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s: %s\n", shown(f.Name), f.verdict())
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "%s: note: %s\n", shown(f.Name), n)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func (f FileReport) verdict() string {
	var parts []string
	if f.Bad != nil {
		where := fmt.Sprintf("line %d: ", f.Bad.Line)
		if f.Bad.Line == 0 {
			where = "the file: "
		}
		parts = append(parts, "BROKEN, "+where+string(f.Bad.Kind)+": "+f.Bad.Detail)
	} else {
		parts = append(parts, "unbroken")
	}
	parts = append(parts, plural(f.Lines, "line"))
	if f.Lines > 0 && !f.First.IsZero() {
		parts = append(parts, "from "+f.First.Format(time.RFC3339)+" to "+f.Last.Format(time.RFC3339))
	}
	if f.Torn > 0 {
		parts = append(parts, fmt.Sprintf("line %d was not written to its end, as a crash leaves it", f.Torn))
	}
	if f.Beyond > 0 && f.Bad == nil {
		parts = append(parts, "audit.head does not vouch for the last "+plural(f.Beyond, "line"))
	}
	return strings.Join(parts, "; ")
}

// shown is a file's name as a terminal may get it: only our own names are plain.
func shown(name string) string {
	if namePattern.MatchString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
