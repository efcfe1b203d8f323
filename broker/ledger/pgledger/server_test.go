package pgledger

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"fabricbroker/broker/ledger/pgledger/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

// shared is the server of the tests that leave it alone.
var shared struct {
	once sync.Once
	*pgtest.Server
	err error
}

// server is a PostgreSQL server, for the tests of this package.
type server struct{ *pgtest.Server }

// sharedServer returns the server that all tests share, each with its own schema.
func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.once.Do(func() { shared.Server, shared.err = pgtest.New() })
	return &server{pgtest.For(t, shared.Server, shared.err)}
}

// ownServer returns a server that the test may stop.
func ownServer(t testing.TB) *server {
	t.Helper()
	s, err := pgtest.New()
	t.Cleanup(s.Stop)
	return &server{pgtest.For(t, s, err)}
}

// exec runs SQL as the owner of the database, in a schema.
func (s *server) exec(t testing.TB, schema, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.DSN(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// value returns the one value that a query gives.
func value[T any](t testing.TB, s *server, schema, sql string, args ...any) (v T) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.DSN(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if err := c.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

var schemas atomic.Int64

// schema makes an empty schema, dropped at the end of the test.
func (s *server) schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", schemas.Add(1))
	s.exec(t, "public", "CREATE SCHEMA "+name)
	return name
}
