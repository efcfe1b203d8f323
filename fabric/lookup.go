package fabric

import (
	"context"
	"errors"
	"strings"
	"sync"

	"fabricbroker/broker"
)

// findings are what the look-ups of a request brought.
type findings struct {
	facts    facts
	refusals []broker.Issue // what rules the request out
	warnings []broker.Issue // what could not be checked, or deserves a look
}

func (f *findings) refuse(path, message string) {
	f.refusals = append(f.refusals, broker.Issue{Path: path, Message: message})
}

func (f *findings) warn(path, message string) {
	f.warnings = append(f.warnings, broker.Issue{Path: path, Message: message})
}

// ref is an asset that a request refers to.
type ref struct {
	kind    string
	uuid    string
	side    string // aSide or zSide
	pointer string // into the body
	path    string // in the spec
	point   any    // the access point or selector that holds it
}

// refsOf returns what r refers to and can be read. A virtual device cannot.
func refsOf(r broker.Request) []ref {
	v, err := decodeJSON(r.Body)
	if err != nil {
		return nil
	}
	var refs []ref
	add := func(side, pointer, kind string, point any, keys ...string) {
		uuid := text(at(point, keys...))
		if !isID(uuid) {
			return
		}
		rf := ref{kind: kind, uuid: uuid, side: side, pointer: pointer + "/" + strings.Join(keys, "/"), point: point}
		if rf.path = specPath(r.ChangeType, rf.pointer); rf.path == "" {
			rf.path = rf.pointer
		}
		refs = append(refs, rf)
	}
	for _, side := range []string{"aSide", "zSide"} {
		switch r.ChangeType {
		case broker.ConnectionCreate:
			p, pointer := at(v, side, "accessPoint"), "/"+side+"/accessPoint"
			add(side, pointer, kindPort, p, "port", "uuid")
			add(side, pointer, kindRouter, p, "router", "uuid")
			add(side, pointer, kindNetwork, p, "network", "uuid")
			add(side, pointer, kindProfile, p, "profile", "uuid")
			add(side, "/"+side, kindToken, at(v, side), "serviceToken", "uuid")
		case broker.ServiceTokenCreate:
			p := at(v, "connection", side, "accessPointSelectors")
			pointer := "/connection/" + side + "/accessPointSelectors/0"
			add(side, pointer, kindPort, p, "port", "uuid")
			add(side, pointer, kindNetwork, p, "network", "uuid")
		case broker.NetworkCreate, broker.CloudRouterCreate:
		}
	}
	return refs
}

// lookUp reads everything r refers to, at the same time and once, and judges it.
// It never fails: what cannot be read is a warning.
func (a *API) lookUp(ctx context.Context, r broker.Request) findings {
	ctx, cancel := context.WithTimeout(ctx, a.o.LookupTimeout)
	defer cancel()
	refs := refsOf(r)
	docs, errs := make([]any, len(refs)), make([]error, len(refs))
	packages := make([]any, len(refs))
	var wg sync.WaitGroup
	for i, rf := range refs {
		wg.Go(func() {
			docs[i], errs[i] = a.asset(ctx, rf.kind, rf.uuid)
			if rf.kind == kindRouter && errs[i] == nil {
				packages[i] = a.routerPackage(ctx, docs[i])
			}
		})
	}
	wg.Wait()

	j := judge{r: r, now: a.o.Now()}
	j.body, _ = decodeJSON(r.Body)
	j.bandwidth, _ = number(at(j.body, "bandwidth"))
	for i, rf := range refs {
		if errs[i] != nil {
			j.warn(rf.path, "not checked: "+a.whyUnread(rf, errs[i]))
			continue
		}
		fact := j.look(rf, docs[i], packages[i])
		if rf.side == "aSide" || r.ChangeType == broker.ServiceTokenCreate {
			j.facts.A = fact
		} else {
			j.facts.Z = fact
		}
	}
	j.remote()
	return j.findings
}

// whyUnread says why an asset could not be read, without its id where that is a
// secret.
func (a *API) whyUnread(rf ref, err error) string {
	var refusal *broker.Refusal
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return "these credentials cannot see this " + spoken(rf.kind)
	case errors.As(err, &refusal):
		return refusal.Message
	default:
		return "reading this " + spoken(rf.kind) + " failed: " + reason(err)
	}
}

// asset returns one asset as the API has it, read at most once for all who ask
// at the same time.
func (a *API) asset(ctx context.Context, kind, uuid string) (any, error) {
	return a.cached(ctx, readCall(kind, uuid))
}

func (a *API) cached(ctx context.Context, c call) (any, error) {
	return a.assets.get(ctx, c.path, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, a.o.LookupTimeout)
		defer cancel()
		v, err := a.document(ctx, c)
		if err == nil && object(v) == nil {
			err = broker.Refuse(broker.ErrUpstreamUnavailable, "try again in a moment", "%s was answered with something else than an object", c.name)
		}
		return v, err
	})
}

// routerPackage returns the package of a router, nil where that cannot be read.
func (a *API) routerPackage(ctx context.Context, router any) any {
	code := strings.ToUpper(text(at(router, "package", "code")))
	if !isWord(code) {
		return nil
	}
	v, err := a.cached(ctx, call{
		method: "GET", path: "/fabric/v4/routerPackages/" + code, limit: maxRead, name: "reading router package " + code,
	})
	if err != nil {
		return nil
	}
	return v
}

func isWord(s string) bool {
	return s != "" && len(s) <= 40 && onlyHas(s, "_")
}
