package fabric

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fabricbroker/broker"
)

// hider hides what m knows and the session's secrets.
func (a *API) hider(m broker.Mask) func(string) string {
	return func(s string) string { return a.session.scrub(m.Text(s)) }
}

// scrubErrors removes the session's secrets and those that m knows.
func (a *API) scrubErrors(in []broker.UpstreamError, m broker.Mask) []broker.UpstreamError {
	out := m.Errors(in)
	for i := range out {
		e := &out[i]
		e.Code, e.Message, e.Details = a.session.scrub(m.Text(e.Code)), a.session.scrub(e.Message), a.session.scrub(e.Details)
		e.Property, e.CorrelationID = a.session.scrub(e.Property), a.session.scrub(m.Text(e.CorrelationID))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// upstreamErrors are the errors of an answer to r, with the paths of its spec.
func (a *API) upstreamErrors(r broker.Request, n answer) []broker.UpstreamError {
	errs := decodeErrors(n.body, a.hider(r.Mask()))
	for i := range errs {
		e := &errs[i]
		if e.Property != "" {
			e.Path = specPath(r.ChangeType, e.Property)
		}
		if e.CorrelationID == "" {
			e.CorrelationID = a.correlation(n, r.Mask())
		}
	}
	return a.scrubErrors(errs, r.Mask())
}

// listErrors names each error with its code, message and where it is, as far as
// a sentence can hold them.
func listErrors(errs []broker.UpstreamError) string {
	const most = 20
	parts := make([]string, 0, len(errs))
	for i, e := range errs {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(errs)-i))
			break
		}
		var words []string
		if e.Code != "" {
			words = append(words, codeWord(e.Code))
		}
		if e.Message != "" {
			words = append(words, broker.Quote(e.Message))
		}
		if e.Details != "" && e.Details != e.Message {
			words = append(words, "("+broker.Quote(e.Details)+")")
		}
		switch {
		case e.Path != "":
			words = append(words, "at "+e.Path)
		case e.Property != "":
			words = append(words, "at "+broker.Quote(e.Property))
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(parts, "; ")
}

// codeWord leaves a code as it is and quotes what is none.
func codeWord(s string) string {
	if onlyHas(s, "-_.") {
		return s
	}
	return broker.QuoteMax(s, 64)
}

func hasCode(errs []broker.UpstreamError, codes ...string) bool {
	return slices.ContainsFunc(errs, func(e broker.UpstreamError) bool { return slices.Contains(codes, e.Code) })
}

// notFoundCodes come with a 400 where others say 404.
var notFoundCodes = []string{"EQ-3142519", "EQ-3045811", "EQ-3034016", "EQ-3035202", "EQ-3142301"}

// isNotFound reports whether an answer to a read says that there is no such asset
// for these credentials.
func isNotFound(n answer, errs []broker.UpstreamError) bool {
	if n.status == http.StatusNotFound {
		return true
	}
	return n.status == http.StatusBadRequest && (hasCode(errs, notFoundCodes...) ||
		slices.ContainsFunc(errs, func(e broker.UpstreamError) bool {
			return strings.EqualFold(strings.ReplaceAll(e.Message, " ", ""), "InvalidPortUUID")
		}))
}

// refused is the refusal for an answer to a read that is no success.
func (a *API) refused(c call, n answer) *broker.Refusal {
	errs := a.scrubErrors(decodeErrors(n.body, a.hider(c.mask)), c.mask)
	said := a.describe(n, c.mask)
	if len(errs) > 0 {
		said = fmt.Sprintf("%d: %s", n.status, listErrors(errs))
	}
	r := broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "%s was answered %s", c.name, said)
	r.Upstream = errs
	switch {
	case n.status == http.StatusUnauthorized:
		r.Code, r.NextStep = broker.ErrUpstreamUnauthorized, "check the credentials of this server"
	case n.status == http.StatusTooManyRequests:
		r.Code, r.NextStep = broker.ErrUpstreamRateLimited, "wait a minute, then try again"
	case isNotFound(n, errs):
		r.Code, r.NextStep = broker.ErrNotFound, "check the kind and the uuid, or search for it; these credentials may not see it"
	case n.status >= 300 && n.status < 400:
		r.NextStep = "check EQUINIX_API_ENDPOINT: redirects are not followed"
	case n.status < 500 && len(errs) > 0:
		r.Code, r.NextStep = broker.ErrUpstreamRejected, "correct what the message names"
	}
	return r
}
