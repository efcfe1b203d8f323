package fabricsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FaultKind is what a fault does.
type FaultKind string

// The fault kinds. "Commit" means that the request is carried out first, and
// what it creates stays.
const (
	// FaultStatus answers with Status, Headers, Body and RetryAfter.
	FaultStatus FaultKind = "status"
	// FaultDelay waits Milliseconds, then goes on; another fault may still match.
	FaultDelay FaultKind = "delay"
	// FaultReset resets the connection; nothing is carried out.
	FaultReset FaultKind = "reset"
	// FaultCommitThenReset carries the request out, then resets the connection.
	FaultCommitThenReset FaultKind = "commit_then_reset"
	// FaultCommitThenHang carries the request out and never answers.
	FaultCommitThenHang FaultKind = "commit_then_hang"
	// FaultCommitThenStatus carries the request out and answers like FaultStatus.
	FaultCommitThenStatus FaultKind = "commit_then_status"
	// FaultEmptyBody answers Status without a body.
	FaultEmptyBody FaultKind = "empty_body"
	// FaultHTML answers Status with a page where JSON was promised.
	FaultHTML FaultKind = "html"
	// FaultTruncated announces the whole body and closes after Bytes of it.
	FaultTruncated FaultKind = "truncated"
	// FaultUnknownState answers as usual, with State as the state. What is stored
	// keeps its own.
	FaultUnknownState FaultKind = "unknown_state"
	// FaultIgnoreDryRun creates although a dry run was asked for.
	FaultIgnoreDryRun FaultKind = "ignore_dry_run"
	// FaultRedirect answers Status (0: 307) and Location; empty means the same
	// path without the query.
	FaultRedirect FaultKind = "redirect"
	// FaultSlowIndex hides assets from searches until they are Milliseconds old:
	// the one created, where it matches a create, and all, where it matches a
	// search. Another fault may still match.
	FaultSlowIndex FaultKind = "slow_index"
)

var faultKinds = []FaultKind{
	FaultStatus, FaultDelay, FaultReset, FaultCommitThenReset, FaultCommitThenHang, FaultCommitThenStatus,
	FaultEmptyBody, FaultHTML, FaultTruncated, FaultUnknownState, FaultIgnoreDryRun, FaultRedirect, FaultSlowIndex,
}

// Fault makes matching requests go wrong. Of several, the one that was added
// first and is not used up acts.
type Fault struct {
	Match Match  `json:"match"`
	Do    Action `json:"do"`
	// Times is how often it acts; 0 means every time.
	Times int `json:"times,omitempty"`
}

// Match says which requests. The zero value matches all.
type Match struct {
	// Method is any where empty.
	Method string `json:"method,omitempty"`
	// Path is any where empty; * stands for one segment.
	Path string `json:"path,omitempty"`
	// DryRun matches dry runs (true) or everything else (false); nil is any.
	DryRun *bool `json:"dry_run,omitempty"`
}

// Action is what happens; which fields count depends on Kind.
type Action struct {
	Kind    FaultKind         `json:"kind"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is a JSON value and sent as it stands; a string is sent raw, without
	// its quotes. None means an empty body.
	Body         json.RawMessage `json:"body,omitempty"`
	RetryAfter   int             `json:"retry_after_s,omitempty"`
	Milliseconds int             `json:"ms,omitempty"`
	Commit       bool            `json:"commit,omitempty"`
	Bytes        int             `json:"bytes,omitempty"`
	State        string          `json:"state,omitempty"`
	Location     string          `json:"location,omitempty"`
}

type armedFault struct {
	Fault
	used int
}

func (f *armedFault) spent() bool { return f.Times > 0 && f.used >= f.Times }

// Fail adds a fault. It panics on a kind that does not exist.
func (s *Sim) Fail(f Fault) {
	if err := f.check(); err != nil {
		panic("fabricsim: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	s.faults = append(s.faults, &armedFault{Fault: f})
}

// ClearFaults removes every fault.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	s.faults = nil
}

func (f Fault) check() error {
	if !slices.Contains(faultKinds, f.Do.Kind) {
		return fmt.Errorf("unknown fault kind %q, known are %v", f.Do.Kind, faultKinds)
	}
	if s := f.Do.Status; s != 0 && (s < 200 || s > 599) {
		return fmt.Errorf("status %d is not between 200 and 599", s)
	}
	if (f.Do.Kind == FaultStatus) && f.Do.Status == 0 {
		return fmt.Errorf("fault kind %s needs a status", f.Do.Kind)
	}
	if f.Times < 0 || f.Do.Milliseconds < 0 || f.Do.Bytes < 0 || f.Do.RetryAfter < 0 {
		return fmt.Errorf("negative numbers mean nothing in a fault")
	}
	return nil
}

// plan is what the faults make of one request.
type plan struct {
	delay     time.Duration
	slowIndex time.Duration
	do        *Action // nil: the API's own answer
}

// plan uses up the faults that match; the caller holds the lock. Only delay and
// slow_index let further faults act, and each of them only once, so that two
// delays with a count follow one another.
func (s *Sim) plan(c *call) plan {
	var p plan
	var delayed, slowed bool
	for _, f := range s.faults {
		if f.spent() || !f.Match.fits(c) {
			continue
		}
		ms := time.Duration(f.Do.Milliseconds) * time.Millisecond
		switch {
		case f.Do.Kind == FaultDelay && !delayed:
			delayed, p.delay = true, ms
			f.used++
		case f.Do.Kind == FaultSlowIndex && !slowed:
			slowed, p.slowIndex = true, ms
			f.used++
		case f.Do.Kind != FaultDelay && f.Do.Kind != FaultSlowIndex:
			f.used++
			do := f.Do
			p.do = &do
			return p
		}
	}
	return p
}

func (m Match) fits(c *call) bool {
	if m.Method != "" && !strings.EqualFold(m.Method, c.r.Method) {
		return false
	}
	if m.DryRun != nil && *m.DryRun != c.dryRun {
		return false
	}
	return m.Path == "" || samePath(m.Path, c.r.URL.Path)
}

func samePath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w == "*" && g != "" })
}

// response is what status and commit_then_status send.
func (a Action) response(status int) response {
	r := response{status: status, header: http.Header{}}
	if a.Status != 0 {
		r.status = a.Status
	}
	if len(a.Body) > 0 && string(a.Body) != "null" {
		var raw string
		if json.Unmarshal(a.Body, &raw) == nil {
			r.body = []byte(raw)
			if raw != "" {
				r.header.Set("Content-Type", http.DetectContentType(r.body))
			}
		} else {
			r.body = a.Body
			r.header.Set("Content-Type", "application/json")
		}
	}
	if a.RetryAfter > 0 {
		r.header.Set("Retry-After", fmt.Sprint(a.RetryAfter))
	}
	for k, v := range a.Headers {
		r.header.Set(k, v)
	}
	return r
}
