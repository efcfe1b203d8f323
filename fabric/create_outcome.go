package fabric

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"fabricbroker/broker"
)

// outcome decides what an answer to a create proves. Only a uuid proves a
// success, and only a readable error of a status that comes before anything is
// stored proves a refusal. Everything else is unknown.
func (a *API) outcome(r broker.Request, n answer) broker.Result {
	var res broker.Result
	v, _ := decodeJSON(n.body)
	uuid := assetID(r, n)
	errs := a.upstreamErrors(r, n)
	code, refuses := refusals[n.status]
	switch {
	case n.ok() && uuid != "":
		res = created(r, v, uuid)
	case refuses && len(errs) > 0 && uuid == "" && !hasCode(errs, codeVLANTaken):
		res = broker.Result{Outcome: broker.OutcomeRejected, Code: code, Upstream: errs, Detail: "the create was refused: " + listErrors(errs)}
		if h := hints(r, errs); h != "" {
			res.Detail += "; " + h
		}
	default:
		res = broker.Result{Outcome: broker.OutcomeUnknown, Upstream: errs, Detail: "the create was answered " + a.describeFor(r, n) + "; the asset may exist"}
		if n.ok() {
			res.Detail = "the create was accepted, but the answer names no uuid: " + a.describeFor(r, n)
		}
		if hasCode(errs, codeVLANTaken) {
			res.Detail = "the create was refused because the VLAN is in use, which may be by this very create: " + listErrors(errs)
		}
	}
	res.CorrelationID = a.correlation(n, r.Mask())
	return res
}

// refusals are the statuses that are decided before anything is stored.
var refusals = map[int]broker.Code{
	http.StatusBadRequest:            broker.ErrUpstreamRejected,
	http.StatusUnauthorized:          broker.ErrUpstreamUnauthorized,
	http.StatusForbidden:             broker.ErrUpstreamRejected,
	http.StatusNotFound:              broker.ErrUpstreamRejected,
	http.StatusMethodNotAllowed:      broker.ErrUpstreamRejected,
	http.StatusRequestEntityTooLarge: broker.ErrUpstreamRejected,
	http.StatusUnsupportedMediaType:  broker.ErrUpstreamRejected,
	http.StatusUnprocessableEntity:   broker.ErrUpstreamRejected,
	http.StatusTooManyRequests:       broker.ErrUpstreamRateLimited,
}

// created is the result for an asset that exists. Nothing but the uuid is needed
// for it: a state that nobody has heard of is shown as it came, and a type that
// is not the documented one is no reason to lose an order.
func created(r broker.Request, v any, uuid string) broker.Result {
	res := broker.Result{
		Outcome: broker.OutcomeCreated,
		UUID:    uuid,
		Name:    r.Mask().Text(clean(text(at(v, "name")), 200)),
		State:   clean(text(at(v, "state")), 100),
		Href:    clean(text(at(v, "href")), 300), // data: it is never followed
	}
	if res.State == "" {
		res.State = clean(text(at(v, "operation", "equinixStatus")), 100)
	}
	if res.Name == "" {
		res.Name = r.Name
	}
	if r.ChangeType == broker.ServiceTokenCreate {
		res.Href = strings.ReplaceAll(res.Href, uuid, broker.MaskValue(uuid))
	}
	return res
}

// assetID returns the uuid that an answer gives: in its body, else where its href
// or its Location header points into the collection of r.
func assetID(r broker.Request, n answer) string {
	v, err := decodeJSON(n.body)
	o := object(v)
	if err != nil {
		o = nil
	}
	if id := strings.TrimSpace(text(o["uuid"])); isID(id) {
		return id
	}
	for _, href := range []string{text(o["href"]), n.header.Get("Location")} {
		u, err := url.Parse(href)
		if err != nil || !n.ok() {
			continue
		}
		if id, found := strings.CutPrefix(u.Path, r.Path+"/"); found && isID(id) {
			return id
		}
	}
	return ""
}

// shownID is a uuid as it may stand in a message: that of a service token is a
// secret.
func shownID(r broker.Request, uuid string) string {
	if r.ChangeType == broker.ServiceTokenCreate {
		return broker.MaskValue(uuid)
	}
	return uuid
}

var anyUUID = regexp.MustCompile(`[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{0,12}){1,4}`)

// hideIDs masks whatever may be the id of a new service token, even half of one,
// in an answer that could not be read.
func hideIDs(r broker.Request, s string) string {
	if r.ChangeType != broker.ServiceTokenCreate {
		return s
	}
	return anyUUID.ReplaceAllStringFunc(s, broker.MaskValue)
}
