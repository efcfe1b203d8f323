package fabricsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Ids of the built-in world that tests refer to.
const (
	portDC      = "f768064f-9585-47ad-a39e-ed24c2c063fe"
	portSV      = "5966eb44-e0c6-4744-9511-3dc30e9a8df5"
	portQinQ    = "b9c48cb0-1720-400e-8ca8-2984fcb042d9"
	portEPL     = "ace970fc-cddb-4416-a396-6023df2d5c05"
	portEPLFR   = "00633256-e25f-471d-8fe2-c4e12b5eadad"
	routerDC    = "e66c0e98-1942-4e8a-b4c6-049fa9998118"
	routerLab   = "3c19c840-d9f9-4acd-a62d-2465be71c2d9"
	netIPWAN    = "e7f137f5-a11b-4c7d-b5a6-b47b57a73cab"
	netEPLAN    = "12f034c1-43d2-4a11-a0a8-a1e2fdbc4be2"
	netEVPLAN   = "83de0b93-946a-4998-9656-7964cfbaa4dd"
	netEVPTREE  = "068c193b-f65c-4902-9f77-7337923fe54e"
	netEPTREE   = "c85ad6ff-6546-44be-b379-782e12806dcc"
	aws         = "10cc8042-2fb7-4eac-b3ba-20d253c80a75"
	azure       = "33393138-3701-403f-b745-3614dba55617"
	google      = "4223d05b-17b9-4c28-8a92-7d725879f224"
	generic     = "90bc4c10-4659-4fc8-8f9e-9d91d95996e3"
	tokenA      = "9fdcc21c-1157-4c3f-bdd4-71d22152b5cf"
	tokenZ      = "46004dbf-aad3-44b6-a1b7-5b47fb165944"
	liveConn    = "0ac770b5-48b3-48cc-a018-0b2af99ec5e0"
	connections = "/fabric/v4/connections"
)

// clock is a hand-moved clock.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)} }

func (k *clock) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.t
}

func (k *clock) move(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.t = k.t.Add(d)
}

// rig is a simulator behind a real socket.
type rig struct {
	t     *testing.T
	sim   *Sim
	url   string
	clock *clock
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return rigFor(t, &Sim{})
}

func rigFor(t *testing.T, sim *Sim) *rig {
	t.Helper()
	k := newClock()
	if sim.Now == nil {
		sim.Now = k.Now
	}
	srv := httptest.NewServer(sim)
	t.Cleanup(func() {
		sim.Close()
		srv.Close()
	})
	return &rig{t: t, sim: sim, url: srv.URL, clock: k}
}

// got is an answer that was read to its end.
type got struct {
	status int
	header http.Header
	raw    []byte
	doc    map[string]any
	list   []any
}

func (r *rig) try(method, path, body string, header ...string) (got, error) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+StaticToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return send(client, req)
}

func send(client *http.Client, req *http.Request) (got, error) {
	resp, err := client.Do(req)
	if err != nil {
		return got{}, err
	}
	defer resp.Body.Close()
	g := got{status: resp.StatusCode, header: resp.Header}
	if g.raw, err = io.ReadAll(resp.Body); err != nil {
		return g, err
	}
	dec := json.NewDecoder(bytes.NewReader(g.raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		g.doc, _ = v.(map[string]any)
		g.list, _ = v.([]any)
	}
	return g, nil
}

func (r *rig) do(method, path, body string, header ...string) got {
	r.t.Helper()
	g, err := r.try(method, path, body, header...)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return g
}

func (r *rig) post(path, body string, want int) got {
	r.t.Helper()
	g := r.do(http.MethodPost, path, body)
	if g.status != want {
		r.t.Fatalf("POST %s = %d, want %d\n%s", path, g.status, want, g.raw)
	}
	return g
}

func (r *rig) get(path string, want int) got {
	r.t.Helper()
	g := r.do(http.MethodGet, path, "")
	if g.status != want {
		r.t.Fatalf("GET %s = %d, want %d\n%s", path, g.status, want, g.raw)
	}
	return g
}

// codes lists errorCode and first property of every error.
func (g got) codes() []string {
	l := []string{}
	for _, e := range g.list {
		c := text(e, "errorCode")
		if info := list(e, "additionalInfo"); len(info) > 0 && text(info[0], "property") != "" {
			c += " " + text(info[0], "property")
		}
		l = append(l, c)
	}
	return l
}

// with returns the JSON object body with one pointer changed; nil removes it.
func with(body, pointer string, v any) string {
	d, err := parseObject([]byte(body))
	if err != nil {
		panic(err)
	}
	if v == nil {
		i := strings.LastIndex(pointer, "/")
		parent := d
		if i > 0 {
			parent = object(d, pointer[:i])
		}
		delete(parent, pointer[i+1:])
	} else {
		set(d, pointer, v)
	}
	return string(encode(d))
}

func portToAWS(vlan int) string {
	return string(encode(doc{
		"type": "EVPL_VC", "name": "dc-aws-01", "bandwidth": 50, "project": doc{"projectId": Project},
		"notifications": []any{doc{"type": "ALL", "emails": []any{"noc@example.net"}}},
		"aSide": doc{"accessPoint": doc{
			"type": "COLO", "port": doc{"uuid": portDC}, "linkProtocol": doc{"type": "DOT1Q", "vlanTag": vlan},
		}},
		"zSide": doc{"accessPoint": doc{
			"type": "SP", "profile": doc{"uuid": aws, "type": "L2_PROFILE"}, "location": doc{"metroCode": "DC"},
			"sellerRegion": "us-east-1", "authenticationKey": "012345678901",
		}},
	}))
}

// connection builds a request out of two sides.
func connection(kind string, a, z doc) string {
	return string(encode(doc{
		"type": kind, "name": "conn-01", "bandwidth": 50, "project": doc{"projectId": Project},
		"notifications": []any{doc{"type": "ALL", "emails": []any{"noc@example.net"}}}, "aSide": a, "zSide": z,
	}))
}

func colo(port string, lp doc) doc {
	ap := doc{"type": "COLO", "port": doc{"uuid": port}}
	if lp != nil {
		ap["linkProtocol"] = lp
	}
	return doc{"accessPoint": ap}
}

func dot1q(v int) doc { return doc{"type": "DOT1Q", "vlanTag": v} }

func fcr(id string) doc {
	return doc{"accessPoint": doc{"type": "CLOUD_ROUTER", "router": doc{"uuid": id}}}
}

func network(id string) doc {
	return doc{"accessPoint": doc{"type": "NETWORK", "network": doc{"uuid": id}}}
}

func profile(id string) doc {
	return doc{"accessPoint": doc{"type": "SP", "profile": doc{"uuid": id}, "location": doc{"metroCode": "DC"}}}
}

func token(id string) doc { return doc{"serviceToken": doc{"uuid": id}} }

const router = `{"type":"XF_ROUTER","name":"fcr-sv-01","location":{"metroCode":"SV"},"package":{"code":"STANDARD"},
"account":{"accountNumber":270848},"project":{"projectId":"` + Project + `"},"notifications":[{"type":"ALL","emails":["noc@example.net"]}]}`

const plainNetwork = `{"type":"EVPLAN","name":"lan-01","scope":"GLOBAL","project":{"projectId":"` + Project + `"},
"notifications":[{"type":"ALL","emails":["noc@example.net"]}]}`

const zToken = `{"type":"VC_TOKEN","name":"tok-01","expirationDateTime":"2026-12-20T00:00:00Z","project":{"projectId":"` + Project + `"},
"notifications":[{"type":"ALL","emails":["noc@example.net"]}],"connection":{"type":"EVPL_VC","supportedBandwidths":[50,200],
"zSide":{"accessPointSelectors":[{"type":"COLO","port":{"uuid":"` + portSV + `"},"linkProtocol":{"type":"DOT1Q","vlanTag":1900}}]}}}`

const newPort = `{"type":"XF_PORT","physicalPortsSpeed":10000,"physicalPortsType":"10GBASE_LR","physicalPortsCount":1,
"connectivitySourceType":"BMMR","bmmrType":"SELF","location":{"metroCode":"DC"},"demarcationPointIbx":"DC2","lagEnabled":false,
"encapsulation":{"type":"DOT1Q","tagProtocolId":33024},"account":{"accountNumber":270848},"project":{"projectId":"` + Project + `"},
"notifications":[{"type":"TECHNICAL","registeredUsers":["sim-user"]}]}`
