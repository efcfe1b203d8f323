// Package fabric makes the Equinix Fabric API v4 a [broker.Provider] and a
// [broker.Quoter], and reads what the read tools show.
//
// It speaks raw HTTP: exact bytes out, tolerant decoding in. A create is sent
// on a transport of its own that retries nothing and follows nothing, because
// Fabric has no idempotency key: a repeated POST is a second bill.
//
// Files: compile*.go turn a spec into a request, lookup*.go read what it refers
// to, validate.go asks the dry run, create.go sends, price.go quotes, read*.go
// serve the read tools, login.go and client.go carry them.
package fabric
