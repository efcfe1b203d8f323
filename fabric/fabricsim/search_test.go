package fabricsim

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func filter(f string) string { return `{"filter":` + f + `}` }

func expr(property, operator string, values ...string) string {
	v := []any{}
	for _, s := range values {
		v = append(v, s)
	}
	return string(encode(doc{"property": property, "operator": operator, "values": v}))
}

func (g got) names() []string {
	l := []string{}
	for _, row := range list(g.doc, "data") {
		l = append(l, text(row, "name"))
	}
	return l
}

func TestSearch(t *testing.T) {
	r := newRig(t)
	for i, name := range []string{"x-1", "x-2", "X-3"} {
		r.clock.move(time.Hour)
		r.post(connections, with(with(portToAWS(100+i), "/name", name), "/bandwidth", 50<<i), 201)
	}
	mine := expr("/project/projectId", "=", Project)
	for _, tt := range []struct {
		name, path, body string
		want             []string
	}{
		{"all, newest first", "connections", `{}`, []string{"X-3", "x-2", "x-1", "sim-dc-aws-live"}},
		{"like is case-sensitive", "connections", filter(expr("/name", "LIKE", "x-")), []string{"x-2", "x-1"}},
		{"ILKE is not", "connections", filter(expr("/name", "ILKE", "x-%")), []string{"X-3", "x-2", "x-1"}},
		{"several values", "connections", filter(expr("/name", "=", "x-1", "x-2")), []string{"x-2", "x-1"}},
		{"since", "connections", filter(expr("/changeLog/createdDateTime", ">=", "2026-11-30T02:00:00Z")), []string{"X-3", "x-2"}},
		{"between numbers", "connections", filter(expr("/bandwidth", "BETWEEN", "60", "199")), []string{"x-2"}},
		{"in", "connections", filter(expr("/bandwidth", "IN", "50", "200")), []string{"X-3", "x-1", "sim-dc-aws-live"}},
		{"null", "connections", filter(expr("/geoScope", "IS NOT NULL")), []string{}},
		{"nested", "connections", filter(`{"or":[{"and":[` + mine + `,` + expr("/bandwidth", ">", "150") + `]},` + expr("/name", "=", "x-1") + `]}`), []string{"X-3", "x-1", "sim-dc-aws-live"}},
		{"sorted", "connections", `{"sort":[{"property":"/bandwidth","direction":"ASC"},{"property":"/name"}]}`, []string{"x-1", "x-2", "sim-dc-aws-live", "X-3"}},
		{"page", "connections", `{"pagination":{"offset":1,"limit":2}}`, []string{"x-2", "x-1"}},
		{"ports", "ports", filter(`{"and":[` + mine + `,` + expr("/location/metroCode", "=", "LD", "FR") + `]}`), []string{"SIM-LD-10G-QINQ-1", "SIM-FR-10G-EPL-1"}},
		{"profiles by metro", "serviceProfiles", filter(`{"and":[` + expr("/metros/code", "=", "NY") + `,` + expr("/name", "=", "Meadow Hosting (sim)") + `]}`), []string{"Meadow Hosting (sim)"}},
		{"networks not in", "networks", filter(expr("/type", "NOT IN", "IPWAN", "EPLAN", "EVPLAN")), []string{"sim-eptree", "sim-evptree"}},
		{"networks anywhere", "networks", filter(expr("/*", "LIKE", "REGIONAL")), []string{}},
		{"networks everywhere", "networks", filter(expr("/*", "ILIKE", "AMER")), []string{"sim-evplan"}},
		{"tokens by port", "serviceTokens", filter(expr("/connection/zSide/accessPointSelectors/port/uuid", "=", portSV)), []string{"sim-token-z"}},
		{"routers", "routers", filter(`{"and":[` + mine + `,{"or":[` + expr("/name", "LIKE", "%lab") + `,` + expr("/package/code", "=", "PREMIUM") + `]}]}`), []string{"sim-fcr-lab"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := r.post("/fabric/v4/"+tt.path+"/search", tt.body, 200)
			if diff := cmp.Diff(tt.want, g.names()); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchRefused(t *testing.T) {
	mine := expr("/project/projectId", "=", Project)
	for _, tt := range []struct {
		name, path, body, code string
	}{
		{"connections: direction", "connections", filter(expr("/direction", "=", "OUTGOING")), "EQ-3000035 filter.property"},
		{"connections: updated", "connections", filter(expr("/changeLog/updatedDateTime", ">", "2026-01-01T00:00:00Z")), "EQ-3000035 filter.property"},
		{"connections: ILIKE", "connections", filter(expr("/name", "ILIKE", "x")), "EQ-3000035 filter.operator"},
		{"connections: no values", "connections", filter(expr("/name", "=")), "EQ-3000035 filter.values"},
		{"connections: one bound", "connections", filter(expr("/bandwidth", "BETWEEN", "1")), "EQ-3000035 filter.values"},
		{"connections: limit", "connections", `{"pagination":{"limit":101}}`, "EQ-3000035 pagination.limit"},
		{"connections: offset", "connections", `{"pagination":{"offset":-1}}`, "EQ-3000035 pagination.offset"},
		{"connections: sort", "connections", `{"sort":[{"property":"/state"}]}`, "EQ-3000035 sort.[0].property"},
		{"direction of a sort", "networks", `{"sort":[{"property":"/name","direction":"UP"}]}`, "EQ-3043015"},
		{"ports: no filter", "ports", `{}`, "EQ-3046116 filter"},
		{"ports: LIKE", "ports", filter(`{"or":[{"and":[` + mine + `,` + expr("/name", "LIKE", "x") + `]}]}`), "EQ-3046116 filter.or.[0].and.[1].operator"},
		{"ports: limit", "ports", `{"filter":` + mine + `,"pagination":{"limit":1001}}`, "EQ-3046112 pagination.limit"},
		{"profiles: property", "serviceProfiles", filter(expr("/account/orgId", "=", "1")), "EQ-3001202"},
		{"profiles: operator", "serviceProfiles", filter(expr("/name", "LIKE", "x")), "EQ-3001202"},
		{"profiles: or", "serviceProfiles", filter(`{"or":[` + expr("/name", "=", "x") + `]}`), "EQ-3001202"},
		{"profiles: limit", "serviceProfiles", `{"pagination":{"limit":0}}`, "EQ-3001022 pagination.limit"},
		{"tokens: property", "serviceTokens", filter(expr("/description", "=", "x")), "EQ-3000035 filter.property"},
		{"tokens: limit in the query", "serviceTokens", "?limit=0", "EQ-3000035 pagination.limit"},
		{"tokens: no sort", "serviceTokens", `{"sort":[{"property":"/name"}]}`, "EQ-3000035 sort.[0].property"},
		{"routers: no project", "routers", filter(`{"and":[` + expr("/name", "=", "x") + `]}`), "EQ-3000035 filter"},
		{"routers: no filter", "routers", `{}`, "EQ-3000035 filter"},
		{"routers: one expression", "routers", filter(mine), "EQ-3000035 filter"},
		{"routers: nested and", "routers", filter(`{"and":[` + mine + `,{"and":[` + mine + `]}]}`), "EQ-3000035 filter"},
		{"routers: four under or", "routers", filter(`{"and":[` + mine + `,{"or":[` + mine + `,` + mine + `,` + mine + `,` + mine + `]}]}`), "EQ-3000035 filter"},
		{"no JSON", "networks", `{`, "EQ-3000035"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			path, body := "/fabric/v4/"+tt.path+"/search", tt.body
			if body[0] == '?' {
				path, body = path+body, `{}`
			}
			if diff := cmp.Diff([]string{tt.code}, r.post(path, body, 400).codes()); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaging(t *testing.T) {
	r := newRig(t)
	for i := range 45 {
		r.post("/fabric/v4/networks", with(plainNetwork, "/name", fmt.Sprintf("n-%02d", i)), 201)
	}
	const path = "/fabric/v4/networks/search"
	g := r.post(path, filter(expr("/name", "LIKE", "n-")), 200)
	want := doc{"offset": at(g.doc, "pagination/offset"), "limit": at(g.doc, "pagination/limit"), "total": at(g.doc, "pagination/total"), "next": path + "?offset=20&limit=20"}
	if diff := cmp.Diff(want, g.doc["pagination"]); diff != "" || len(g.names()) != 20 || fmt.Sprint(want["total"]) != "45" {
		t.Errorf("first page %v", g.doc["pagination"])
	}
	g = r.post(path, `{"filter":`+expr("/name", "LIKE", "n-")+`,"pagination":{"offset":40,"limit":20}}`, 200)
	if len(g.names()) != 5 || has(g.doc, "pagination/next") || text(g.doc, "pagination/previous") != path+"?offset=20&limit=20" {
		t.Errorf("last page %v", g.doc["pagination"])
	}
	if g = r.post(path, `{"pagination":{"offset":500}}`, 200); len(g.names()) != 0 {
		t.Errorf("beyond the end %v", g.names())
	}
}

func TestReads(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		path   string
		status int
		code   string
	}{
		{"connections/" + liveConn, 200, ""},
		{"ports/" + portDC, 200, ""},
		{"networks/" + netIPWAN, 200, ""},
		{"networks/" + netIPWAN + "/connections", 200, ""},
		{"networks/" + netIPWAN + "/changes", 200, ""},
		{"routers/" + routerDC, 200, ""},
		{"serviceProfiles/" + aws, 200, ""},
		{"serviceProfiles/" + aws + "/metros", 200, ""},
		{"serviceProfiles", 200, ""},
		{"serviceTokens/" + tokenA, 200, ""},
		{"serviceTokens", 200, ""},
		{"routerPackages", 200, ""},
		{"routerPackages/LAB", 200, ""},
		{"metros", 200, ""},
		{"metros?presence=MY_PORTS", 200, ""},
		{"metros/DC", 200, ""},
		{"connections/" + aws, 400, "EQ-3142519"},
		{"ports/" + aws, 400, "EQ-3142501 portUuid"},
		{"networks/" + aws, 404, "EQ-3045811"},
		{"routers/" + aws, 404, "EQ-3045811"},
		{"serviceProfiles/" + portDC, 404, "EQ-3001011"},
		{"serviceTokens/" + aws, 400, "EQ-3034016 tokenUuid"},
		{"routerPackages/PRO", 404, "EQ-3040028"},
		{"metros/XX", 400, "EQ-3036013 pathparameter-metroCode"},
		{"metros?presence=YOURS", 400, "EQ-3036013 queryparameter-presence"},
		{"metros?limit=0", 400, "EQ-3000035 pagination.limit"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			g := r.do("GET", "/fabric/v4/"+tt.path, "")
			var want []string
			if tt.code != "" {
				want = []string{tt.code}
			}
			if g.status != tt.status || !cmp.Equal(want, append([]string(nil), g.codes()...)) {
				t.Errorf("%d %s", g.status, g.raw)
			}
		})
	}
	if n := r.get("/fabric/v4/ports?name=SIM-DC-10G-EPL-1", 200).names(); len(n) != 1 {
		t.Errorf("ports by name: %v", n)
	}
}

// A new port is not found at once.
func TestNewPortCannotBeReadAtFirst(t *testing.T) {
	r := newRig(t)
	id := text(r.post("/fabric/v4/ports", newPort, 202).doc, "uuid")
	r.get("/fabric/v4/ports/"+id, 400)
	r.clock.move(4 * time.Second)
	r.get("/fabric/v4/ports/"+id, 200)
}
