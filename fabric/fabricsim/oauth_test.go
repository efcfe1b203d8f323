package fabricsim

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func login(id, secret string) string {
	return `{"grant_type":"client_credentials","client_id":"` + id + `","client_secret":"` + secret + `"}`
}

func TestLogIn(t *testing.T) {
	r := rigFor(t, &Sim{TokenLife: 90 * time.Second})
	g := r.post(tokenPath, login("me", Secret), 200)
	bearer := text(g.doc, "access_token")
	want := doc{"access_token": bearer, "token_timeout": "90", "user_name": "me", "token_type": "Bearer"}
	if diff := cmp.Diff(want, g.doc); diff != "" || bearer == "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
	if g := r.do("GET", "/fabric/v4/ports", "", "Authorization", "Bearer "+bearer); g.status != 200 {
		t.Errorf("fresh token: %d", g.status)
	}
	r.sim.Reset()
	if g := r.do("GET", "/fabric/v4/ports", "", "Authorization", "Bearer "+bearer); g.status != 200 {
		t.Errorf("after a reset: %d", g.status)
	}
	r.clock.move(90 * time.Second)
	g = r.do("GET", "/fabric/v4/ports", "", "Authorization", "Bearer "+bearer)
	if g.status != 401 || !cmp.Equal(g.codes(), []string{"EQ-3000039"}) {
		t.Errorf("expired token: %d %s", g.status, g.raw)
	}
	g = r.do("GET", "/fabric/v4/metros", "", "Authorization", "")
	if g.status != 401 || !cmp.Equal(g.codes(), []string{"EQ-3036001"}) {
		t.Errorf("no token: %d %s", g.status, g.raw)
	}
}

func TestLogInRefused(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name, body, media string
		status            int
	}{
		{"wrong secret", login("a", "guess"), "application/json", 400},
		{"form", "grant_type=client_credentials&client_id=a&client_secret=" + Secret, "application/x-www-form-urlencoded", 415},
		{"default grant", `{"client_id":"a","client_secret":"` + Secret + `"}`, "application/json", 400},
		{"no secret", `{"grant_type":"client_credentials","client_id":"a"}`, "application/json", 400},
		{"no json", `{`, "application/json", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := r.do("POST", tokenPath, tt.body, "Content-Type", tt.media)
			if g.status != tt.status {
				t.Errorf("status %d, want %d", g.status, tt.status)
			}
			for _, key := range []string{"error_domain", "error_title", "error_code", "developer_message", "error_message"} {
				if text(g.doc, key) == "" {
					t.Errorf("no %s in %s", key, g.raw)
				}
			}
		})
	}
}

func TestFiveBadLogInsLock(t *testing.T) {
	r := newRig(t)
	for range 4 {
		r.post(tokenPath, login("a", "guess"), 400)
	}
	r.post(tokenPath, login("a", Secret), 200) // starts the count again
	for range 5 {
		r.post(tokenPath, login("a", "guess"), 400)
	}
	r.post(tokenPath, login("a", Secret), 400)
	r.post(tokenPath, login("b", Secret), 200)
	r.sim.Reset()
	r.post(tokenPath, login("a", Secret), 200)
}

func TestHistory(t *testing.T) {
	r := newRig(t)
	body := "{ \"type\":\"EVPL_VC\",\n\t\"bandwidth\": 5e1, \"name\":\"caf\u00e9\" }"
	r.post(tokenPath, login("a", Secret), 200)
	r.post(tokenPath+"?x=1", login("a", "guess\\u0021"), 400)
	r.do("POST", tokenPath, "client_secret="+Secret, "Content-Type", "application/x-www-form-urlencoded")
	r.post(connections+"?dryRun=true", body, 400)
	r.get("/fabric/v4/ports?limit=2", 200)
	r.sim.Fail(Fault{Do: Action{Kind: FaultReset}})
	if _, err := r.try("POST", connections, body); err == nil {
		t.Fatal("reset answered")
	}

	type line struct {
		Seq          int
		Method, Path string
		Query, Body  string
		DryRun       bool
		Status       int
	}
	var got []line
	for _, e := range r.sim.History() {
		got = append(got, line{e.Seq, e.Method, e.Path, e.Query, string(e.Body), e.DryRun, e.Status})
		if a := e.Header.Get("Authorization"); a != redacted {
			t.Errorf("authorization in history: %s", a)
		}
	}
	want := []line{
		{1, "POST", tokenPath, "", login("a", redacted), false, 200},
		{2, "POST", tokenPath, "x=1", redacted, false, 400}, // escaped: not found in the text, so not shown
		{3, "POST", tokenPath, "", "client_secret=" + redacted, false, 415},
		{4, "POST", connections, "dryRun=true", body, true, 400},
		{5, "GET", "/fabric/v4/ports", "limit=2", "", false, 200},
		{6, "POST", connections, "", body, false, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestEnvelope(t *testing.T) {
	r := newRig(t)
	g := r.do("POST", connections, `{}`, "X-Correlation-Id", "prop-1")
	if g.header.Get("Correlationid") != "prop-1" || g.header.Get("X-Correlation-Id") != "prop-1" || text(g.list[0], "correlationId") != "prop-1" {
		t.Errorf("correlation: %v %s", g.header, g.raw)
	}
	if d := g.header.Get("Date"); d != "Mon, 30 Nov 2026 00:00:00 GMT" {
		t.Errorf("Date %q is not the simulator's clock", d)
	}
	for _, tt := range []struct {
		name, method, path, body, media string
		status                          int
		code                            string
	}{
		{"method", "PATCH", connections, `{}`, "application/json", 405, "EQ-3142569"},
		{"method on one", "DELETE", connections + "/" + liveConn, "", "", 405, "EQ-3142569"},
		{"method on search", "GET", connections + "/search", "", "", 405, "EQ-3142569"},
		{"media type", "POST", connections, `{}`, "text/plain", 415, "EQ-3040016"},
		{"media type of a search", "POST", "/fabric/v4/networks/search", `{}`, "text/plain", 415, "EQ-3040016"},
		{"foreign project", "POST", "/fabric/v4/networks", strings.ReplaceAll(plainNetwork, Project, ForeignProject), "application/json", 403, "EQ-3045003"},
		{"foreign project, dry run", "POST", connections + "?dryRun=true", strings.ReplaceAll(portToAWS(9), Project, ForeignProject), "application/json", 403, "EQ-3045003"},
		{"no JSON", "POST", connections, `{"type":`, "application/json", 400, "EQ-3000035"},
		{"no object", "POST", connections, `[]`, "application/json", 400, "EQ-3000035"},
		{"no JSON port", "POST", "/fabric/v4/ports", `{]`, "application/json", 400, "EQ-3143004"},
		{"dryRun=maybe", "POST", connections + "?dryRun=maybe", portToAWS(9), "application/json", 400, "EQ-3142501 queryParam:dryRun"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := r.do(tt.method, tt.path, tt.body, "Content-Type", tt.media)
			if g.status != tt.status || !cmp.Equal(g.codes()[:1], []string{tt.code}) && text(g.list[0], "errorCode") != tt.code {
				t.Errorf("%d %s, want %d %s", g.status, g.raw, tt.status, tt.code)
			}
		})
	}
	if g := r.get("/fabric/v9/x", 404); g.doc == nil {
		t.Errorf("unknown path: %s", g.raw)
	}
	if g := r.do(http.MethodPost, "/fabric/v4/gateways", "{}"); g.status != 404 {
		t.Errorf("unknown collection: %d", g.status)
	}
}
