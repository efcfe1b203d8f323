// Package fabrictest has tests only: it holds what this project says on the wire
// against the published specification and the official SDK. It is a module of
// its own, so that neither comes with the product.
package fabrictest
