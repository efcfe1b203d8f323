// Package seal holds the keys of Fabric Broker and what they protect: confirm
// tokens, request states, and rows that a shared ledger keeps sealed.
//
// A [Keyring] is made from the operator's secrets with [ParseSecrets] and [New],
// or from nothing with [Ephemeral] for a server whose proposals end with its
// process. The first secret signs and seals, all of them verify and open: to
// rotate, put the new secret in front, and drop the old one when the last
// proposal made under it has expired.
//
// Every use has a key of its own, derived with HKDF-SHA-256 under its own label,
// so that nothing made for one use passes for another. Whatever was changed by a
// byte, cut, or made for another tool, principal, account or key is refused.
//
// What a token says is no permission. It proves that this server minted it for
// this principal; whether it may still be spent is the ledger's to say. A
// request state is likewise no proof that anybody was asked, only that we asked.
package seal
