package pgledger

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// proxy stands between a ledger and its server and can lose what passes.
type proxy struct {
	addr, to string
	mu       sync.Mutex
	conns    map[net.Conn]bool
	// commit says what happens to the next COMMIT: "" it passes, "answer" its
	// answer is lost with the connection, "request" it never arrives.
	commit string
	lost   int
	trips  int  // how often a client waited for an answer
	mute   bool // nothing passes, and nothing is closed
}

func newProxy(t testing.TB, s *server) *proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(s.DSN("x"))
	p := &proxy{addr: l.Addr().String(), to: u.Host, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) dsn(s *server, schema string) string {
	u, _ := url.Parse(s.DSN(schema))
	u.Host = p.addr
	return u.String()
}

func (p *proxy) lose(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commit, p.lost = what, 0
}

func (p *proxy) losses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

func (p *proxy) silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = on
}

func (p *proxy) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	// dropped is closed when the answers of this connection are to be lost.
	dropped := make(chan struct{})
	go func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			select {
			case <-dropped: // the COMMIT is done: now the connection goes
				return
			default:
			}
			if err != nil {
				return
			}
			if p.silent() {
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	if _, err := forwardStartup(client, server); err != nil {
		return
	}
	prepared := map[string]string{}
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if p.silent() {
			continue
		}
		if head[0] == 'Q' || head[0] == 'S' { // Query or Sync
			p.mu.Lock()
			p.trips++
			p.mu.Unlock()
		}
		if isCommit(head[0], body, prepared) {
			p.mu.Lock()
			lose := p.commit
			if p.commit = ""; lose != "" {
				p.lost++
			}
			p.mu.Unlock()
			if lose == "request" {
				return
			}
			if lose == "answer" {
				close(dropped)
			}
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// isCommit reports whether a message has the server commit, by itself or by what
// was prepared under a name.
func isCommit(kind byte, body []byte, prepared map[string]string) bool {
	text := strings.Split(string(body), "\x00")
	switch kind {
	case 'P': // Parse: name, statement
		prepared[text[0]] = text[1]
	case 'B': // Bind: portal, name
		return strings.EqualFold(prepared[text[1]], "commit")
	case 'Q':
		return strings.EqualFold(text[0], "commit")
	}
	return false
}

// forwardStartup passes the first message, which has no type.
func forwardStartup(client, server net.Conn) (int, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(client, head); err != nil {
		return 0, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(client, body); err != nil {
		return 0, err
	}
	return server.Write(append(head, body...))
}
