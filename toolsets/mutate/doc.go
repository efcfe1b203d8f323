// Package mutate has the tools with which an agent proposes a create and a
// person lets it happen: fabric_propose_change, fabric_confirm_change,
// fabric_change_status and fabric_withdraw_change.
//
// The tools translate between MCP and [broker.Broker]; they decide nothing.
package mutate
