// Package fabric makes the Equinix Fabric API v4 a [broker.Provider] and a
// [broker.Quoter], and reads what the read tools show.
//
// It speaks raw HTTP: exact bytes out, tolerant decoding in. A create is sent
// on a transport of its own that retries nothing and follows nothing, because
// Fabric has no idempotency key: a repeated POST is a second bill.
//
// Files: spec*.go and compile*.go turn a spec into a request, brief.go and
// item.go say it in a person's and a price's terms, lookup*.go read what it
// refers to, validate*.go ask the dry run, create*.go send, effect.go and find.go
// search for twins and for lost creates, price*.go quote, read*.go serve the read
// tools, login*.go, client*.go, transport*.go and errors*.go carry them.
package fabric
