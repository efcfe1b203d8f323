package fabricsim

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func and(l ...string) string {
	s := ""
	for i, e := range l {
		if i > 0 {
			s += ","
		}
		s += e
	}
	return filter(`{"and":[` + s + `]}`)
}

// quote is an AND of what a connection quote names.
func quote(a, z, bandwidth string, more ...string) string {
	return and(append([]string{
		expr("/type", "=", "VIRTUAL_CONNECTION_PRODUCT"), expr("/connection/type", "=", "EVPL_VC"),
		expr("/connection/bandwidth", "IN", bandwidth), expr("/connection/aSide/accessPoint/type", "=", "COLO"),
		expr("/connection/aSide/accessPoint/location/metroCode", "=", a),
		expr("/connection/zSide/accessPoint/location/metroCode", "=", z),
	}, more...)...)
}

// lines shows term and monthly price of every row.
func (g got) lines() []string {
	l := []string{}
	for _, row := range list(g.doc, "data") {
		for _, c := range list(row, "charges") {
			l = append(l, fmt.Sprintf("%v %s %v %s", orElseAny(at(row, "termLength"), "-"), text(c, "type"), at(c, "price"), text(row, "currency")))
		}
	}
	return l
}

func TestPrices(t *testing.T) {
	r := newRig(t)
	const path = "/fabric/v4/prices/search"
	colo := expr("/connection/zSide/accessPoint/type", "=", "COLO")
	four := func(a, b, c, d string) []string {
		return []string{
			"- MONTHLY_RECURRING " + a + " USD", "12 MONTHLY_RECURRING " + b + " USD",
			"24 MONTHLY_RECURRING " + c + " USD", "36 MONTHLY_RECURRING " + d + " USD",
		}
	}
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"one metro", quote("DC", "DC", "50", colo), four("75", "67.5", "63.75", "60")},
		{"two metros", quote("DC", "SV", "50", colo), four("120", "108", "102", "96")},
		{"two regions", quote("DC", "LD", "100", colo), four("276.25", "248.62", "234.81", "221")},
		{"by term", quote("DC", "DC", "50", colo, expr("/termLength", "=", "36")), []string{"36 MONTHLY_RECURRING 60 USD"}},
		{
			"profile", quote("DC", "DC", "50", expr("/connection/zSide/accessPoint/type", "=", "SP"), expr("/connection/zSide/accessPoint/profile/uuid", "=", aws)),
			four("77.5", "69.75", "65.87", "62"),
		},
		{"bandwidth not sold", quote("DC", "DC", "75", colo), []string{}},
		{"metro not sold", quote("DC", "ZZ", "50", colo), []string{}},
		{"type without a price", and(expr("/type", "=", "VIRTUAL_CONNECTION_PRODUCT"), expr("/connection/type", "=", "MC_VC")), []string{}},
		{"product without a price", and(expr("/type", "=", "NETWORK_PRODUCT")), []string{}},
		{"by port", and(
			expr("/type", "=", "VIRTUAL_CONNECTION_PRODUCT"), expr("/connection/type", "=", "EVPL_VC"), expr("/connection/bandwidth", "IN", "50"),
			expr("/connection/aSide/accessPoint/type", "=", "COLO"), expr("/connection/aSide/accessPoint/port/uuid", "=", portDC),
			expr("/connection/zSide/accessPoint/location/metroCode", "=", "SV"), colo,
		), four("120", "108", "102", "96")},
		{"network", and(
			expr("/type", "=", "VIRTUAL_CONNECTION_PRODUCT"), expr("/connection/type", "=", "EVPLAN_VC"), expr("/connection/bandwidth", "IN", "50"),
			expr("/connection/aSide/accessPoint/type", "=", "COLO"), expr("/connection/aSide/accessPoint/location/metroCode", "=", "DC"),
			expr("/connection/zSide/accessPoint/type", "=", "NETWORK"), expr("/connection/zSide/accessPoint/network/scope", "=", "GLOBAL"),
		), four("160.75", "144.67", "136.63", "128.6")},
		{"existing", and(expr("/connection/uuid", "=", liveConn)), []string{"- MONTHLY_RECURRING 152.75 USD"}},
		{
			"router", and(expr("/type", "=", "CLOUD_ROUTER_PRODUCT"), expr("/router/location/metroCode", "=", "LD"), expr("/router/package/code", "IN", "STANDARD")),
			four("1260", "1134", "1071", "1008"),
		},
		{"existing router", and(expr("/type", "=", "CLOUD_ROUTER_PRODUCT"), expr("/router/uuid", "=", routerLab)), four("150", "135", "127.5", "120")},
		{
			"port", and(expr("/type", "=", "VIRTUAL_PORT_PRODUCT"), expr("/port/location/ibx", "=", "DA1"), expr("/port/bandwidth", "=", "1000"), expr("/port/settings/buyout", "=", "false")),
			[]string{"- MONTHLY_RECURRING 500 USD", "- NON_RECURRING 100 USD"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := r.post(path, tt.body, 200)
			if diff := cmp.Diff(tt.want, g.lines()); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
		})
	}
	for _, tt := range []struct{ name, body, property string }{
		{"no filter", `{}`, "/filter"},
		{"number", filter(`{"property":"/connection/bandwidth","operator":"=","values":[50]}`), "/connection/bandwidth"},
		{"metro", quote("Dallas", "DC", "50"), "/connection/aSide/accessPoint/location/metroCode"},
		{"property", and(expr("/colour", "=", "red")), "/colour"},
		{"operator", and(expr("/type", "IS", "x")), "/type"},
		{"empty and", filter(`{"and":[]}`), "/filter/and"},
		{"no JSON", `{`, "/filter"},
	} {
		t.Run("refuses/"+tt.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{"EQ-3038010 " + tt.property}, r.post(path, tt.body, 400).codes()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
