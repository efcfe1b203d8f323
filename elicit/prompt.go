package elicit

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"fabricbroker/broker"
)

// maxAttention is how many lines of attention are shown.
const maxAttention = 20

// Prompt returns the message of a question as it stands at now: plain text in
// printable ASCII, lines ended by \n. Attention comes first where there is any;
// the six lines after it decide and are at most 80 columns wide. A question
// whose payload is gone says so and advises to decline.
func Prompt(q broker.Question, now time.Time) string {
	m := message{q: q, now: now}
	m.attention()
	m.deciding()
	m.details()
	m.answers()
	return strings.Join(m.lines, "\n") + "\n"
}

// message is a prompt while it is written.
type message struct {
	q     broker.Question
	now   time.Time
	lines []string
	// whole are deciding lines that had to be shortened.
	whole []string
}

func (m *message) add(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

// payload returns what the proposal needs until it ends, empty where it is gone.
func (m *message) payload() broker.Payload {
	if p := m.q.Proposal.Payload; p != nil {
		return *p
	}
	return broker.Payload{}
}

// attention writes what must be seen before everything else.
func (m *message) attention() {
	if m.q.Proposal.Payload == nil {
		m.lines = append(m.lines, wrap("! ", "the request is no longer kept here and cannot be shown: decline")...)
	}
	for i, a := range m.q.Attention {
		if i == maxAttention {
			m.add("! and %d more", len(m.q.Attention)-i)
			break
		}
		m.lines = append(m.lines, wrap("! ", clip(safe(a), maxLine))...)
	}
}

// deciding writes the six lines by which a person decides.
func (m *message) deciding() {
	brief := m.payload().Brief
	name := namesOf(m.q.Proposal.ChangeType)
	m.decide(name.what, "", either(brief.What, broker.Quote(m.q.Proposal.Name)))
	m.decide(name.from, "", brief.From)
	m.decide(name.to, "", brief.To)
	m.account()
	m.cost()
	m.decide("Dry run", "", m.dryRun())
}

// decide writes one deciding line: the first of the versions that fits (they go
// from the most words to the fewest), else the last one shortened. The tail is
// never shortened. An empty line is left out.
func (m *message) decide(label, tail string, versions ...string) {
	label += ": "
	full := label + safe(versions[0]) + tail
	if full == label+tail {
		return
	}
	line := ""
	for _, v := range versions {
		line = label + safe(v) + tail
		if len(line) <= columns {
			break
		}
	}
	if len(line) > columns {
		line = fit(strings.TrimSuffix(line, tail), columns-len(tail)) + tail
	}
	m.lines = append(m.lines, line)
	if line != full && !m.below(line, full) {
		m.whole = append(m.whole, strings.TrimSuffix(label, ": ")+", in full: "+clip(strings.TrimPrefix(full, label), maxLine))
	}
}

// below reports whether what line lacks of full stands among the fields anyway.
func (m *message) below(line, full string) bool {
	if line != shortenUUIDs(full) {
		return false
	}
	for _, id := range uuids.FindAllString(full, -1) {
		if !bytes.Contains(m.payload().Body, []byte(id)) {
			return false
		}
	}
	return true
}

// names are the labels of the first three lines.
type names struct{ what, from, to string }

func namesOf(t broker.ChangeType) names {
	switch t {
	case broker.ConnectionCreate:
		return names{"Create", "From", "To"}
	case broker.NetworkCreate, broker.CloudRouterCreate, broker.ServiceTokenCreate:
		return names{"Create", "Where", "For"}
	default: // a gated call
		return names{"Call", "Where", "For"}
	}
}

// maxEndpoint is how much of an endpoint is shown.
const maxEndpoint = 36

func (m *message) account() {
	endpoint := safe(m.q.Account.Endpoint)
	if len(endpoint) > maxEndpoint {
		endpoint = endpoint[:16] + "..." + endpoint[len(endpoint)-17:]
	}
	tail := ""
	if endpoint != "" {
		tail = ", at " + endpoint
	}
	if !m.q.Account.Production {
		tail += ", NOT PRODUCTION"
	}
	m.decide("Account", tail, either(m.payload().Brief.Account, "not known"))
}

// either returns s, or instead where nothing of s can be shown: a line that must
// be there is never left out.
func either(s, instead string) string {
	if safe(s) == "" {
		return instead
	}
	return s
}

func (m *message) dryRun() string {
	p := m.payload()
	if p.DryRunAt.IsZero() {
		if namesOf(m.q.Proposal.ChangeType).what == "Call" {
			return "none, such a call cannot be tried first"
		}
		return "none is on record: decline" // cannot be: no dry run, no token (I1)
	}
	said := "accepted by Equinix at " + clock(p.DryRunAt)
	where := "below"
	if len(m.q.Attention) > 0 {
		where = "above"
	}
	switch n := len(p.Differences); n {
	case 0:
		return said + ", changes nothing"
	case 1:
		return said + ", would change 1 value (see " + where + ")"
	default:
		return fmt.Sprintf("%s, would change %d values (see %s)", said, n, where)
	}
}
