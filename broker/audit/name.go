package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const nameTime = "20060102T150405.000000000Z"

var namePattern = regexp.MustCompile(`^audit-([0-9]{8}T[0-9]{6}\.[0-9]{9}Z)-([0-9]+)\.jsonl$`)

func fileNameAt(at time.Time, pid int) string {
	return "audit-" + at.Format(nameTime) + "-" + strconv.Itoa(pid) + ".jsonl"
}

// parseName returns when a file was begun and by which process.
func parseName(name string) (at time.Time, pid string, ok bool) {
	m := namePattern.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, "", false
	}
	at, err := time.Parse(nameTime, m[1])
	return at, m[2], err == nil
}

// logNames returns the names of the log files in a directory, the oldest first.
func logNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ok, _ := filepath.Match("audit-*.jsonl", e.Name()); ok {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}
