//go:build darwin || dragonfly || freebsd || linux

package audit

import "syscall"

// freeSpace returns how many bytes of the disk of path its user may still fill.
func freeSpace(path string) (free int64, known bool, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false, err
	}
	// The types of the fields differ between systems.
	return int64(s.Bavail) * int64(s.Bsize), true, nil //nolint:unconvert // see above
}
