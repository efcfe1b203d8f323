package fabric_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
)

func TestSearch(t *testing.T) {
	r := newRig(t)
	rows := map[string]struct {
		q     fabric.SearchQuery
		count int // -1 = at least one
		has   map[string]any
	}{
		"connections by part of a name": {fabric.SearchQuery{Kind: "connection", Name: "aws-li"}, 1, map[string]any{"uuid": liveConn, "metro_code": "DC", "project_id": fabricsim.Project}},
		"connections by metro":          {fabric.SearchQuery{Kind: "connection", MetroCode: "dc", State: "provisioned", ProjectID: fabricsim.Project}, 1, nil},
		"networks":                      {fabric.SearchQuery{Kind: "network", Name: "ipwan"}, 1, map[string]any{"scope": "GLOBAL"}},
		"service tokens":                {fabric.SearchQuery{Kind: "service_token", Name: "token-z"}, 1, map[string]any{"uuid": "...5944", "side": "z"}},
		"routers within a project":      {fabric.SearchQuery{Kind: "cloud_router", ProjectID: fabricsim.Project, Name: "lab"}, 1, map[string]any{"package": "LAB"}},
		"ports by whole name":           {fabric.SearchQuery{Kind: "port", Name: "SIM-DC-10G-DOT1Q-1"}, 1, map[string]any{"encapsulation": "DOT1Q"}},
		"ports by part of a name":       {fabric.SearchQuery{Kind: "port", Name: "SIM-DC"}, 0, nil},
		"ports by metro":                {fabric.SearchQuery{Kind: "port", MetroCode: "DC", State: "ACTIVE"}, 3, nil},
		"all ports":                     {fabric.SearchQuery{Kind: "port"}, 6, nil},
		"profiles by metro":             {fabric.SearchQuery{Kind: "service_profile", MetroCode: "TY"}, -1, nil},
		"a profile by name":             {fabric.SearchQuery{Kind: "service_profile", Name: "AWS Direct Connect (sim)"}, 1, map[string]any{"uuid": aws}},
		"all profiles":                  {fabric.SearchQuery{Kind: "service_profile"}, -1, nil},
		"beyond the end":                {fabric.SearchQuery{Kind: "port", Offset: 500}, 0, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			p, err := r.api.Search(t.Context(), row.q)
			if err != nil {
				t.Fatal(whole(err))
			}
			if row.count >= 0 && len(p.Items) != row.count || row.count < 0 && len(p.Items) == 0 {
				t.Errorf("got %s", whole(p))
			}
			for _, it := range p.Items {
				for _, k := range []string{"uuid", "name", "type", "state", "metro_code", "project_id"} {
					if _, ok := it[k]; !ok {
						t.Errorf("%s is missing in %v", k, it)
					}
				}
			}
			for k, v := range row.has {
				if p.Items[0][k] != v {
					t.Errorf("%s is %v, want %v", k, p.Items[0][k], v)
				}
			}
		})
	}
	t.Run("profiles tell what a spec needs", func(t *testing.T) {
		p, err := r.api.Search(t.Context(), fabric.SearchQuery{Kind: "service_profile", Name: "AWS Direct Connect (sim)"})
		if err != nil {
			t.Fatal(err)
		}
		mentions(t, p, "us-east-1", "AWS Account ID", "10000", "bandwidths_mbps")
	})
	for _, kind := range []string{"port", "service_profile", "connection", "service_token"} {
		t.Run("pages of "+kind, func(t *testing.T) {
			seen, offset := map[string]bool{}, 0
			for range 20 {
				p, err := r.api.Search(t.Context(), fabric.SearchQuery{Kind: kind, Limit: 2, Offset: offset})
				if err != nil {
					t.Fatal(whole(err))
				}
				for _, it := range p.Items {
					seen[fmt.Sprint(it["uuid"])] = true
				}
				if p.NextOffset == nil {
					if len(seen) != p.Total {
						t.Errorf("saw %d of %d", len(seen), p.Total)
					}
					return
				}
				offset = *p.NextOffset
			}
			t.Error("the pages do not end")
		})
	}
}

func TestSearchRefuses(t *testing.T) {
	r := newRig(t)
	for _, row := range []struct {
		q    fabric.SearchQuery
		word string
	}{
		{fabric.SearchQuery{Kind: "cloud_router"}, "project_id"},
		{fabric.SearchQuery{Kind: "tower"}, "tower"},
		{fabric.SearchQuery{Kind: "port", Limit: 101}, "101"},
		{fabric.SearchQuery{Kind: "port", Offset: -1}, "-1"},
		{fabric.SearchQuery{Kind: "service_token", MetroCode: "DC"}, "metro_code"},
		{fabric.SearchQuery{Kind: "port", Name: strings.Repeat("x", 201)}, "200"},
	} {
		_, err := r.api.Search(t.Context(), row.q)
		got := refusal(t, err)
		if got.Code != broker.ErrInvalidArguments {
			t.Errorf("got %s", whole(got))
		}
		mentions(t, got, row.word)
	}
	if len(r.sim.History()) != 0 {
		t.Error("a refused search was sent")
	}
}

func TestGet(t *testing.T) {
	r := newRig(t)
	for kind, id := range map[string]string{"connection": liveConn, "network": netIPWAN, "cloud_router": routerDC, "port": portDC, "service_profile": aws, "service_token": tokenA} {
		got, err := r.api.Get(t.Context(), kind, id)
		if err != nil || got["name"] == "" {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
		if kind == "service_token" && (strings.Contains(whole(got), tokenA) || got["uuid"] != "...52cf" && !strings.HasPrefix(fmt.Sprint(got["uuid"]), "...")) {
			t.Errorf("the token's id is in %s", whole(got))
		}
	}
	t.Run("masks provider keys", func(t *testing.T) {
		r.sim.ClearFaults()
		r.fail("GET", "/fabric/v4/connections/*", nil, status(200, `{"name":"x","aSide":{"serviceToken":{"uuid":"`+tokenA+`","href":"https://h/`+tokenA+`"}},
			"zSide":{"accessPoint":{"authenticationKey":"9e7aea28-b0ff-5934-96cd-e00067e30a25"}},"additionalInfo":[{"key":"secretKey","value":"marker-secret-value"}],"note":"key 9e7aea28-b0ff-5934-96cd-e00067e30a25"}`), 1)
		got, err := r.api.Get(t.Context(), "connection", liveConn)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{tokenA, "9e7aea28", "marker-secret"} {
			if strings.Contains(whole(got), secret) {
				t.Errorf("%s is in %s", secret, whole(got))
			}
		}
	})
	for _, id := range []string{"", "short", "../../etc/passwd", "a/b/c/d/e/f", "12345678?x=1", strings.Repeat("a", 65), "1234567é"} {
		if _, err := r.api.Get(t.Context(), "port", id); refusal(t, err).Code != broker.ErrInvalidArguments {
			t.Errorf("%q: %v", id, err)
		}
	}
	for kind, body := range map[string]string{
		"connection":    `[{"errorCode":"EQ-3142519","errorMessage":"Connection does not exist"}]`,
		"port":          `[{"errorCode":"EQ-1","errorMessage":"Invalid PortUUID"}]`,
		"service_token": `[{"errorCode":"EQ-3034016","errorMessage":"Token not found"}]`,
	} {
		r.sim.ClearFaults()
		r.fail("GET", "", nil, status(http.StatusBadRequest, body), 1)
		if _, err := r.api.Get(t.Context(), kind, "00000000-0000-4000-8000-000000000000"); refusal(t, err).Code != broker.ErrNotFound {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := r.api.Get(t.Context(), "network", "00000000-0000-4000-8000-000000000000"); refusal(t, err).Code != broker.ErrNotFound {
		t.Errorf("got %v", err)
	}
}

func TestListMetros(t *testing.T) {
	r := newRig(t)
	got, err := r.api.ListMetros(t.Context())
	if err != nil || len(got) == 0 || got[0]["code"] == "" {
		t.Errorf("got %v, %v", got, err)
	}
}
