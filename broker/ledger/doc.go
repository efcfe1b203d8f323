// Package ledger keeps proposals. [Memory] is the ledger of a single process;
// [fabricbroker/broker/ledger/ledgertest.Run] is the one contract suite that
// every ledger passes.
//
// A ledger decides races and time. Each call is atomic and looks at the ledger's
// own clock once: whoever loses a step learns what won, and a step that comes
// after the expiry is refused by the same call that would have made it (I6).
//
// It does not know who may do what: whose proposal it is, what a person
// answered and whether anything is halted are the broker's business.
package ledger
