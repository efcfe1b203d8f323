// Package fabricsim is a simulator of the Equinix Fabric v4 API, for testing
// only: it takes orders and charges nobody.
//
// You probably want a zero Sim. It is an http.Handler:
//
//	sim := &fabricsim.Sim{}
//	defer sim.Close()
//	srv := httptest.NewServer(sim)
//
// or, without a socket (inside a testing/synctest bubble a socket would stop
// the clock):
//
//	client := sim.Client()
//
// Seed it with Put, PutJSON or the management API (Manage), make it misbehave
// with Fail, and assert on History and Assets: "exactly one POST" is the
// sentence a test wants to say.
//
// # What it promises
//
// It speaks the wire as the API does and is awkward where the API is: dry runs
// validate like creates and change nothing; the status code does not say
// whether something was created; names are not unique; VLANs are, per port, and
// stay held for a while after a delete; every search has its own grammar; errors
// are arrays, mostly; five bad log-ins lock an account. Every request is in the
// history, byte for byte, also those that a fault ended.
//
// # What it refuses to be
//
// A client of itself. It imports nothing else of this module, on purpose: a
// simulator that shares structs with its client agrees with the client's
// mistakes. And it has no updates and no deletes: put an asset with another
// state instead.
//
// All methods may be called concurrently. Knobs are set before the first
// request and not changed afterwards.
package fabricsim
