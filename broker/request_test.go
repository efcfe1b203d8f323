package broker_test

import (
	"testing"

	"fabricbroker/broker"
)

// I4: printf 'connection_create\n{"name":"a"}' | sha256sum.
func TestI4HashRequestIsAKnownVector(t *testing.T) {
	got := broker.HashRequest(broker.ConnectionCreate, []byte(`{"name":"a"}`))
	if got != "863945b8390fecb99e01643d44f3d382bd968a51bb95991bda90bf9d5aab4b29" {
		t.Errorf("got %s", got)
	}
}

func TestI4HashRequestTellsApart(t *testing.T) {
	seen := map[broker.Hash]string{}
	for _, c := range []struct {
		t    broker.ChangeType
		body string
	}{
		{broker.ConnectionCreate, `{"a":1}`},
		{broker.NetworkCreate, `{"a":1}`},
		{broker.ConnectionCreate, `{"a": 1}`},
		{broker.ConnectionCreate, `{"a":1} `},
		{broker.ConnectionCreate, ""},
		{"", "connection_create"},
	} {
		h := broker.HashRequest(c.t, []byte(c.body))
		if other, ok := seen[h]; ok {
			t.Errorf("%s %q has the hash of %s", c.t, c.body, other)
		}
		seen[h] = string(c.t) + c.body
	}
}

func TestChangeTypes(t *testing.T) {
	got := broker.ChangeTypes()
	if len(got) != 4 || got[0] != broker.ConnectionCreate {
		t.Errorf("got %v", got)
	}
	got[0] = "changed"
	if broker.ChangeTypes()[0] != broker.ConnectionCreate {
		t.Error("a caller can change the list")
	}
}
