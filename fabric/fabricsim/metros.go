package fabricsim

import (
	"net/http"
	"slices"
	"strings"
)

type metro struct {
	name, region, country string
	latitude, longitude   float64
	asn                   int
}

var metros = map[string]metro{
	"DC": {"Washington", "AMER", "USA", 38.9, -77.0, 14609},
	"NY": {"New York", "AMER", "USA", 40.7, -74.0, 9989},
	"SV": {"Silicon Valley", "AMER", "USA", 37.3, -121.9, 10310},
	"CH": {"Chicago", "AMER", "USA", 41.9, -87.6, 9990},
	"DA": {"Dallas", "AMER", "USA", 32.8, -96.8, 9991},
	"SE": {"Seattle", "AMER", "USA", 47.6, -122.3, 9992},
	"AT": {"Atlanta", "AMER", "USA", 33.7, -84.4, 9993},
	"TR": {"Toronto", "AMER", "CAN", 43.7, -79.4, 9994},
	"LD": {"London", "EMEA", "GBR", 51.5, -0.1, 15830},
	"FR": {"Frankfurt", "EMEA", "DEU", 50.1, 8.7, 15837},
	"AM": {"Amsterdam", "EMEA", "NLD", 52.3, 4.9, 15838},
	"PA": {"Paris", "EMEA", "FRA", 48.9, 2.4, 15839},
	"GV": {"Geneva", "EMEA", "CHE", 46.2, 6.1, 15840},
	"SG": {"Singapore", "APAC", "SGP", 1.3, 103.8, 17819},
	"TY": {"Tokyo", "APAC", "JPN", 35.7, 139.7, 17820},
	"SY": {"Sydney", "APAC", "AUS", -33.9, 151.2, 17821},
	"HK": {"Hong Kong", "APAC", "HKG", 22.3, 114.2, 17822},
}

var metroCodes = func() []string {
	var codes []string
	for code := range metros {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}()

// latency is invented but symmetric, and larger between regions.
func latency(a, b string) float64 {
	d := float64(int(a[0]) + int(a[1]) - int(b[0]) - int(b[1]))
	if d < 0 {
		d = -d
	}
	if metros[a].region == metros[b].region {
		return 3.5 + d
	}
	return 70.25 + 2*d
}

func metroDoc(code string) doc {
	m := metros[code]
	connected := []any{}
	for _, other := range metroCodes {
		if other != code {
			connected = append(connected, doc{
				"href": metroHref(other), "code": other, "avgLatency": latency(code, other), "remoteVCBandwidthMax": 10000,
			})
		}
	}
	return doc{
		"href": metroHref(code), "type": "XF_METRO", "code": code, "region": m.region, "name": m.name, "country": m.country,
		"equinixAsn": m.asn, "localVCBandwidthMax": 50000,
		"geoCoordinates":  doc{"latitude": m.latitude, "longitude": m.longitude},
		"connectedMetros": connected,
		"services":        []any{doc{"type": "ETHERNET_IP_SERVICE"}},
	}
}

// metroList answers GET /metros.
func (s *Sim) metroList(c *call) response {
	if p := c.r.URL.Query().Get("presence"); p != "" && p != "MY_PORTS" {
		return c.badRequest(apiError{
			Code: "EQ-3036013", Message: "Invalid Query Parameter",
			Info: []errorInfo{{Property: "queryparameter-presence", Reason: "Provide valid presence"}},
		})
	}
	mine := map[string]bool{}
	for _, a := range s.assets {
		if a.kind == KindPort {
			mine[text(a.doc, "/location/metroCode")] = true
		}
	}
	rows := []any{}
	for _, code := range metroCodes {
		if c.r.URL.Query().Get("presence") == "" || mine[code] {
			rows = append(rows, metroDoc(code))
		}
	}
	return c.queryPage(rows)
}

// metroByCode answers GET /metros/{code}.
func (s *Sim) metroByCode(c *call, code string) response {
	if _, ok := metros[strings.ToUpper(code)]; !ok {
		return c.badRequest(apiError{
			Code: "EQ-3036013", Message: "Invalid Path Parameter",
			Info: []errorInfo{{Property: "pathparameter-metroCode", Reason: "Provide valid metro code"}},
		})
	}
	return reply(http.StatusOK, metroDoc(strings.ToUpper(code)))
}
