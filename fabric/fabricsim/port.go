package fabricsim

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// portKeys are the properties that the port service knows; it alone refuses
// others. A key ending in * holds anything.
var portKeys = strings.Fields(`
	type physicalPortsSpeed physicalPortsType physicalPortsCount connectivitySourceType bmmrType demarcationPointIbx tetherIbx
	lagEnabled serviceCode serviceType bandwidth name additionalInfo*
	project.projectId account.accountNumber location.metroCode location.region location.metroName location.metroHref location.ibx
	encapsulation.type encapsulation.tagProtocolId package.code settings.packageType settings.buyout
	redundancy.priority redundancy.group redundancy.enabled order.customerReferenceId order.purchaseOrder* order.signature*
	notifications.type notifications.registeredUsers
	physicalPorts.type physicalPorts.demarcationPoint* physicalPorts.interface* loas.uuid loas.type`)

var portTypes = []string{"1000BASE_LX", "10GBASE_LR", "100GBASE_LR4", "10GBASE_ER", "1000BASE_SX", "10GBASE_SMF", "400GBASE_LR4"}

func (s *Sim) checkPort(_ *call, body doc) issues {
	var wrong issues
	unknownKeys(&wrong, body, "")
	if len(wrong) > 0 {
		return wrong // a body that does not parse is not looked at further
	}
	add := func(code, message, details string) {
		e := plain(code, message)
		e.Details = details
		wrong.add(e)
	}
	for _, need := range []string{
		"/type", "/physicalPortsSpeed", "/physicalPortsType", "/connectivitySourceType", "/location/metroCode",
		"/project/projectId", "/account/accountNumber", "/encapsulation/type",
	} {
		if !has(body, need) {
			add("EQ-3143125", "MANDATORY_ATTRIBUTE_ERROR", strings.ReplaceAll(need[1:], "/", "."))
		}
	}
	if code := text(body, "/location/metroCode"); code != "" && metros[code].name == "" {
		add("EQ-3143113", "provided metroCode is not available for this user", "metroCode")
	}
	if n, ok := whole(body, "/physicalPortsSpeed"); has(body, "/physicalPortsSpeed") && (!ok || !slices.Contains([]int64{1000, 10000, 100000, 400000}, n)) {
		add("EQ-3143116", "INVALID_PHYSICAL_PORTS_SPEED", "physicalPortsSpeed")
	}
	if t := text(body, "/physicalPortsType"); t != "" && !slices.Contains(portTypes, t) {
		add("EQ-3143117", "INVALID_PHYSICAL_PORTS_TYPE", "physicalPortsType")
	}
	source := text(body, "/connectivitySourceType")
	if source != "" && !slices.Contains([]string{"COLO", "BMMR", "REMOTE"}, source) {
		add("EQ-3143123", "INVALID_CONNECTIVITY_SOURCE_TYPE", "ConnectivitySourceType")
	}
	if source == "COLO" && len(list(body, "/physicalPorts")) == 0 {
		add("EQ-3143108", "PHYSICAL_PORTS_MISSING", "PhysicalPorts")
	}
	if source == "BMMR" && !has(body, "/bmmrType") {
		add("EQ-3143125", "MANDATORY_ATTRIBUTE_ERROR", "bmmrType")
	}
	if v := at(body, "/account/accountNumber"); v != nil && !s.goodAccount(v) {
		add("EQ-3143124", "ACCOUNT_SERVICE_ERROR", "AccountNumber")
	}
	if text(body, "/encapsulation/type") == "UNTAGGED" {
		if truth(body, "/lagEnabled") {
			add("EQ-3143129", "UNTAGGED_LAG", "lagEnabled")
		}
		if has(body, "/encapsulation/tagProtocolId") {
			add("EQ-3143131", "UNTAGGED_TPID", "encapsulation.tagProtocolId")
		}
	}
	if len(list(body, "/notifications")) == 0 {
		add("EQ-3143103", "NOTIFICATION_CONTACT_MISSING", "notifications")
	}
	for _, n := range list(body, "/notifications") {
		if len(list(n, "/registeredUsers")) == 0 {
			add("EQ-3143101", "NOTIFICATION_CONTACT_NOT_VALID", "notifications")
		}
	}
	return wrong
}

// unknownKeys walks through objects and arrays alike.
func unknownKeys(wrong *issues, v any, path string) {
	for _, e := range elements(v) {
		d, ok := e.(doc)
		if !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(d)) {
			inner := d[key]
			name := strings.TrimPrefix(path+"."+key, ".")
			switch known, deeper := knownPort(name); {
			case !known:
				wrong.add(apiError{
					Code: "EQ-3143004", Message: "Json syntax error, please check request body", Details: "Unknown json property",
					Info: []errorInfo{{Property: name, Reason: "Unknown json property"}},
				})
			case deeper:
				unknownKeys(wrong, inner, name)
			case name == "encapsulation.type" && !slices.Contains([]any{"DOT1Q", "QINQ", "UNTAGGED"}, inner):
				wrong.add(apiError{
					Code: "EQ-3143004", Message: "Json syntax error, please check request body", Details: "Unknown json property",
					Info: []errorInfo{{Property: name, Reason: fmt.Sprintf("Unexpected value '%v'", inner)}},
				})
			}
		}
	}
}

func elements(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func knownPort(name string) (known, deeper bool) {
	for _, k := range portKeys {
		if k == name || k == name+"*" {
			return true, false
		}
		if strings.HasPrefix(k, name+".") {
			known, deeper = true, true
		}
	}
	return known, deeper
}

func (s *Sim) echoPort(_ *call, body doc) doc { return cloneDoc(body) }

// makePort: a port is a physical order. It stays PENDING, and a GET does not find
// it at first.
func (s *Sim) makePort(c *call, body doc) *asset {
	d := s.echoPort(c, body)
	set(d, "/order/orderNumber", "1-"+fmt.Sprint(200000000000+s.count))
	set(d, "/order/uuid", uuid.NewString())
	s.count++
	set(d, "/account/accountName", "sim-account")
	d["state"] = "PENDING"
	d["name"] = fmt.Sprintf("SIM-%s-%s-%d", text(d, "/location/metroCode"), text(d, "/encapsulation/type"), s.count)
	if _, ok := d["bandwidth"]; !ok {
		d["bandwidth"] = d["physicalPortsSpeed"]
	}
	return s.newAsset(c, KindPort, d)
}

// portOne answers GET /ports/{uuid}.
func (s *Sim) portOne(c *call, id string) response {
	p := s.find(KindPort, id)
	if p == nil || p.created && c.now.Before(p.restAt) {
		return c.badRequest(apiError{
			Code: "EQ-3142501", Message: "Invalid input", Details: "Invalid PortUUID", Info: []errorInfo{{Property: "portUuid", Reason: "Invalid PortUUID"}},
		})
	}
	return reply(http.StatusOK, s.view(p, c.now))
}
