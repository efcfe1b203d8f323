package fabrictest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
)

// now is when specs are compiled: their dates are around it.
var now = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// facts is the directory with the published specification and its examples.
func facts(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is not set")
	}
	return filepath.Join(dir, name)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: no files: %v", pattern, err)
	}
	return all
}

var collections = map[string]broker.ChangeType{
	"/fabric/v4/connections": broker.ConnectionCreate, "/fabric/v4/networks": broker.NetworkCreate,
	"/fabric/v4/serviceTokens": broker.ServiceTokenCreate, "/fabric/v4/routers": broker.CloudRouterCreate,
}

// goldens are the requests of the compiler's golden files, by name.
func goldens(t *testing.T) map[string]broker.Request {
	t.Helper()
	out := map[string]broker.Request{}
	for _, file := range files(t, filepath.Join("..", "testdata", "compile", "*.txt")) {
		body, rest, found := bytes.Cut(read(t, file), []byte("\n\nPOST "))
		if !found {
			continue
		}
		path, _, _ := strings.Cut(string(rest), "\n")
		var doc struct{ Name string }
		if err := json.Unmarshal(body, &doc); err != nil || collections[path] == "" {
			t.Fatalf("%s: path %s: %v", file, path, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		out[name] = broker.Request{ChangeType: collections[path], Name: doc.Name, Method: http.MethodPost, Path: path, Body: body}
	}
	if len(out) == 0 {
		t.Fatal("no golden has a request")
	}
	return out
}

// answering is the client of an API that gives every request but log-ins the
// same answer.
func answering(t *testing.T, status int, body []byte) *fabric.API {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/oauth2/v1/token" {
			_, _ = w.Write([]byte(`{"access_token":"t","token_timeout":"3599","token_type":"Bearer","user_name":"u"}`))
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(srv.Close)
	api, err := fabric.New(fabric.Options{
		Endpoint: srv.URL, ClientID: "id", ClientSecret: broker.NewSecret("secret"),
		LookupTimeout: 200 * time.Millisecond, PricingTimeout: 200 * time.Millisecond, // what is retried is not waited for
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func create(ctx context.Context, api *fabric.API, r broker.Request) broker.Result {
	return api.Create(ctx, r, "proposal-1", time.Now().Add(time.Minute))
}
