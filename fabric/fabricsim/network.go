package fabricsim

import (
	"slices"

	"github.com/google/uuid"
)

func (s *Sim) checkNetwork(_ *call, body doc) issues {
	var wrong issues
	if !slices.Contains([]string{"EVPLAN", "EPLAN", "IPWAN", "EVPTREE", "EPTREE"}, text(body, "/type")) {
		wrong.invalid("/type", "unknown network type")
	}
	s.checkCommon(&wrong, body)
	scope, region := text(body, "/scope"), text(body, "/location/region")
	if !slices.Contains([]string{"REGIONAL", "GLOBAL", "LOCAL"}, scope) {
		wrong.invalid("/scope", "scope is REGIONAL, GLOBAL or LOCAL")
	}
	known := slices.Contains([]string{"AMER", "EMEA", "APAC"}, region)
	if scope == "REGIONAL" && !known || region != "" && !known {
		wrong.invalid("/location/region", "region is AMER, EMEA or APAC")
	}
	return wrong
}

func (s *Sim) echoNetwork(_ *call, body doc) doc {
	return only(body, "type", "name", "scope", "location", "project", "notifications")
}

// makeNetwork: state and operation.equinixStatus are different enums and move
// apart.
func (s *Sim) makeNetwork(c *call, body doc) *asset {
	d := s.echoNetwork(c, body)
	d["state"] = "INACTIVE"
	d["operation"] = doc{"equinixStatus": "PROVISIONING"}
	d["account"] = doc{"orgId": orgID, "organizationName": "sim-org", "globalCustId": "0016u000SIMSIM"}
	a := s.newAsset(c, KindNetwork, d)
	change := uuid.NewString()
	d["change"] = doc{"href": href(KindNetwork, a.uuid) + "/changes/" + change, "uuid": change, "type": "NETWORK_CREATION"}
	d["links"] = []any{networkLinks(a.uuid)}
	a.rest = doc{"/state": "ACTIVE", "/operation/equinixStatus": "PROVISIONED"}
	return a
}

func networkLinks(id string) doc {
	return doc{
		"href": href(KindNetwork, id) + "/connections", "rel": "getConnectionsByNetworkUuid", "method": "GET",
		"contentType": "application/json", "authenticate": true,
	}
}

// networkAnswer: right after a create, links is an object; later it is an array.
func networkAnswer(d doc) doc {
	d["links"] = networkLinks(text(d, "uuid"))
	return d
}

// networkConnections answers GET /networks/{uuid}/connections.
func (s *Sim) networkConnections(c *call, a *asset) response {
	rows := []any{}
	s.attached(func(conn *asset, _ string, ap doc) {
		if text(ap, "/network/uuid") == a.uuid {
			rows = append(rows, s.view(conn, c.now))
		}
	})
	return c.queryPage(rows)
}

// networkChanges answers GET /networks/{uuid}/changes.
func (s *Sim) networkChanges(c *call, a *asset) response {
	change := object(a.doc, "change")
	if change == nil {
		return c.queryPage([]any{})
	}
	row := cloneDoc(change)
	row["createdDateTime"], row["status"] = stamp(a.at), "REQUESTED"
	if a.rest == nil {
		row["status"], row["updatedDateTime"] = "COMPLETED", stamp(a.restAt)
	}
	return c.queryPage([]any{row})
}
