package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxDepth is below what the SDK's decoder takes, maxLine below its bound.
	maxDepth = 500
	maxLine  = 8 << 20
)

// stdio is the transport over in and out. A line that the SDK cannot decode
// would end its session, and with it every proposal: an agent could do that with
// one deeply nested spec. Such a line is answered with an error instead.
func stdio(in io.Reader, out io.Writer) mcp.Transport {
	r, w := io.Pipe()
	answers := &lockedWriter{w: out}
	go func() { _ = w.CloseWithError(sift(in, w, answers)) }()
	return &mcp.IOTransport{Reader: r, Writer: answers, MaxLineLength: 2 * maxLine}
}

// sift passes on the lines that are messages. It returns nil at the end of in.
func sift(in io.Reader, to, answers io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := readLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			if why := notMessage(line, long); why != "" {
				if werr := answerBad(answers, line, why); werr != nil {
					return werr
				}
			} else if _, werr := to.Write(append(line, '\n')); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line, of one that is too long nothing.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

func notMessage(line []byte, long bool) string {
	switch {
	case long:
		return fmt.Sprintf("a message of more than %d bytes", maxLine)
	case depth(line) > maxDepth:
		return fmt.Sprintf("a message nested deeper than %d levels", maxDepth)
	case !json.Valid(line):
		return "a line that is not JSON"
	case line[0] != '{' && (line[0] != '[' || len(bytes.TrimSpace(line[1:len(line)-1])) == 0):
		return "a line that is no JSON-RPC message"
	}
	return ""
}

// depth is how deep line is nested, brackets in strings aside.
func depth(line []byte) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// answerBad answers a line that is not passed on, with its id where it has one.
func answerBad(w io.Writer, line []byte, why string) error {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	code := int64(jsonrpc.CodeParseError)
	if json.Unmarshal(line, &m) == nil {
		code = jsonrpc.CodeInvalidRequest
	}
	if len(m.ID) == 0 || m.ID[0] == '{' || m.ID[0] == '[' {
		m.ID = json.RawMessage("null")
	}
	_, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", m.ID, code, why+" was not taken; the session goes on")
	return err
}

// lockedWriter keeps answers of different writers apart.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Close implements io.Closer. The process's stdout stays open, as it does with
// the SDK's own transport.
func (l *lockedWriter) Close() error { return nil }
