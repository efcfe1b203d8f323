// Package ledgertest is the contract of a [broker.Ledger], as tests. Every
// ledger passes [Run]; what only one of them does, it tests beside itself.
package ledgertest
