package fabricsim

import "net/http"

type routerPackage struct {
	code                                 string
	ipv4, ipv6, connections, bandwidthMB int
}

var routerPackages = []routerPackage{
	{"LAB", 50, 50, 10, 50},
	{"BASIC", 250, 50, 10, 1000},
	{"STANDARD", 1000, 100, 10, 10000},
	{"ADVANCED", 4000, 250, 99999, 50000},
	{"PREMIUM", 10000, 500, 99999, 50000},
}

func packageByCode(code string) (routerPackage, bool) {
	for _, p := range routerPackages {
		if p.code == code {
			return p, true
		}
	}
	return routerPackage{}, false
}

func (p routerPackage) doc() doc {
	return doc{
		"href": base + "/fabric/v4/routerPackages/" + p.code, "type": "ROUTER_PACKAGE", "code": p.code,
		"description": "Fabric Cloud Router, " + p.code, "totalIPv4RoutesMax": p.ipv4, "totalIPv6RoutesMax": p.ipv6,
		"routeFilterSupported": true, "vcCountMax": p.connections, "crCountMax": 3, "vcBandwidthMax": p.bandwidthMB,
		"changeLog": doc{"createdDateTime": "2023-02-10T00:14:47Z", "updatedDateTime": "2023-02-10T00:14:47Z"},
	}
}

func (s *Sim) packageList(c *call) response {
	rows := make([]any, len(routerPackages))
	for i, p := range routerPackages {
		rows[i] = p.doc()
	}
	return c.queryPage(rows)
}

func (s *Sim) packageOne(c *call, code string) response {
	p, ok := packageByCode(code)
	if !ok {
		return c.refuse(http.StatusNotFound, packageNotFound())
	}
	return reply(http.StatusOK, p.doc())
}

// The text is older than the packages.
func packageNotFound() apiError {
	e := plain("EQ-3040028", "Package not found")
	e.Details = "package must be of type LAB or PRO"
	return e
}
