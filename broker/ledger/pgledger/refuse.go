package pgledger

import (
	"time"

	"fabricbroker/broker"
)

func refuseUnknown() error {
	return broker.Refuse(broker.ErrProposalUnknown, "list your recent proposals with fabric_change_status",
		"no such proposal: it was never made here, or it ended too long ago")
}

func refuseLarge(n int) error {
	return broker.Refuse(broker.ErrInvalidArguments, "propose a smaller request",
		"the request and what its dry run said have %d bytes, and at most %d are kept", n, maxSealed)
}

func refuseExpired(p broker.Proposal) error {
	return broker.Refuse(broker.ErrTokenExpired, "propose the change again",
		"the proposal expired at %s", p.ExpiresAt.UTC().Format(time.RFC3339))
}

func refuseOlder() error {
	return broker.Refuse(broker.ErrTokenExpired, "ask fabric_change_status, then propose the change again",
		"the proposal was made before the ledger's database was replaced by its standby or restored")
}

func refuseFull(most int) error {
	return broker.Refuse(broker.ErrRateLimited, "have proposals that wait confirmed or withdrawn, or try again in some minutes",
		"this server keeps at most %d proposals under way", most)
}

func refuseAsking(waiting int) error {
	return broker.Refuse(broker.ErrRateLimited,
		"have the waiting prompts answered, or withdraw them with fabric_withdraw_change, then confirm again; the token is not spent",
		"%d other prompts already wait for an answer", waiting)
}

func refuseHalted(reason string) error {
	return broker.Refuse(broker.ErrHalted, "an operator must look into it and run `fabric-broker resume`; nothing is sent until then",
		"everything that could create is halted: %s", broker.Quote(reason))
}

func refuseUnresolved(id string) error {
	return broker.Refuse(broker.ErrSameRequestUnresolved,
		"do not propose it again; look at fabric_change_status and on the provider's side, and let an operator resolve the earlier create first",
		"the very same request was sent before (proposal %s) and its outcome is not known: it may exist and be billed", broker.Quote(id))
}

func refuseCeiling(most int, free time.Time) error {
	return broker.Refuse(broker.ErrDailyCeiling, "propose it again after "+free.UTC().Format(time.RFC3339)+", or ask the operator for a higher limit",
		"%d creates were sent within 24 hours, which is the most that the operator allows", most)
}
