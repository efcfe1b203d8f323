package fabricsim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const redacted = "[redacted]"

// Entry is one request as it arrived. Secrets in it are redacted: the client
// secret of a log-in and the Authorization header.
type Entry struct {
	// Seq counts from 1, since the start or the last reset.
	Seq    int
	Time   time.Time
	Method string
	Path   string
	// Query is the raw query, without the question mark.
	Query string
	// Body is what was received, byte for byte.
	Body   []byte
	Header http.Header
	// DryRun says that the query asked for a dry run, heeded or not.
	DryRun bool
	// Status is 0 where the connection was dropped or no answer was given yet.
	Status int
}

// MarshalJSON gives the form of GET /history.
func (e Entry) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"seq": e.Seq, "time": e.Time, "method": e.Method, "path": e.Path, "query": e.Query,
		"body": string(e.Body), "headers": e.Header, "dry_run": e.DryRun, "status": e.Status,
	})
}

// History returns every request so far, oldest first; never nil.
func (s *Sim) History() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	all := append([]Entry{}, s.history...)
	for i := range all {
		all[i].Body = bytes.Clone(all[i].Body)
		all[i].Header = all[i].Header.Clone()
	}
	return all
}

// record notes an arrival; the caller holds the lock.
func (s *Sim) record(c *call) int {
	body := c.body
	if c.r.URL.Path == tokenPath {
		body = redactSecret(body)
	}
	header := c.r.Header.Clone()
	if header.Get("Authorization") != "" {
		header.Set("Authorization", redacted)
	}
	s.history = append(s.history, Entry{
		Seq: len(s.history) + 1, Time: c.now, Method: c.r.Method, Path: c.r.URL.Path, Query: c.r.URL.RawQuery,
		Body: bytes.Clone(body), Header: header, DryRun: c.dryRun,
	})
	return len(s.history)
}

// conclude notes how a request ended. After a reset there is nothing to note.
func (s *Sim) conclude(c *call, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := c.seq - 1; c.era == s.era && i < len(s.history) {
		s.history[i].Status = status
	}
}

// redactSecret takes the secret out of a log-in, in JSON or in a form. What it
// cannot read it does not show.
func redactSecret(body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	var secret string
	if d, err := parseObject(body); err == nil {
		secret = text(d, "client_secret")
		if secret == "" {
			return body
		}
	} else if form, err := url.ParseQuery(string(body)); err == nil && form.Get("client_secret") != "" {
		secret = form.Get("client_secret")
	}
	if secret == "" || !bytes.Contains(body, []byte(secret)) {
		return []byte(redacted)
	}
	return []byte(strings.ReplaceAll(string(body), secret, redacted))
}
