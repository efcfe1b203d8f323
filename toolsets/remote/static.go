package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"fabricbroker/broker"
)

// Static verifies bearer tokens against a file of their hashes, which is read
// again when it has changed. Use [OpenStatic]. It is safe for concurrent use.
type Static struct {
	path string

	mu      sync.Mutex
	read    os.FileInfo // of the file that callers are from
	callers callers
}

// callers are whom the hashes of tokens stand for.
type callers map[[sha256.Size]byte]broker.Principal

var _ Verifier = (*Static)(nil)

// maxTokensFile bounds the file of static tokens.
const maxTokensFile = 4 << 20

// OpenStatic reads the tokens of path: lines of "sha256:HEX tenant/subject",
// where HEX is the SHA-256 of a token; empty lines and those that begin with #
// count for nothing. A file that others may read or write is refused: whoever
// can write it is everybody.
func OpenStatic(path string) (*Static, error) {
	s := &Static{path: path}
	_, err := s.list()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// list returns what the file says now. A file that cannot be read any more lets
// nobody in.
func (s *Static) list() (callers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	if was := s.read; was != nil && os.SameFile(was, info) && was.ModTime().Equal(info.ModTime()) &&
		was.Size() == info.Size() && was.Mode() == info.Mode() {
		return s.callers, nil
	}
	found, info, err := readStatic(s.path)
	if err != nil {
		return nil, err
	}
	s.read, s.callers = info, found
	return found, nil
}

func readStatic(path string) (callers, os.FileInfo, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	case mode.Perm()&0o077 != 0:
		return nil, nil, fmt.Errorf("%s has mode %04o: others could read or change who may call; run chmod 600 %s", path, mode.Perm(), path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokensFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(b) > maxTokensFile {
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", path, maxTokensFile)
	}
	found, err := parseStatic(b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, info, nil
}

func parseStatic(b []byte) (callers, error) {
	found := callers{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		hash, p, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err) // never the line: it may be a token itself
		}
		if _, twice := found[hash]; twice {
			return nil, fmt.Errorf("line %d: the same token stands in an earlier line", n)
		}
		found[hash] = p
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("no token is in it")
	}
	return found, nil
}

var errLine = errors.New(`a line is "sha256:" and 64 hexadecimal digits, a space, then tenant/subject`)

func parseLine(line string) (hash [sha256.Size]byte, p broker.Principal, err error) {
	digest, who, ok := strings.Cut(line, " ")
	digest, tagged := strings.CutPrefix(digest, "sha256:")
	tenant, subject, both := strings.Cut(strings.TrimSpace(who), "/")
	if !ok || !tagged || !both || !named(tenant) || !named(subject) {
		return hash, p, errLine
	}
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != len(hash) {
		return hash, p, errLine
	}
	copy(hash[:], raw)
	return hash, broker.Principal{Kind: "static", Tenant: tenant, Subject: subject}, nil
}

// Verify implements Verifier. The lookup is by a hash of which nobody can choose
// a part, so its time tells nothing.
func (s *Static) Verify(_ context.Context, token broker.Secret) (Caller, error) {
	known, err := s.list()
	if err != nil {
		return Caller{}, fmt.Errorf("remote: static tokens: %w", err)
	}
	p, ok := known[sha256.Sum256([]byte(token.Reveal()))]
	if !ok {
		return Caller{}, invalid("no static token has this hash")
	}
	return Caller{Principal: p}, nil
}

// named reports whether s can name somebody in a line of a log: not empty, not
// long, no spaces and nothing that does not print.
func named(s string) bool {
	if s == "" || len(s) > 256 {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7f || r == 0xfffd || r >= 0x80 && r <= 0xa0 || r >= 0x2000 && r <= 0x206f {
			return false
		}
	}
	return true
}
