package fabric

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fabricbroker/broker"
)

// judge holds what is known about a request against what its assets say.
type judge struct {
	findings
	r         broker.Request
	body      any
	bandwidth int64
	now       time.Time

	localToken string // path of a token that allows no remote connection
}

// look judges one asset and returns its facts.
func (j *judge) look(rf ref, doc, pack any) asset {
	f := asset{
		Name:    nameOf(doc),
		Metro:   strings.ToUpper(clean(text(at(doc, "location", "metroCode")), 8)),
		Region:  clean(text(at(doc, "location", "region")), 40),
		Account: clean(text(at(doc, "account", "accountNumber")), 40),
		Project: clean(text(at(doc, "project", "projectId")), 100),
		State:   strings.ToUpper(clean(text(at(doc, "state")), 40)),
	}
	switch rf.kind {
	case kindPort:
		j.port(rf, doc, f)
	case kindRouter:
		f.Package = strings.ToUpper(clean(text(at(doc, "package", "code")), 40))
		j.router(rf, pack, f)
	case kindNetwork:
		f.Scope = strings.ToUpper(clean(text(at(doc, "scope")), 40))
		if f.State != "" && f.State != "ACTIVE" {
			j.refuse(rf.path, fmt.Sprintf("network %s is %s, not ACTIVE: wait, or use another one", rf.uuid, codeWord(f.State)))
		}
	case kindProfile:
		j.profile(rf, doc, f)
	case kindToken:
		f = j.token(rf, doc, f)
	}
	return f
}

// nameOf is an asset's name as it came, bounded. Whoever shows it escapes it:
// a person is to see that it has line breaks or invisible characters in it.
func nameOf(doc any) string {
	const most = 200
	s := text(at(doc, "name"))
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func (j *judge) port(rf ref, doc any, f asset) {
	if f.State != "" && f.State != "ACTIVE" && f.State != "PROVISIONED" {
		j.warn(rf.path, fmt.Sprintf("port %s is %s, not ACTIVE", rf.uuid, codeWord(f.State)))
	}
	// That the two must agree is nowhere documented: the dry run decides.
	link, port := text(at(rf.point, "linkProtocol", "type")), text(at(doc, "encapsulation", "type"))
	if link != "" && port != "" && !strings.EqualFold(link, port) {
		j.warn(rf.path, fmt.Sprintf("the port's encapsulation is %s, the link protocol %s", codeWord(clean(port, 40)), codeWord(link)))
	}
}

func (j *judge) router(rf ref, pack any, f asset) {
	if f.State != "" && f.State != "PROVISIONED" {
		j.refuse(rf.path, fmt.Sprintf("router %s is %s, not PROVISIONED: wait until it is", rf.uuid, codeWord(f.State)))
	}
	if most, ok := number(at(pack, "vcBandwidthMax")); ok && most > 0 && j.bandwidth > most {
		j.refuse(j.path("/bandwidth"), fmt.Sprintf("%s routers carry at most %d Mbps per connection, %d Mbps is asked for", codeWord(f.Package), most, j.bandwidth))
	} else if pack == nil && f.Package != "" {
		j.warn(rf.path, "not checked: what the router's package "+codeWord(f.Package)+" carries could not be read")
	}
}

// path is the spec's name of a pointer into the body.
func (j *judge) path(pointer string) string {
	if p := specPath(j.r.ChangeType, pointer); p != "" {
		return p
	}
	return pointer
}

// remote looks at the two ends together.
func (j *judge) remote() {
	a, z := j.facts.A.Metro, j.facts.Z.Metro
	if j.localToken != "" && a != "" && z != "" && a != z {
		j.refuse(j.localToken, fmt.Sprintf("the service token allows no remote connection, but the two sides are in %s and %s", codeWord(a), codeWord(z)))
	}
}

// number returns a whole number, also one that came as text.
func number(v any) (int64, bool) {
	s := text(v)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := json.Number(s).Float64()
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}

// numbers returns the whole numbers of a list, in ascending order.
func numbers(v any) []int64 {
	var out []int64
	for _, e := range list(v) {
		if n, ok := number(e); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tiers lists bandwidths for a message.
func tiers(ns []int64) string {
	const most = 30
	parts := make([]string, 0, len(ns))
	for i, n := range ns {
		if i == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	return strings.Join(parts, ", ")
}
