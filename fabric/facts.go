package fabric

// facts are what the look-ups brought about the assets a request refers to.
// Zero fields are not known: a read that failed is "not checked", never a
// placeholder.
type facts struct {
	// A and Z are the sides of a connection. A is also the asset that a service
	// token opens.
	A, Z asset
}

// asset is one port, router, network, service profile or service token.
type asset struct {
	Name    string // as the API has it: not escaped
	Metro   string
	Region  string
	Account string // account number of a port or router
	Project string
	State   string
	Package string // of a router
	Scope   string // of a network
	// TokenSide is "a" or "z" for a service token, and AccessPoint the type of
	// what it opens: COLO, VD or NETWORK.
	TokenSide, AccessPoint string
}
