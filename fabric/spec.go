package fabric

import (
	"slices"

	"fabricbroker/broker"
)

// A spec is one flat object in our vocabulary. specFields is the whole of it:
// decoding, the order of issues, the hints for unknown fields and the JSON
// Schema all read this one table.

// changes is a set of change types.
type changes uint8

const (
	forConnection changes = 1 << iota
	forNetwork
	forToken
	forRouter

	forAll = forConnection | forNetwork | forToken | forRouter
)

// changeWord pairs a change type with the short word that descriptions use.
type changeWord struct {
	set  changes
	name broker.ChangeType
	word string
}

var changeWords = []changeWord{
	{forConnection, broker.ConnectionCreate, "connection"},
	{forNetwork, broker.NetworkCreate, "network"},
	{forToken, broker.ServiceTokenCreate, "token"},
	{forRouter, broker.CloudRouterCreate, "router"},
}

// changeOf returns the set of t alone, 0 for a change type that is none.
func changeOf(t broker.ChangeType) changes {
	for _, w := range changeWords {
		if w.name == t {
			return w.set
		}
	}
	return 0
}

// valueKind is the JSON shape of a field.
type valueKind int

const (
	kindString valueKind = iota
	kindUUID
	kindInteger
	kindBoolean
	kindObject
	kindStrings
	kindIntegers
	kindObjects
)

// wanted is how a message asks for a value of kind k.
func (k valueKind) wanted() string {
	switch k {
	case kindString, kindUUID:
		return "a string"
	case kindInteger:
		return "a whole number"
	case kindBoolean:
		return "a boolean"
	case kindObject:
		return "an object"
	case kindStrings:
		return "a list of strings"
	case kindIntegers:
		return "a list of whole numbers"
	case kindObjects:
		return "a list of objects"
	}
	panic("fabric: a kind without a name")
}

// specField is one field of a spec.
type specField struct {
	name string
	kind valueKind
	in   changes // which change types have it; below the top level all
	need changes // which demand it
	// enum are the API's words; a spec may write them in any case.
	enum     []string
	min, max int64 // of an integer, or of each in a list
	secret   bool  // its value is never repeated in a message
	price    bool  // it decides a price, or leads to what does
	zOnly    bool  // no a_side may have it
	doc      string
	fields   []specField
}

// The words of the API (OpenAPI 4.30) that can be created here.
var (
	networkTypes    = []string{"EVPLAN", "EPLAN", "IPWAN", "EVPTREE", "EPTREE"}
	connectionTypes = []string{
		"EVPL_VC", "EPL_VC", "ACCESS_EPL_VC", "EVPLAN_VC", "EPLAN_VC", "EVPTREE_VC",
		"EPTREE_VC", "IP_VC", "IPWAN_VC", "IA_VC", "MC_VC", "IX_VC",
	}
	tokenTypes = []string{
		"EVPL_VC", "EPL_VC", "EVPLAN_VC", "EPLAN_VC", "IPWAN_VC", "IP_VC", "EVPTREE_VC", "EPTREE_VC",
	}
)

const (
	minVLAN, maxVLAN           = 2, 4092
	minBandwidth, maxBandwidth = 1, 100_000
	maxInteger                 = 1<<53 - 1 // what every JSON reader keeps exactly
)

// typesFor returns the words of the field `type`, which two change types share.
func typesFor(c changes) []string {
	if c == forNetwork {
		return networkTypes
	}
	return connectionTypes
}

// fieldNamed returns the field of that name, nil if there is none.
func fieldNamed(fields []specField, name string) *specField {
	i := slices.IndexFunc(fields, func(f specField) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &fields[i]
}
