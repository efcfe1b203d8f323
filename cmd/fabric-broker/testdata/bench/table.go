package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

type unit struct {
	format string
	divide float64
}

var (
	ms        = unit{"%.2f ms", 1}
	bytesOf   = unit{"%.0f B", 1}
	megabytes = unit{"%.1f MB", 1e6}
)

func (u unit) of(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf(u.format, v/u.divide)
}

// row is a figure beside its floor, and its reach: at most so many times the
// floor, at most so much more than it, or at most so much. Zero is no reach.
type row struct {
	figure      string
	unit        unit
	ours, floor []float64
	times, most float64
	added       float64
}

func (r row) ratio() float64 { return at(r.ours, 0.5) / at(r.floor, 0.5) }

// verdict judges at the median.
func (r row) verdict() (reach, verdict string) {
	over := false
	switch {
	case r.times > 0:
		reach, over = fmt.Sprintf("<= %.1fx", r.times), r.ratio() > r.times
	case r.added > 0:
		reach, over = "<= +"+r.unit.of(r.added), at(r.ours, 0.5)-at(r.floor, 0.5) > r.added
	case r.most > 0:
		reach, over = "<= "+r.unit.of(r.most), at(r.ours, 0.5) > r.most
	default:
		return "-", "-"
	}
	if over {
		return reach, "OVER"
	}
	return reach, "ok"
}

// at returns the value that the share q of all is not above, NaN where there
// are none.
func at(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return v[max(0, int(math.Ceil(q*float64(len(v))))-1)]
}

type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	wide := 0
	for _, r := range t.rows {
		wide = max(wide, len(r.figure))
	}
	fmt.Fprintf(tw, "%-*s\tours median\tp99\tfloor median\tp99\tratio\treach\t\tn\t\n", wide, "figure")
	var over []string
	for _, r := range t.rows {
		ratio := "-"
		if v := r.ratio(); !math.IsNaN(v) {
			ratio = fmt.Sprintf("%.2f", v)
		}
		reach, verdict := r.verdict()
		if verdict == "OVER" {
			over = append(over, r.figure)
		}
		fmt.Fprintf(tw, "%-*s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", wide, r.figure,
			r.unit.of(at(r.ours, 0.5)), r.unit.of(at(r.ours, 0.99)), r.unit.of(at(r.floor, 0.5)), r.unit.of(at(r.floor, 0.99)),
			ratio, reach, verdict, len(r.ours))
	}
	_ = tw.Flush()
	fmt.Fprintln(w)
	if len(over) == 0 {
		fmt.Fprintln(w, "Nothing is over its reach.")
		return
	}
	fmt.Fprintln(w, "Over reach:", strings.Join(over, "; "))
}
