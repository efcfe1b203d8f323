// Package reads has the tools that read Equinix Fabric and change nothing:
// fabric_search, fabric_get, fabric_list_metros and fabric_estimate_price.
package reads
