//go:build !unix

package fabric

import "context"

// Hold holds nothing where files have no advisory locks: two processes that
// start at the same moment may each try the same refused credentials once.
func (d fileLockout) Hold(context.Context, string) (func(), error) { return func() {}, nil }
