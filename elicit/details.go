package elicit

import (
	"fmt"
	"time"

	"fabricbroker/broker"
)

// details writes what stands below the deciding lines.
func (m *message) details() {
	p := m.payload()
	m.add("Expires: %s", m.expires())
	m.add("SHA-256: %s", safe(string(m.q.Proposal.Hash)))
	m.lines = append(m.lines, m.whole...)
	if price := m.price(); price != "" {
		m.add("Price: %s", clip(safe(price), maxLine))
	}
	for i, d := range p.Differences {
		if i == maxListed {
			m.add("Would change: %d more values", len(p.Differences)-i)
			break
		}
		m.add("Would change: %s from %s to %s", pointer(d.Path), jsonText(d.Sent), jsonText(d.Returned))
	}
	if m.q.Proposal.Payload != nil {
		m.add("Request: %severy field of it:", clip(sent(p), maxLine))
		m.lines = append(m.lines, fields(p.Body)...)
	}
	for i, w := range p.Warnings {
		if i == maxListed {
			m.add("Warning: %d more", len(p.Warnings)-i)
			break
		}
		m.add("Warning: %s", warning(w))
	}
}

// sent says where the request goes; a gated call goes to no path of the API.
func sent(p broker.Payload) string {
	if p.Path == "" {
		return ""
	}
	return safe(p.Method+" "+p.Path) + ", "
}

// maxListed bounds lists that an upstream can lengthen.
const maxListed = 20

func warning(w broker.Issue) string {
	message := clip(safe(w.Message), maxLine)
	if w.Path == "" {
		return message
	}
	return specPath(w.Path) + ": " + message
}

func (m *message) expires() string {
	p := m.q.Proposal
	left := p.ExpiresAt.Round(0).Sub(m.now.Round(0))
	if left <= 0 {
		return clock(p.ExpiresAt) + ", which is past: no answer creates anything"
	}
	said := clock(p.ExpiresAt) + ", in " + minutes(left)
	if !p.AskUntil.IsZero() && p.AskUntil.Before(p.ExpiresAt) {
		said += "; answer by " + clock(p.AskUntil)
	}
	return said
}

// answers writes what each answer does.
func (m *message) answers() {
	done := "creates it now, once"
	if namesOf(m.q.Proposal.ChangeType).what == "Call" {
		done = "makes the call now, once"
	}
	if m.q.Code != "" {
		m.add("To approve, type this code into the form: %s", safe(m.q.Code))
		m.add("Accept with confirm = yes and the code: %s.", done)
	} else {
		m.add("Accept with confirm = yes: %s.", done)
	}
	m.add("Decline or close: nothing is sent; asking again takes a new proposal.")
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// minutes returns d in whole seconds: "9 min 55 s", "10 min", "40 s".
func minutes(d time.Duration) string {
	seconds := int(d / time.Second)
	switch minute, second := seconds/60, seconds%60; {
	case minute == 0:
		return fmt.Sprintf("%d s", second)
	case second == 0:
		return fmt.Sprintf("%d min", minute)
	default:
		return fmt.Sprintf("%d min %d s", minute, second)
	}
}
