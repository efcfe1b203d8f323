// Package remote serves the assembled MCP server over HTTP, to many callers
// whom it knows by their bearer tokens. [New] makes the handler and
// [Server.Serve] runs it until it is told to end.
//
// Both protocol eras share the endpoint /mcp. Two SDK handlers stand behind it,
// over one server, because neither can serve both: a stateful one cannot take
// requests that stand on their own, and a stateless one cannot ask a client of
// the older era anything. The protocol version header decides, nothing else.
//
// Every request is looked at in this order, and a request that is refused has
// cost nothing: Host and Origin, bearer token, the caller's open requests, size
// and pace of the body, the owner of its session. Only then the SDK sees it.
//
// What it promises:
//
//   - A tool runs for a verified caller or not at all (I10). The bearer token
//     itself goes no further than its verification (I9).
//   - Whatever belongs to somebody else is answered as what never existed.
//   - While a person thinks, the stream stays open as long as it takes; whoever
//     reads or writes slowly costs one connection, and only for a while.
//   - On the way down nobody is asked any more, and a create that was sent is
//     finished and recorded.
//
// It terminates no TLS and issues no tokens: a proxy and an authorization server
// do that.
package remote
