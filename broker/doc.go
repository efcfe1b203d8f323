// Package broker is the domain of Fabric Broker: an agent proposes a billable
// create, a person approves it, and it is sent once.
//
// The flow is three calls. [Broker.Propose] compiles a typed spec into exact
// bytes, has the provider's own dry run judge them and stores a proposal behind
// a single-use token. [Broker.Begin] verifies and spends the token and returns
// the [Question] a person is asked. [Broker.Complete] takes the person's
// [Answer] and, on an approval, sends the create. Every channel (form, page,
// terminal, gate) goes through Begin and Complete; the first answer wins.
//
// The package knows no protocol, no HTTP and no database. What it needs from
// the world it declares beside its use: [Provider], [Quoter], [Ledger],
// [Recorder], [Tokens], [Intents].
//
// # Invariants
//
// Tests cite them by number.
//
//   - I1: a create is sent only for bytes that passed a dry run, on positive
//     evidence. No dry run, no token.
//   - I2: at most one create is ever sent for a proposal. Nothing retries it.
//   - I3: no create without an approval of that very hash by its principal, by
//     an approver whom the operator named, or by the operator's explicit opt-in
//     for clients that cannot ask.
//   - I4: hash shown = hash bound = hash of the bytes sent.
//   - I5: the first confirm that reaches the ledger spends the token, whatever
//     comes of it. Refusals before that spend nothing.
//   - I6: nothing is sent after expiry. The step to sending carries the expiry
//     and is the last thing before the first byte.
//   - I7: no record, no send: the intent is on disk and synced first.
//   - I8: an unknown outcome is reported as unknown, never as failed, and the
//     same hash is refused, for any principal, until it is resolved.
//   - I9: no secret is ever printed.
//   - I10: no principal sees, evicts or confirms another's proposal.
//   - I11: a failing price, look-up or metric never fails a proposal; a failing
//     ledger or record always does, before the create. After the first byte
//     nothing turns the answer into "not sent".
//   - I12: at most one proposal per request hash and provider identity is
//     sending or unknown, across principals, replicas and processes.
package broker
