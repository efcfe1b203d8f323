package remote

import "testing"

func TestForeignHostsAndOrigins(t *testing.T) {
	w := newWorld(t)
	public := newWorld(t, func(s *setup) {
		u, err := Resource("https://broker.example/mcp")
		if err != nil {
			t.Fatal(err)
		}
		s.options.Resource, s.options.Public = u, true
	})
	for _, row := range []struct {
		rule   string
		w      *world
		header map[string]string
		want   int
	}{
		{"no origin", w, nil, 200},
		{"localhost", w, map[string]string{"Host": "localhost:1"}, 200},
		{"our own origin", w, map[string]string{"Host": "localhost:1", "Origin": "http://localhost:1"}, 200},
		{"a foreign origin", w, map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port of this machine", w, map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"the null origin", w, map[string]string{"Origin": "null"}, 403},
		{"a page of another site", w, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a foreign host", w, map[string]string{"Host": "evil.example"}, 403},
		{"a rebound host", w, map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
		{"a host that looks like ours", w, map[string]string{"Host": "127.0.0.1.evil.example"}, 403},
		{"the public host without a public URL", w, map[string]string{"Host": "broker.example"}, 403},

		{"the public host", public, map[string]string{"Host": "broker.example"}, 200},
		{"the public origin behind a proxy", public, map[string]string{"Origin": "https://broker.example"}, 200},
		{"the public host and a foreign origin", public, map[string]string{"Host": "broker.example", "Origin": "https://evil.example"}, 403},
		{"a foreign host there too", public, map[string]string{"Host": "evil.example"}, 403},
	} {
		t.Run(row.rule, func(t *testing.T) {
			for _, method := range []string{"GET", "POST"} {
				h := with(row.header, "Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "who")
				want := row.want
				if method == "GET" && want == 200 {
					want = 405 // allowed as far as the era
				}
				if r := row.w.do(method, "/mcp", modernCall("who", ""), h); r.status != want {
					t.Errorf("%s: %d %s, want %d", method, r.status, r.text, want)
				}
				// It is refused before anybody looks at a token.
				h["Authorization"] = "Bearer nope"
				if r := row.w.do(method, "/mcp", modernCall("who", ""), h); want == 403 && r.status != 403 {
					t.Errorf("%s without a token: %d", method, r.status)
				}
			}
		})
	}
}
