package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestServesBothAndStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- run(ctx, nil, in, &stderr) }()

	lines := bufio.NewScanner(out)
	var urls []string
	for _, name := range []string{"api", "manage"} {
		if !lines.Scan() {
			t.Fatal("no line for", name)
		}
		url, ok := strings.CutPrefix(lines.Text(), name+" ")
		if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Fatalf("line %q, want %s and a loopback url", lines.Text(), name)
		}
		urls = append(urls, url)
	}
	for url, want := range map[string]int{urls[0] + "/fabric/v4/metros": 401, urls[1] + "/history": 200} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s = %d, want %d", url, resp.StatusCode, want)
		}
	}
	cancel()
	select {
	case c := <-code:
		if c != 0 {
			t.Errorf("exit code %d, stderr %q", c, stderr.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("does not stop")
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		says string
	}{
		{"unknown flag", []string{"--port", "1"}, "--port"},
		{"no address", []string{"--listen", "here"}, "host:port"},
		{"every interface", []string{"--listen", ":8080"}, "loopback"},
		{"another host", []string{"--manage", "192.0.2.1:80"}, "--insecure-listen"},
		{"argument", []string{"now"}, "now"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if c := run(t.Context(), tt.args, &stdout, &stderr); c != 2 {
				t.Errorf("exit code %d, want 2", c)
			}
			if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, tt.says) {
				t.Errorf("stderr %q, want one line with %q", s, tt.says)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout %q", stdout.String())
			}
		})
	}
}

func TestTakenAddress(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if c := run(t.Context(), []string{"--listen", "127.0.0.1:1", "--manage", "127.0.0.1:99999"}, &stdout, &stderr); c != 1 {
		t.Errorf("exit code %d, want 1: %s", c, stderr.String())
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if c := run(t.Context(), []string{"--help"}, &stdout, &stderr); c != 0 || !strings.Contains(stdout.String(), "--insecure-listen") {
		t.Errorf("exit code %d\n%s%s", c, stdout.String(), stderr.String())
	}
}
