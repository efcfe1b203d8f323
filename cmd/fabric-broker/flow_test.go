package main

import (
	"testing"

	"fabricbroker/broker"
)

// I4: hash shown = hash bound = hash of the bytes sent, in the dry run and in
// the create.
func TestApprovedConnectionIsCreatedOnce(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			w := newWorld(t)
			c := w.client(era, approves)
			p := c.propose(connectionSpec("dc-aws-01", 1017))
			done := c.confirm(p)
			if done.at("outcome") != "created" || done.at("executed") != true || done.at("human_confirmation.status") != "accepted" {
				t.Errorf("confirm: %v", done)
			}
			w.wantCreates(1)
			assets := w.sim.Assets("connection")
			made := assets[len(assets)-1]
			if done.at("result.uuid") != made.UUID {
				t.Errorf("result.uuid is %v, the asset %s", done.at("result.uuid"), made.UUID)
			}
			for _, e := range w.sim.History() {
				if e.Method == "POST" && isCreate(e.Path) {
					if got := broker.HashRequest(broker.ConnectionCreate, e.Body); string(got) != p["request_sha256"] {
						t.Errorf("dry run %v: the body hashes to %s, shown was %v", e.DryRun, got, p["request_sha256"])
					}
				}
			}
		})
	}
}
