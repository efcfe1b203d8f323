// Package form asks a person through a form in the MCP client.
//
// It branches on the era of the request at hand, never on the session's:
//
//   - From 2026-07-28 on the server sends no requests. The first call spends
//     the token and returns the question with a sealed state; the client calls
//     again with the answer and that state. An answer counts only with a state
//     that opens: a client can send "accept" in its first call.
//   - Up to 2025-11-25 the question is a request within the call, under our own
//     deadline: a client may declare forms and never show one.
//
// The SDK's bridge from the first to the second is not used. It runs the
// handler again from the start, has no deadline, and turns a failed prompt into
// a protocol error.
package form
