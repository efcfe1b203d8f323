//go:build !crash

package broker

// hook marks a boundary between two steps of a create. Built with the tag
// crash, a test can have the process killed or stopped there; in every other
// build it is nothing.
func hook(string) {}
