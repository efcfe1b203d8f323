package fabricsim

import (
	"net/http"
	"strings"
)

// route finds who answers; the caller holds the lock.
func (s *Sim) route(c *call) response {
	path := c.r.URL.Path
	if path == tokenPath {
		return s.logIn(c)
	}
	rest, ok := strings.CutPrefix(path, "/fabric/v4/")
	if !ok {
		return c.noPath()
	}
	parts := strings.Split(rest, "/")
	if !s.authorized(c) {
		if parts[0] == "metros" {
			return c.unauthorized("EQ-3036001", "Unauthorized")
		}
		return c.unauthorized("EQ-3000039", "User not found in request or invalid.")
	}
	switch {
	case len(parts) == 1:
		return s.collection(c, parts[0])
	case len(parts) == 2 && parts[1] == "search":
		return s.searchIn(c, parts[0])
	case len(parts) == 2:
		return s.one(c, parts[0], parts[1])
	case len(parts) == 3:
		return s.partOf(c, parts[0], parts[1], parts[2])
	}
	return c.noPath()
}

func (s *Sim) collection(c *call, name string) response {
	o, creates := orders[name]
	isGet := c.r.Method == http.MethodGet
	switch name {
	case "metros":
		return c.get(func() response { return s.metroList(c) })
	case "routerPackages":
		return c.get(func() response { return s.packageList(c) })
	case "serviceProfiles":
		return c.get(func() response { return s.listAll(c, KindServiceProfile) })
	case "serviceTokens":
		if isGet {
			return s.listAll(c, KindServiceToken)
		}
	case "ports":
		if isGet {
			return s.portList(c)
		}
	}
	if !creates {
		return c.noPath()
	}
	if c.r.Method != http.MethodPost {
		return c.wrongMethod()
	}
	return s.create(c, o)
}

func (s *Sim) searchIn(c *call, name string) response {
	g, ok := grammars[name]
	if name != "prices" && !ok {
		return c.noPath()
	}
	switch {
	case c.r.Method != http.MethodPost:
		return c.wrongMethod()
	case !c.isJSON():
		return c.wrongMedia()
	case name == "prices":
		return s.prices(c)
	}
	return s.search(c, g)
}

// one answers GET of a single thing. How it says "not found" differs per kind.
func (s *Sim) one(c *call, name, id string) response {
	switch name {
	case "metros":
		return c.get(func() response { return s.metroByCode(c, id) })
	case "routerPackages":
		return c.get(func() response { return s.packageOne(c, id) })
	case "ports":
		return c.get(func() response { return s.portOne(c, id) })
	case "connections":
		return s.show(c, KindConnection, id, func() response {
			return c.badRequest(plain("EQ-3142519", "Connection does not exist or do not belong to user,Please check connection Id"))
		})
	case "serviceTokens":
		return s.show(c, KindServiceToken, id, func() response {
			return c.badRequest(on("EQ-3034016", "Token not found", "tokenUuid"))
		})
	case "serviceProfiles":
		return s.show(c, KindServiceProfile, id, func() response {
			return c.refuse(http.StatusNotFound, plain("EQ-3001011", "Invalid uuid"))
		})
	case "networks":
		return s.show(c, KindNetwork, id, c.noUUID)
	case "routers":
		return s.show(c, KindCloudRouter, id, c.noUUID)
	}
	return c.noPath()
}

func (s *Sim) show(c *call, kind, id string, missing func() response) response {
	return c.get(func() response {
		if a := s.find(kind, id); a != nil {
			return reply(http.StatusOK, s.view(a, c.now))
		}
		return missing()
	})
}

func (s *Sim) partOf(c *call, name, id, part string) response {
	switch name + "/" + part {
	case "ports/linkProtocols":
		return c.get(func() response { return s.linkProtocols(c, id) })
	case "networks/connections", "networks/changes", "serviceProfiles/metros":
		return c.get(func() response {
			if a := s.find(KindServiceProfile, id); a != nil && name == "serviceProfiles" {
				return c.queryPage(list(s.view(a, c.now), "/metros"))
			}
			a := s.find(KindNetwork, id)
			switch {
			case a == nil || name == "serviceProfiles":
				return c.noUUID()
			case part == "changes":
				return s.networkChanges(c, a)
			}
			return s.networkConnections(c, a)
		})
	}
	return c.noPath()
}

// get refuses every other method.
func (c *call) get(answer func() response) response {
	if c.r.Method != http.MethodGet {
		return c.wrongMethod()
	}
	return answer()
}

func (s *Sim) listAll(c *call, kind string) response {
	rows := []any{}
	for _, a := range s.assets {
		if a.kind == kind && s.indexed(c, a) {
			rows = append(rows, s.view(a, c.now))
		}
	}
	return c.queryPage(rows)
}

// portList answers GET /ports, the only list with a filter in its query.
func (s *Sim) portList(c *call) response {
	name := c.r.URL.Query().Get("name")
	rows := []any{}
	for _, a := range s.assets {
		if a.kind == KindPort && s.indexed(c, a) && (name == "" || text(a.doc, "/name") == name) {
			rows = append(rows, s.view(a, c.now))
		}
	}
	return c.queryPage(rows)
}
