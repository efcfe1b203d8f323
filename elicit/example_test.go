package elicit_test

import (
	"fmt"
	"time"

	"fabricbroker/broker"
	"fabricbroker/elicit"
	"fabricbroker/pricing"
)

func ExamplePrompt() {
	now := time.Date(2026, 11, 30, 0, 0, 5, 0, time.UTC)
	body := []byte(`{"location":{"metroCode":"DC"},"name":"fcr-dc-02","package":{"code":"PREMIUM"},"type":"XF_ROUTER"}`)
	fmt.Print(elicit.Prompt(broker.Question{
		Account: broker.Account{Endpoint: "api.equinix.com", Production: true},
		Code:    "ACD347",
		Proposal: broker.Proposal{
			ChangeType: broker.CloudRouterCreate,
			Hash:       broker.HashRequest(broker.CloudRouterCreate, body),
			ExpiresAt:  now.Add(9*time.Minute + 55*time.Second),
			Quote:      pricing.Unpriced("the price search did not answer"),
			Payload: &broker.Payload{
				Body: body, Method: "POST", Path: "/fabric/v4/routers", DryRunAt: now,
				Brief: broker.Brief{
					What: `cloud router "fcr-dc-02", package PREMIUM`, From: "metro DC",
					Account: "270848", Billable: true,
				},
			},
		},
	}, now))
	// Output:
	// Create: cloud router "fcr-dc-02", package PREMIUM
	// Where: metro DC
	// Account: 270848, at api.equinix.com
	// Cost: unpriced: the price search did not answer; this can still cost money
	// Dry run: accepted by Equinix at 00:00:05 UTC, changes nothing
	// Expires: 00:10:00 UTC, in 9 min 55 s
	// SHA-256: 6c0e8178f51b83001be39c4c5f1ced0870eb604cb12533440de9c683608d334f
	// Request: POST /fabric/v4/routers, every field of it:
	// /location/metroCode = "DC"
	// /name = "fcr-dc-02"
	// /package/code = "PREMIUM"
	// /type = "XF_ROUTER"
	// To approve, type this code into the form: ACD347
	// Accept with confirm = yes and the code: creates it now, once.
	// Decline or close: nothing is sent; asking again takes a new proposal.
}

func ExampleRead() {
	// Some clients accept a form that nobody has filled in.
	a := elicit.Read(elicit.Reply{Action: "accept", Content: []byte(`{}`)}, "")
	fmt.Println(a.Status)
	fmt.Println(a.Detail)
	// Output:
	// declined
	// the client accepted the form without the answer confirm = true; nothing was sent
}
