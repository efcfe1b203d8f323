package audit

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fabricbroker/broker"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ticking is a clock that goes on by a second with every look.
func ticking() func() time.Time {
	n := 0
	return func() time.Time { n++; return start.Add(time.Duration(n) * time.Second) }
}

func logIn(t testing.TB, dir string, o LogOptions) *Log {
	t.Helper()
	if o.Now == nil {
		o.Now = ticking()
	}
	l, err := open(t, dir).Log(o)
	do(t, err)
	l.pid = 4711
	t.Cleanup(func() { _ = l.Close() }) // most tests close it first
	return l
}

const (
	tokenUUID = "c3f1a2b4-1111-4222-8333-ABCDEF012345"
	assetUUID = "5d113752-996b-4b59-8e21-8927e7b98058"
	secretKey = "s3cr3t-provider-key-0001"
)

var ada = broker.Caller{
	Principal:  broker.Principal{Kind: "jwt", Issuer: "https://id.example", Tenant: "t", Subject: "ada"},
	ClientName: "claude", ClientVersion: "1.2", ProtocolVersion: "2026-07-28",
}

func pending(id broker.ID, t broker.ChangeType) broker.Proposal {
	body := []byte(`{"name":"dc-aws-01","zSide":{"key":"` + secretKey + `"},"url":"a<b>&c"}`)
	p := broker.Proposal{
		ID: id, ChangeType: t, Name: "dc-aws-01", Hash: broker.HashRequest(t, body), Caller: ada, Account: "account-1",
		State: broker.Pending, Since: start, MintedAt: start, ExpiresAt: start.Add(10 * time.Minute),
		Payload: &broker.Payload{
			Spec: body, Body: broker.NewMask(body, []string{"/zSide/key"}).JSON(body), Method: "POST", Path: "/fabric/v4/connections",
		},
	}
	quote := `{"Priced":true,"HasMonthly":true,"Monthly":"500","MonthlyMax":"750.5","HasOneTime":true,"OneTime":"0","OneTimeMax":"0",
		"Currency":"USD","TermMonths":12,"Source":"rate_card","Basis":"the rate card","Note":""}`
	if err := json.Unmarshal([]byte(quote), &p.Quote); err != nil {
		panic(err)
	}
	return p
}

// story is every kind of event, in an order in which they can happen.
func story() []broker.Event {
	var out []broker.Event
	add := func(k broker.EventKind, p broker.Proposal, code broker.Code) {
		out = append(out, broker.Event{Time: start.Add(time.Duration(len(out)) * time.Second), Kind: k, Proposal: p, Caller: p.Caller, Code: code})
	}
	step := func(p *broker.Proposal, s broker.State, k broker.EventKind, code broker.Code) {
		p.State, p.Since, p.Code = s, start.Add(time.Duration(len(out))*time.Second), code
		add(k, *p, code)
	}
	begin := func(id broker.ID, t broker.ChangeType) broker.Proposal {
		p := pending(id, t)
		add(broker.EventProposed, p, "")
		p.Spent, p.AskUntil = true, start.Add(5*time.Minute)
		step(&p, broker.Asking, broker.EventAsked, "")
		return p
	}
	yes := func(p *broker.Proposal) {
		p.Answer = &broker.Answer{State: broker.Approved, Channel: "form", Status: broker.StatusAccepted, Detail: "the person accepted"}
		step(p, broker.Approved, broker.EventAnswered, "")
		p.SendBy = start.Add(6 * time.Minute)
		step(p, broker.Sending, broker.EventSending, "")
	}
	add(broker.EventRefused, broker.Proposal{Caller: ada}, broker.ErrTokenForged)

	p := begin("p-created", broker.ServiceTokenCreate)
	yes(&p)
	p.Result = &broker.Result{
		Outcome: broker.OutcomeCreated, UUID: tokenUUID, Name: "dc-aws-01", State: "INACTIVE",
		Href: "https://api.example/fabric/v4/serviceTokens/c3f1a2b4-1111-4222-8333-abcdef012345", CorrelationID: "p-created", Detail: "made " + tokenUUID,
	}
	p.Payload = nil
	step(&p, broker.Created, broker.EventCreated, "")
	add(broker.EventRefused, p, broker.ErrTokenReplayed)

	p = begin("p-rejected", broker.ConnectionCreate)
	yes(&p)
	p.Result = &broker.Result{Outcome: broker.OutcomeRejected, Code: broker.ErrUpstreamRejected, Upstream: []broker.UpstreamError{{Code: "EQ-1", Message: "no", Property: "/name"}}}
	step(&p, broker.Rejected, broker.EventRejected, broker.ErrUpstreamRejected)

	p = begin("p-unknown", broker.ConnectionCreate)
	yes(&p)
	p.Result = &broker.Result{Outcome: broker.OutcomeUnknown, Detail: "no answer"}
	step(&p, broker.Unknown, broker.EventUnknown, "")
	p.Result = &broker.Result{Outcome: broker.OutcomeCreated, UUID: assetUUID, Name: "dc-aws-01", State: "PROVISIONED"}
	step(&p, broker.Created, broker.EventResolved, "")

	p = begin("p-not-sent", broker.ConnectionCreate)
	yes(&p)
	p.Result = &broker.Result{Outcome: broker.OutcomeNotSent, Code: broker.ErrUpstreamUnavailable, Detail: "no connection"}
	step(&p, broker.NotSent, broker.EventNotSent, broker.ErrUpstreamUnavailable)

	p = begin("p-stopped", broker.ConnectionCreate)
	p.Answer = &broker.Answer{State: broker.Approved, Channel: "page", By: "bob", Status: broker.StatusAccepted}
	step(&p, broker.Approved, broker.EventAnswered, "")
	p.Result = &broker.Result{Outcome: broker.OutcomeNotSent, Code: broker.ErrPriceChanged, Detail: "price changed"}
	step(&p, broker.Stopped, broker.EventStopped, broker.ErrPriceChanged)

	p = begin("p-withdrawn", broker.NetworkCreate)
	step(&p, broker.Withdrawn, broker.EventWithdrawn, "")
	p = begin("p-superseded", broker.NetworkCreate)
	step(&p, broker.Superseded, broker.EventSuperseded, "")
	p = begin("p-expired", broker.NetworkCreate)
	p.Answer = &broker.Answer{State: broker.Approved, Channel: "form", Status: broker.StatusAccepted}
	step(&p, broker.Expired, broker.EventAnswered, "")
	add(broker.EventExpired, p, broker.ErrTokenExpired)
	p = pending("p-evicted", broker.CloudRouterCreate)
	add(broker.EventProposed, p, "")
	step(&p, broker.Evicted, broker.EventEvicted, "")
	add(broker.EventHalted, broker.Proposal{
		ChangeType: broker.NetworkCreate, Name: "n", Caller: ada, Result: &broker.Result{Outcome: broker.OutcomeCreated, UUID: assetUUID},
	}, broker.ErrDryRunCreated)
	return out
}

func write(t testing.TB, l *Log, events ...broker.Event) {
	t.Helper()
	for _, e := range events {
		do(t, l.Record(t.Context(), e))
	}
}

// sample writes the story into a directory and returns the directory and its files.
func sample(t testing.TB, o LogOptions) (dir string, names []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	l := logIn(t, dir, o)
	write(t, l, story()...)
	do(t, l.Close())
	return dir, logs(t, dir)
}

func logs(t testing.TB, dir string) []string {
	t.Helper()
	names, err := logNames(dir)
	do(t, err)
	return names
}

func content(t testing.TB, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	do(t, err)
	return string(b)
}

func refusal(n int, who broker.Caller, code broker.Code) broker.Event {
	return broker.Event{Time: start.Add(time.Duration(n) * time.Millisecond), Kind: broker.EventRefused, Caller: who, Code: code, Proposal: broker.Proposal{Caller: who}}
}

func proposed(n int) broker.Event {
	p := pending(broker.ID(fmt.Sprint("p-", n)), broker.ConnectionCreate)
	return broker.Event{Time: start.Add(time.Duration(n) * time.Second), Kind: broker.EventProposed, Proposal: p, Caller: p.Caller}
}

func verified(t testing.TB, path string) Report {
	t.Helper()
	r, err := Verify(path)
	do(t, err)
	return r
}
