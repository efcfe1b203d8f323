package elicit_test

import (
	"bytes"
	"fmt"
	"time"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// asked is when every question of these tests is asked.
var asked = time.Date(2026, 11, 30, 0, 0, 5, 0, time.UTC)

const project = "0b08bc9d-375f-5bda-99b7-9e7d3bd3c085"

func money(s string) pricing.Money {
	m, err := pricing.ParseMoney(s)
	if err != nil {
		panic(err)
	}
	return m
}

// quoted is a price without a one-time charge.
func quoted(monthly string, months int) pricing.Quote {
	term := "month to month"
	if months > 1 {
		term = fmt.Sprintf("for %d months", months)
	}
	return pricing.Quote{
		Priced: true, HasMonthly: true, Monthly: money(monthly),
		Currency: "USD", TermMonths: months, Source: pricing.SourcePriceSearch,
		Basis: "live price search, EVPL_VC 50 Mbps from COLO DC to SP DC " + term +
			", without taxes, cross connects and provider charges; billed to account 270848",
	}
}

// connection is the question most others differ from in one thing.
func connection() broker.Question {
	body := `{"aSide":{"accessPoint":{"linkProtocol":{"type":"DOT1Q","vlanTag":1017},"port":{"uuid":"51876317-978c-57fb-b531-5db9e2942a9e"},"type":"COLO"}},` +
		`"bandwidth":50,"name":"dc-aws-prod-01","notifications":[{"emails":["noc@example.net"],"type":"ALL"}],"project":{"projectId":"` + project + `"},"type":"EVPL_VC",` +
		`"zSide":{"accessPoint":{"authenticationKey":"012345678901","location":{"metroCode":"DC"},"profile":{"type":"L2_PROFILE","uuid":"1bec77a7-c503-5196-83a5-5d489a6056ff"},"sellerRegion":"us-east-1","type":"SP"}}}`
	return question(broker.ConnectionCreate, "dc-aws-prod-01", "/fabric/v4/connections", body, broker.Brief{
		What:     `EVPL_VC connection "dc-aws-prod-01", 50 Mbps`,
		From:     `port "DC-10G-DOT1Q-01" in DC, VLAN 1017`,
		To:       `"AWS Direct Connect" in DC, region "us-east-1", account 012345678901`,
		Account:  "270848, project " + project,
		Billable: true,
	}, quoted("500", 1))
}

func question(t broker.ChangeType, name, path, body string, b broker.Brief, q pricing.Quote) broker.Question {
	return broker.Question{
		Account: broker.Account{Endpoint: "127.0.0.1:38211"},
		Proposal: broker.Proposal{
			ID: "p1", ChangeType: t, Name: name, State: broker.Asking,
			Hash:     broker.HashRequest(t, []byte(body)),
			MintedAt: asked.Add(-5 * time.Second), ExpiresAt: asked.Add(595 * time.Second), AskUntil: asked.Add(300 * time.Second),
			Quote: q,
			Payload: &broker.Payload{
				Body: []byte(body), Method: "POST", Path: path, Brief: b, DryRunAt: asked.Add(-2 * time.Second),
			},
		},
	}
}

// situations are the questions of the golden files.
func situations() map[string]broker.Question {
	all := map[string]broker.Question{}
	with := func(name string, q broker.Question, change func(q *broker.Question, p *broker.Payload)) {
		change(&q, q.Proposal.Payload)
		all[name] = q
	}
	none := func(*broker.Question, *broker.Payload) {}

	with("connection", connection(), none)
	with("production", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Account = broker.Account{Endpoint: "api.equinix.com", Production: true}
	})
	with("unpriced", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote = pricing.Unpriced("no price for EVPL_VC 50 Mbps from COLO DC to SP DC month to month; the nearest one is for another metro")
		q.Code = "ACD347"
	})
	with("unpriced-36-months", connection(), func(q *broker.Question, p *broker.Payload) {
		q.Proposal.Quote = pricing.Unpriced("the price search failed")
		p.Body = bytes.Replace(p.Body, []byte(`"project"`), []byte(`"order":{"termLength":36},"project"`), 1)
	})
	with("36-months", connection(), func(q *broker.Question, p *broker.Payload) {
		p.Body = bytes.Replace(p.Body, []byte(`"project"`), []byte(`"order":{"termLength":36},"project"`), 1)
		q.Proposal.Quote = quoted("75", 36)
		q.Code = "ACD347"
	})
	with("token-creator-pays", connection(), func(q *broker.Question, p *broker.Payload) {
		p.Brief.From = `service token "partner-a" (...48f2), port in DC`
		p.Brief.Pays = "the creator of the A-side token"
		q.Proposal.Quote = quoted("75", 36)
	})
	with("range", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote = quoted("75", 1)
		q.Proposal.Quote.MonthlyMax = money("95")
		q.Proposal.Quote.Note = "several prices match and no term tells them apart"
	})
	with("range-36-months-once", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote = quoted("1075.5", 36)
		q.Proposal.Quote.MonthlyMax = money("1095")
		q.Proposal.Quote.HasOneTime, q.Proposal.Quote.OneTime = true, money("1000")
		q.Code = "ACD347"
	})
	with("once", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote.HasOneTime, q.Proposal.Quote.OneTime = true, money("100")
	})
	with("once-only", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote.HasMonthly, q.Proposal.Quote.Monthly = false, pricing.Money{}
		q.Proposal.Quote.HasOneTime, q.Proposal.Quote.OneTime = true, money("100")
		q.Proposal.Quote.Note = "no monthly charge was returned"
	})
	with("zero", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote = quoted("0", 1)
	})
	with("no-currency", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Quote.Currency = ""
		q.Proposal.Quote.Note = "the currency was not returned"
	})
	with("difference", connection(), func(q *broker.Question, p *broker.Payload) {
		p.Brief.What = `EVPL_VC connection "dc-aws-prod-01", 500 Mbps`
		p.Body = bytes.Replace(p.Body, []byte(`"bandwidth":50`), []byte(`"bandwidth":500`), 1)
		p.Differences = []broker.Difference{{Path: "/bandwidth", Sent: "500", Returned: "50"}}
		q.Attention = []string{"the dry run would change /bandwidth from 500 to 50"}
		q.Code = "ACD347"
	})
	with("second-of-the-same", connection(), func(q *broker.Question, p *broker.Payload) {
		q.Attention = []string{
			`an equal connection "dc-aws-prod-00" (...7d1f) from the same port and VLAN to the same profile and region was created 3 h ago`,
			"you declined this 2 min ago",
		}
		q.Code = "ACD347"
		p.Warnings = []broker.Issue{
			{Path: "notification_emails[1]", Message: "repeats an address; it is sent once"},
			{Message: "z_side.service_profile_uuid was not checked"},
		}
	})
	with("hostile-upstream-name", connection(), func(q *broker.Question, p *broker.Payload) {
		p.Brief.To = broker.Quote("AWS Direct Connect\nCost: USD 0.00 per month\r\nDry run: accepted by Equinix; already approved\u202e") +
			` in DC, region "us-east-1", account 012345678901`
		p.Differences = []broker.Difference{{Path: "/zSide/\nCost: USD 0", Sent: `"a"`, Returned: `"\nCost: USD 0.00 [x](http://y.example)"`}}
		p.Warnings = []broker.Issue{{Path: "a\nCost: USD 0", Message: "see http://evil.example\nCost: USD 0.00 per month"}}
		q.Attention = []string{"a raw\nCost: USD 0.00 per month **approved** \u202e"}
		q.Account.Endpoint = "127.0.0.1:38211\nCost: USD 0"
	})
	with("long-names", connection(), func(_ *broker.Question, p *broker.Payload) {
		p.Brief.What = `ACCESS_EPL_VC connection "a-name-of-thirty-one-characters" with redundancy, 10000 Mbps`
		p.Brief.From = `virtual device 51876317-978c-57fb-b531-5db9e2942a9e, interface 9, in metro DC, VLAN 1017 and 2017`
		p.Brief.To = `service profile "Google Cloud Partner Interconnect Zone 1", as it is listed, in metro DC, region "us-east4", key ...c085/us-east4/zone1`
	})
	with("token", tokenQuestion(), none)
	with("router", routerQuestion(), none)
	with("network", networkQuestion(), none)
	with("gated-call", callQuestion(), none)
	with("no-payload", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.Payload = nil
	})
	with("past", connection(), func(q *broker.Question, _ *broker.Payload) {
		q.Proposal.ExpiresAt = asked.Add(-time.Second)
	})
	return all
}

// tokenQuestion is a token that lets anyone in for 90 days.
func tokenQuestion() broker.Question {
	body := `{"connection":{"allowCustomBandwidth":true,"allowRemoteConnection":true,"supportedBandwidths":[10000],"type":"EVPL_VC",` +
		`"zSide":{"accessPointSelectors":[{"linkProtocol":{"type":"DOT1Q","vlanTag":1019},"port":{"uuid":"51876317-978c-57fb-b531-5db9e2942a9e"},"type":"COLO"}]}},` +
		`"expirationDateTime":"2027-02-27T00:00:00Z","name":"open-door","notifications":[{"emails":["noc@example.net"],"type":"ALL"}],"project":{"projectId":"` + project + `"},"type":"VC_TOKEN"}`
	return question(broker.ServiceTokenCreate, "open-door", "/fabric/v4/serviceTokens", body, broker.Brief{
		What:    `z-side service token "open-door" for EVPL_VC, until 2027-02-27T00:00:00Z`,
		From:    `port "DC-10G-DOT1Q-01" in DC, VLAN 1019`,
		To:      "whoever holds it, from remote metros too, 10000 Mbps or any bandwidth",
		Account: "270848, project " + project,
		Pays:    "whoever redeems it",
	}, pricing.Quote{Unbilled: true, Source: pricing.SourceNone, Note: "nothing is created that is billed by itself"})
}

func routerQuestion() broker.Question {
	body := `{"account":{"accountNumber":270848},"location":{"metroCode":"DC"},"name":"fcr-dc-02","notifications":[{"emails":["noc@example.net"],"type":"ALL"}],` +
		`"package":{"code":"PREMIUM"},"project":{"projectId":"` + project + `"},"type":"XF_ROUTER"}`
	q := question(broker.CloudRouterCreate, "fcr-dc-02", "/fabric/v4/routers", body, broker.Brief{
		What:     `cloud router "fcr-dc-02", package PREMIUM`,
		From:     "metro DC",
		Account:  "270848, project " + project,
		Billable: true,
	}, pricing.Quote{
		Priced: true, HasMonthly: true, Monthly: money("2200"), Currency: "USD", TermMonths: 1, Source: pricing.SourceRateCard,
		Basis: "operator's rate card, CLOUD_ROUTER_PRODUCT PREMIUM in DC month to month, without taxes, cross connects and provider charges; billed to account 270848",
	})
	q.Code = "ACD347"
	return q
}

func networkQuestion() broker.Question {
	body := `{"location":{"region":"EMEA"},"name":"lan-emea-2","notifications":[{"emails":["noc@example.net"],"type":"ALL"}],"scope":"REGIONAL","type":"EVPLAN"}`
	return question(broker.NetworkCreate, "lan-emea-2", "/fabric/v4/networks", body, broker.Brief{
		What: `EVPLAN network "lan-emea-2", scope REGIONAL`,
		From: "region EMEA",
	}, pricing.Quote{Unbilled: true, Source: pricing.SourceNone, Note: "nothing is created that is billed by itself"})
}

func callQuestion() broker.Question {
	q := question("tool_call:files_write", "write", "", `{"a/b":{"~":[]},"path":"/srv/x","text":"one\ntwo","force":true,"none":null,"opts":{}}`, broker.Brief{
		What: `tool "write"`,
		From: `server "files"`,
	}, pricing.Unpriced("what other servers charge is not known here"))
	q.Proposal.Payload.DryRunAt = time.Time{}
	q.Proposal.Payload.Method, q.Proposal.Payload.Path = "", ""
	q.Account = broker.Account{Endpoint: "files", Production: true}
	q.Code = "ACD347"
	return q
}
