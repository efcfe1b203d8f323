package fabric

import (
	"fmt"
	"time"

	"fabricbroker/broker"
)

// compile turns a spec into a request. It is pure, and the same spec gives the
// same bytes. Only with a non-zero now it applies the rules that look at the
// clock. Its error is a *broker.Refusal with every issue at once.
func compile(t broker.ChangeType, spec []byte, now time.Time) (broker.Request, error) {
	c := &compilation{change: changeOf(t), now: now}
	return c.request(t, spec)
}

// compileForPrice reads only what decides a price, and ignores all else, known
// or not. The request it returns has a body that look-ups can read and that
// must never be sent.
func compileForPrice(t broker.ChangeType, spec []byte) (broker.Request, error) {
	c := &compilation{change: changeOf(t), priceOnly: true}
	return c.request(t, spec)
}

// compilation is the state of one compile: what is being compiled, and what was
// found wrong with it so far.
type compilation struct {
	change    changes
	now       time.Time
	priceOnly bool
	issues    []broker.Issue
	warnings  []broker.Issue
}

func (c *compilation) refuse(path, format string, args ...any) {
	c.issues = append(c.issues, broker.Issue{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (c *compilation) warn(path, format string, args ...any) {
	c.warnings = append(c.warnings, broker.Issue{Path: path, Message: fmt.Sprintf(format, args...)})
}

// request runs all stages: read, shape, rules, body.
func (c *compilation) request(t broker.ChangeType, spec []byte) (broker.Request, error) {
	if c.change == 0 {
		c.refuse("change_type", "want one of connection_create, network_create, service_token_create, cloud_router_create")
		return broker.Request{}, c.refusal()
	}
	var body wire
	if root := c.read(spec); root != nil {
		body = c.body(c.shape("", root, specFields))
	}
	if len(c.issues) > 0 {
		return broker.Request{}, c.refusal()
	}
	r := broker.Request{ChangeType: t, Method: "POST", Path: createPaths[t]}
	r.Name, _ = body["name"].(string)
	r.Body = canonical(body)
	c.mustFit(r.Body, body)
	if len(c.issues) > 0 {
		return broker.Request{}, c.refusal()
	}
	r.Hash = broker.HashRequest(t, r.Body)
	r.Twin = twinOf(t, r.Body)
	r.Secrets = secretPointers(body)
	r.Brief = briefOf(r, facts{})
	r.Item = itemOf(r, facts{})
	sortIssues(c.warnings)
	r.Warnings = c.warnings
	return r, nil
}

var createPaths = map[broker.ChangeType]string{
	broker.ConnectionCreate:   "/fabric/v4/connections",
	broker.NetworkCreate:      "/fabric/v4/networks",
	broker.ServiceTokenCreate: "/fabric/v4/serviceTokens",
	broker.CloudRouterCreate:  "/fabric/v4/routers",
}

// body applies the rules of the change type to o and composes what is sent.
func (c *compilation) body(o *specObject) wire {
	switch c.change {
	case forConnection:
		return c.connection(o)
	case forNetwork:
		return c.network(o)
	case forToken:
		return c.token(o)
	case forRouter:
		return c.router(o)
	default:
		panic("fabric: a change type without rules")
	}
}

// maxIssues bounds an answer: a spec of nothing but unknown fields must not
// come back as a book.
const maxIssues = 100

func (c *compilation) refusal() error {
	sortIssues(c.issues)
	n := len(c.issues)
	message := fmt.Sprintf("the spec has %d problems", n)
	if n == 1 {
		message = "the spec has 1 problem"
	}
	r := broker.Refuse(broker.ErrInvalidSpec, "fix every field named in issues and propose again", "%s", message)
	r.Issues = c.issues
	if n > maxIssues {
		rest := broker.Issue{Path: wholeSpec, Message: fmt.Sprintf("%d more problems are not listed", n-maxIssues)}
		r.Issues = append(c.issues[:maxIssues:maxIssues], rest)
	}
	return r
}
