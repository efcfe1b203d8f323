package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
	"fabricbroker/fabric/fabricsim"
)

// checkText searches the whole text of the result that tells the outcome.
func (r *caseRun) checkText() {
	text := strings.ToLower(strings.Join(r.said, "\n"))
	for _, m := range slices.Concat(r.k.Expect.ErrorMentions, r.k.Expect.Mentions) {
		if !strings.Contains(text, strings.ToLower(m)) {
			r.Errorf("the result does not mention %q: %s", m, text)
		}
	}
	for _, m := range r.k.Expect.Not {
		// Ids and digests are no text; as a word of its own nothing can be in one.
		if regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(m) + `\b`).MatchString(text) {
			r.Errorf("the result mentions %q: %s", m, text)
		}
	}
}

// bodies are the bodies of the dry runs and creates that arrived.
func (r *caseRun) bodies() [][]byte {
	var out [][]byte
	for _, e := range r.w.sim.History() {
		if e.Method == "POST" && isCreate(e.Path) {
			out = append(out, e.Body)
		}
	}
	return out
}

// I4: every dry run and create has the same bytes, those of the case.
func (r *caseRun) checkWire() {
	e, bodies := r.k.Expect, r.bodies()
	if len(bodies) == 0 {
		if e.Wire != nil || strings.HasPrefix(e.Outcome, "compile_ok") && r.proposed.at("error.code") != string(broker.ErrInvalidSpec) {
			r.Error("nothing arrived at the simulator")
		}
		return
	}
	for _, b := range bodies[1:] {
		if !bytes.Equal(b, bodies[0]) {
			r.Errorf("two bodies: %s and %s", bodies[0], b)
		}
	}
	var doc any
	if err := json.Unmarshal(bodies[0], &doc); err != nil {
		r.Fatal(err)
	}
	if e.Wire != nil {
		if d := cmp.Diff(e.Wire, doc); d != "" {
			r.Errorf("body (-want +got):\n%s", d)
		}
	}
	for _, has := range []map[string]any{e.WireHas, e.IfCreatedWireHas} {
		for pointer, want := range has {
			if d := cmp.Diff(want, pointed(doc, pointer)); d != "" {
				r.Errorf("body at %s (-want +got):\n%s", pointer, d)
			}
		}
	}
	for _, pointer := range e.WireLacks {
		if got := pointed(doc, pointer); got != nil {
			r.Errorf("body has %v at %s", got, pointer)
		}
	}
}

// pointed is what a pointer without escapes points at, nil if nothing.
func pointed(doc any, pointer string) any {
	for seg := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[seg]
		case []any:
			i, err := strconv.Atoi(seg)
			if err != nil || i < 0 || i >= len(d) {
				return nil
			}
			doc = d[i]
		default:
			return nil
		}
	}
	return doc
}

func (r *caseRun) checkPrice() {
	switch want := r.k.Expect.Price.(type) {
	case nil:
	case string: // unknown, unavailable
		if r.proposed.at("price_context.priced") != false || r.proposed.at("price_context.monthly_recurring") != nil {
			r.Errorf("price_context is %v, want it unpriced (%s)", r.proposed["price_context"], want)
		}
	case map[string]any:
		names := map[string]string{"monthly": "monthly_recurring", "one_time": "non_recurring"}
		for key, w := range want {
			got := r.proposed.at("price_context." + key)
			if name := names[key]; name != "" {
				got = r.proposed.at("price_context." + name)
			}
			if !sameAmount(w, got) {
				r.Errorf("price: %s is %v, want %v", key, got, w)
			}
		}
	default:
		r.Errorf("price %v has no meaning here", want)
	}
}

// sameAmount compares amounts by value and anything else as it stands; absent,
// null and "" are one.
func sameAmount(want, got any) bool {
	w, _ := want.(string)
	g, _ := got.(string)
	a, ok := new(big.Rat).SetString(w)
	b, ok2 := new(big.Rat).SetString(g)
	if ok && ok2 {
		return a.Cmp(b) == 0
	}
	return w == g
}

func (r *caseRun) checkCounts(when string) {
	e := r.k.Expect
	sent, made := r.w.creates()
	if sent > 1 {
		r.Errorf("%d creates were sent for one proposal", sent) // I2
	}
	switch posts := e.CreatePosts.(type) {
	case nil:
	case float64:
		if sent != int(posts) {
			r.Errorf("%d creates were sent, want %v", sent, posts)
		}
	case map[string]any:
		found := false
		for key, n := range posts {
			if strings.Contains(when, key) {
				found = true
				if f, _ := n.(float64); sent != int(f) {
					r.Errorf("%d creates were sent, want %v", sent, n)
				}
			}
		}
		if !found {
			r.Errorf("create_posts says nothing about %q", when)
		}
	}
	fabric := 0
	for _, h := range r.w.sim.History() {
		if strings.HasPrefix(h.Path, "/fabric/") {
			fabric++
		}
	}
	for _, c := range []struct {
		name string
		got  int
		want *int
		upTo bool
	}{
		{"assets were made", made, e.Creates, false},
		{"assets are stored", made, e.StoredMax, true},
		{"creates were sent", sent, e.CreatePostsMax, true},
		{"calls of the API were made", fabric, e.FabricCalls, false},
	} {
		if c.want != nil && (c.got > *c.want || c.got < *c.want && !c.upTo) {
			r.Errorf("%d %s, want %d", c.got, c.name, *c.want)
		}
	}
}

func (r *caseRun) checkAsserts() {
	if n := r.k.Expect.Needs; n != "" && n != "profile lookup says Google" {
		r.Errorf("needs %q has no meaning here", n)
	}
	for _, a := range r.k.Expect.Assert {
		switch a {
		case "no null anywhere in the body":
			for _, b := range r.bodies() {
				if bytes.Contains(b, []byte("null")) {
					r.Errorf("null in %s", b)
				}
			}
		case "name escaped on one line":
			r.checkOneLine()
		default:
			r.Errorf("the assertion %q has no meaning here", a)
		}
	}
}

// checkOneLine: the name of an upstream stands on one line, its line breaks
// escaped, in the result and in the prompt, and has no effect.
func (r *caseRun) checkOneLine() {
	r.confirm()
	if len(r.prompts) != 1 {
		r.Fatalf("the person was asked %d times, want once", len(r.prompts))
	}
	named := false
	for line := range strings.Lines(r.prompts[0]) {
		named = named || strings.HasPrefix(line, "To: ") && strings.Contains(line, `AWS\n`)
		if strings.HasPrefix(strings.TrimSpace(line), "SYSTEM") {
			r.Errorf("the name wrote a line of its own: %s", line)
		}
	}
	if !named {
		r.Errorf("the name is not on the line of its side:\n%s", r.prompts[0])
	}
}

// I9: what must not be printed is in no result, prompt, log or file, and no
// secret of this server is in a log.
func (r *caseRun) checkPrinted() {
	all := r.everything()
	for _, s := range append(slices.Clone(r.k.Expect.NeverPrinted), fabricsim.Secret) {
		if strings.Contains(all, s) {
			r.Errorf("%q was printed", s)
		}
	}
	if token, _ := r.proposed["confirm_token"].(string); token != "" && strings.Count(all, token) != 1 {
		r.Errorf("the confirm token was printed %d times, want once", strings.Count(all, token))
	}
}
