package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t testing.TB, path string) *Dir {
	t.Helper()
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // some tests remove it first
	return d
}

// do fails the test at an error of its own making.
func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenDirMakesPrivateDirectories(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "a", "b", "state")
	d := open(t, path+"/")
	if d.Path() != path {
		t.Errorf("path %q, want %q", d.Path(), path)
	}
	for _, p := range []string{filepath.Join(base, "a"), filepath.Join(base, "a", "b"), path, filepath.Join(path, "unresolved"), filepath.Join(path, "owners")} {
		info, err := os.Stat(p)
		do(t, err)
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o", p, info.Mode().Perm())
		}
	}
	open(t, path) // a second process
}

func TestOpenDirRefuses(t *testing.T) {
	for _, tc := range []struct {
		rule string
		make func(t *testing.T, base string) string
		says string
	}{
		{"no path", func(*testing.T, string) string { return "" }, "EQUINIX_MCP_STATE_DIR"},
		{"a symbolic link", func(t *testing.T, base string) string {
			do(t, os.Mkdir(filepath.Join(base, "real"), 0o700))
			do(t, os.Symlink("real", filepath.Join(base, "link")))
			return filepath.Join(base, "link")
		}, "symbolic link"},
		{"a symbolic link to nothing", func(t *testing.T, base string) string {
			do(t, os.Symlink("nothing", filepath.Join(base, "link")))
			return filepath.Join(base, "link") + "/"
		}, "symbolic link"},
		{"a file", func(t *testing.T, base string) string {
			do(t, os.WriteFile(filepath.Join(base, "f"), nil, 0o600))
			return filepath.Join(base, "f")
		}, "not a directory"},
		{"a parent that is a file", func(t *testing.T, base string) string {
			do(t, os.WriteFile(filepath.Join(base, "f"), nil, 0o600))
			return filepath.Join(base, "f", "state")
		}, "not a directory"},
		{"access for the group", func(t *testing.T, base string) string {
			do(t, os.Chmod(base, 0o710))
			return base
		}, "chmod 700"},
		{"access for others", func(t *testing.T, base string) string {
			do(t, os.Chmod(base, 0o701))
			return base
		}, "chmod 700"},
		{"no access for its owner", func(t *testing.T, base string) string {
			do(t, os.Chmod(base, 0o500))
			t.Cleanup(func() { _ = os.Chmod(base, 0o700) })
			return base
		}, "chmod 700"},
		{"a symbolic link inside", func(t *testing.T, base string) string {
			do(t, os.Chmod(base, 0o700))
			do(t, os.Mkdir(filepath.Join(base, "real"), 0o700))
			do(t, os.Symlink("real", filepath.Join(base, "unresolved")))
			return base
		}, "symbolic link"},
		{"a directory inside that others may read", func(t *testing.T, base string) string {
			do(t, os.Chmod(base, 0o700))
			do(t, os.Mkdir(filepath.Join(base, "unresolved"), 0o700))
			do(t, os.Chmod(filepath.Join(base, "unresolved"), 0o750))
			return base
		}, "chmod 700"},
		{"somebody else's", func(t *testing.T, base string) string {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			do(t, os.Chmod(base, 0o700))
			do(t, os.Chown(base, 12345, -1))
			return base
		}, "another user"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := OpenDir(tc.make(t, t.TempDir()))
			if err == nil {
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line that says %q", err, tc.says)
			}
		})
	}
}
