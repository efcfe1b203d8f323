package fabric

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fabricbroker/broker"
)

// dryRun has the API judge the exact bytes of r. It returns the echo, or why the
// dry run did not pass.
func (a *API) dryRun(ctx context.Context, r broker.Request) (answer, *broker.Refusal) {
	ctx, cancel := context.WithTimeout(ctx, a.o.DryRunTimeout)
	defer cancel()
	defer a.took("dry_run")()
	n, err := a.sendDryRun(ctx, call{
		method: r.Method, path: r.Path, query: url.Values{"dryRun": {"true"}}, body: r.Body,
		limit: maxRead, name: "the dry run",
	})
	var refusal *broker.Refusal
	switch {
	case errors.As(err, &refusal):
		return answer{}, refusal
	case err != nil:
		return answer{}, broker.Refuse(broker.ErrInternal, "report this", "the dry run could not be sent")
	}
	return n, a.judgeDryRun(r, n)
}

// sendDryRun sends it, and once more where no connection could be made, or on 429
// and 503: these say that it was not judged. After anything else it may have
// been, by an API that lost the flag.
func (a *API) sendDryRun(ctx context.Context, c call) (answer, error) {
	retried := false
	return a.authorized(ctx, func(bearer string) (answer, error) {
		for {
			n, sent, err := a.fire(ctx, c, bearer, time.Time{})
			again := err != nil && !sent && !isCertificate(err) || err == nil && (n.status == http.StatusTooManyRequests || n.status == http.StatusServiceUnavailable)
			wait := max(retryAfter(n.header), 250*time.Millisecond)
			if !again || retried || ctx.Err() != nil || !worthWaiting(ctx, wait) {
				if err != nil {
					return n, unreachable(c, err)
				}
				return n, nil
			}
			retried = true
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
			}
		}
	})
}

// judgeDryRun decides by the body: networks answer a dry run with 201, routers a
// create with 200.
func (a *API) judgeDryRun(r broker.Request, n answer) *broker.Refusal {
	if uuid := orderedByDryRun(r, n); uuid != "" {
		return a.dryRunCreated(r, n, uuid)
	}
	switch {
	case n.ok():
		if why := unclear(r, n); why != "" {
			return broker.Refuse(broker.ErrDryRunUnclear,
				"do not send it again blindly: look with fabric_search whether something of this name exists, then tell the operator",
				"the dry run was answered %d, but %s; nothing proves that the request was judged", n.status, why)
		}
		return nil
	case n.status >= 300 && n.status < 400:
		return broker.Refuse(broker.ErrDryRunUnclear, "check EQUINIX_API_ENDPOINT",
			"the dry run was answered %s; redirects are never followed", a.describeFor(r, n))
	}
	return a.dryRunRefused(r, n)
}

// unclear says what is missing in a 2xx answer to a dry run, "" where it passed.
func unclear(r broker.Request, n answer) string {
	v, err := decodeJSON(n.body)
	o := object(v)
	switch {
	case len(n.body) == 0:
		return "with an empty body"
	case err != nil || n.broken || o == nil:
		return "with something else than one JSON object"
	}
	for _, key := range []string{"uuid", "state", "changeLog", "changelog"} {
		if o[key] != nil {
			return "with " + key + ", which only an asset that exists has"
		}
	}
	sent, _ := decodeJSON(r.Body)
	if text(o["name"]) != text(at(sent, "name")) || text(o["name"]) == "" {
		return "without the name of this request"
	}
	if want := text(at(sent, "type")); want != "" && !echoesType(want, text(o["type"])) {
		return "without the type of this request"
	}
	return ""
}

// echoesType allows the one other type that Fabric's own examples of dry runs
// have: a router's connection comes back as EVPL_VC. It is shown as a difference.
func echoesType(sent, returned string) bool {
	if strings.EqualFold(sent, returned) {
		return true
	}
	return (sent == "IP_VC" || sent == "IPWAN_VC") && returned == "EVPL_VC"
}

// orderedByDryRun returns the uuid of an asset that the answer to a dry run says
// exists. With a status that is no success the answer must be that of this
// request and no error.
func orderedByDryRun(r broker.Request, n answer) string {
	if n.ok() {
		return assetID(r, n)
	}
	v, err := decodeJSON(n.body)
	if err != nil || len(decodeErrors(n.body, r.Mask().Text)) > 0 || text(at(v, "name")) != r.Name || r.Name == "" {
		return ""
	}
	return assetID(r, n)
}

func (a *API) dryRunCreated(r broker.Request, n answer, uuid string) *broker.Refusal {
	v, _ := decodeJSON(n.body)
	refusal := broker.Refuse(broker.ErrDryRunCreated,
		"stop: tell the operator at once which asset was ordered; nothing more is sent until a person has looked",
		"the dry run was answered %d with uuid %s: it seems to have created the asset, which it must never do", n.status, shownID(r, uuid))
	res := created(r, v, uuid)
	res.CorrelationID = a.correlation(n, r.Mask())
	refusal.Result = &res
	return refusal
}

// dryRunRefused is for an answer that is neither a success nor a redirect.
func (a *API) dryRunRefused(r broker.Request, n answer) *broker.Refusal {
	errs := a.upstreamErrors(r, n)
	said := a.describeFor(r, n)
	if len(errs) > 0 {
		said = strconv.Itoa(n.status) + ": " + listErrors(errs)
	}
	refusal := broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "the dry run was answered %s", said)
	refusal.Upstream = errs
	hint := hints(r, errs)
	if hint != "" {
		refusal.NextStep = hint
	}
	switch {
	case n.status == http.StatusUnauthorized:
		refusal.Code, refusal.NextStep = broker.ErrUpstreamUnauthorized, "check the credentials of this server"
	case n.status == http.StatusTooManyRequests:
		refusal.Code, refusal.NextStep = broker.ErrUpstreamRateLimited, "wait a minute, then propose again"
	case hasCode(errs, codeNoDryRun):
		refusal.Code = broker.ErrDryRunUnsupported
		refusal.NextStep = "this type cannot be proposed: without a dry run nothing is created here; a person can order it in the portal"
	case n.status < 500 && len(errs) > 0:
		refusal.Code = broker.ErrDryRunRejected
		if hint == "" {
			refusal.NextStep = "correct what the message names, then propose again"
		}
	}
	return refusal
}

// describeFor is describe without the secrets of r.
func (a *API) describeFor(r broker.Request, n answer) string {
	n.body = []byte(hideIDs(r, string(n.body)))
	return a.describe(n, r.Mask())
}
