// Package pgledger keeps proposals in PostgreSQL, for servers with more than one
// replica. [Open] migrates the database and returns the [Ledger]; beside the
// proposals it keeps what replicas must agree on: the creates nobody has seen the
// end of ([Ledger.Intents]), the stop switch ([Ledger.Halt]) and refused log-ins
// ([Ledger.Lockout]).
//
// What it promises:
//
//   - The database's clock decides, clock_timestamp() and never now(), which
//     stands still in a transaction (I6). A replica whose own clock is off sees
//     every instant translated into it, so that its comparisons come out right.
//   - A transition is one conditional statement, durable when its call returns
//     (synchronous_commit is on). The step to sending checks in it the expiry,
//     the stop switch, the daily ceiling and I12, which a partial unique index
//     holds too.
//   - Each step carries the name of its attempt. When the answer to a COMMIT is
//     lost, the row is locked and read back: the step stood or it did not, and
//     nobody guesses (I2).
//   - Specs, results and answers are sealed, and what must not change about a row
//     is authenticated with it. A row that was altered by hand is a failure, not
//     a proposal.
//   - A call that changes something answers within two seconds, whatever the
//     database does: with ErrLedgerUnavailable where it is away, slow or
//     read-only. Nothing has to be restarted when it is back.
//   - After a promotion, or a restore, proposals of before are refused as
//     expired: the new primary may lack their last steps. Only the outcome of a
//     create that was under way is still taken.
//
// What it is not: it does not protect against somebody who may write to the
// database. They can delete rows, or set a state back; they cannot change what a
// proposal would create, whose it is or how long it lives. Nor does it make an
// asynchronous standby complete: set synchronous_standby_names where a failover
// must lose nothing.
package pgledger
