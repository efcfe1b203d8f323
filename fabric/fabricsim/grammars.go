package fabricsim

import (
	"slices"
	"strings"
)

var (
	comparisons = []string{"=", "!=", ">", ">=", "<", "<=", "LIKE", "IN", "BETWEEN"}
	negations   = []string{"NOT BETWEEN", "NOT LIKE", "NOT IN"}
)

var grammars = map[string]grammar{
	"connections": {
		kind: KindConnection, sort: "/changeLog/updatedDateTime", malformed: badBody,
		operators: slices.Concat(comparisons, []string{"ILKE", "IS NULL", "IS NOT NULL"}),
		// /direction, /changeLog/updatedDateTime and the S- and C-tags are not
		// among them, though the specification's examples use them.
		properties: slices.Concat(strings.Fields(`
			/isRemote /name /uuid /type /geoScope /account/orgId /bandwidth /change/status /state
			/changeLog/createdBy /changeLog/createdDateTime /changeLog/deletedBy /changeLog/deletedDateTime /changeLog/lastUpdatedBy
			/operation/equinixStatus /operation/providerStatus /project/projectId /redundancy/group /redundancy/priority
			/aSide/accessPoint/account/accountNumber /aSide/accessPoint/router/uuid
			/zSide/accessPoint/authenticationKey /zSide/accessPoint/sellerRegion /zSide/accessPoint/network/uuid
			/zSide/accessPoint/profile/uuid /zSide/accessPoint/role /zSide/internetAccess/uuid`), bothSides(`
			/accessPoint/account/accountName /accessPoint/linkProtocol/vlanTagMin /accessPoint/linkProtocol/vlanTagMax
			/accessPoint/location/metroCode /accessPoint/location/metroName /accessPoint/name /accessPoint/port/uuid
			/accessPoint/port/name /accessPoint/type /accessPoint/virtualDevice/name /accessPoint/virtualDevice/uuid
			/serviceToken/uuid`)),
		sortable: slices.Concat(strings.Fields(`
			/name /direction /bandwidth /geoScope /uuid /changeLog/createdDateTime /changeLog/updatedDateTime
			/operation/equinixStatus /operation/providerStatus /redundancy/priority
			/zSide/accessPoint/role /zSide/accessPoint/authenticationKey`), bothSides(`
			/accessPoint/name /accessPoint/type /accessPoint/account/accountName /accessPoint/location/metroName
			/accessPoint/location/metroCode /accessPoint/linkProtocol/vlanCTag /accessPoint/linkProtocol/vlanSTag`)),
	},
	"ports": {
		kind: KindPort, sort: "/device/name", required: true, limit: pageMaxPorts, operators: []string{"="},
		properties: strings.Fields(`
			/device/name /physicalPorts/tether/crossConnectId /physicalPorts/interface/name /state /project/projectId /uuid /name
			/account/orgId /account/accountNumber /location/metroCode`),
		sortable: strings.Fields(`
			/device/name /name /state /location/metroName /demarcationPointIbx /device/redundancy/priority /lagEnabled
			/physicalPortsSpeed /encapsulation/type /physicalPorts/tether/crossConnectId /package/code
			/changeLog/updatedDateTime /changeLog/createdDateTime /bandwidth /serviceCode`),
		malformed: portSearchError,
	},
	"serviceProfiles": {
		kind: KindServiceProfile, sort: "/changeLog/updatedDateTime", operators: []string{"="},
		properties: strings.Fields("/name /uuid /state /metros/code /visibility /type /project/projectId /ports/uuid"),
		sortable:   strings.Fields("/name /state /changeLog/createdDateTime /changeLog/updatedDateTime"),
		malformed:  profileSearchError,
		shape: func(f doc) string {
			if has(f, "or") || slices.ContainsFunc(list(f, "and"), func(e any) bool { return !has(e, "property") }) {
				return "Supported filter is one expression or a list of them under and"
			}
			return ""
		},
	},
	"networks": {
		kind: KindNetwork, sort: "/changeLog/updatedDateTime", malformed: badBody,
		operators: slices.Concat(comparisons, negations, []string{"ILIKE", "NOT ILIKE"}),
		properties: strings.Fields(`
			/name /uuid /scope /type /state /operation/equinixStatus /location/region /location/metroCode /connectionsCount
			/project/projectId /account/globalCustId /account/orgId /changeLog/createdDateTime /changeLog/updatedDateTime
			/changeLog/deletedDateTime /*`),
		sortable: strings.Fields(`
			/name /uuid /scope /operation/equinixStatus /location/region /changeLog/createdDateTime /changeLog/updatedDateTime`),
	},
	"serviceTokens": {
		kind: KindServiceToken, sort: "/changeLog/updatedDateTime", malformed: badBody,
		operators: slices.Concat(comparisons, []string{"ILIKE", "NOT IN", "NOT BETWEEN"}),
		properties: strings.Fields(`
			/uuid /state /name /project/projectId /type /expirationDateTime /changeLog/createdDateTime /changeLog/updatedDateTime
			/connection/aSide/accessPointSelectors/port/uuid /connection/zSide/accessPointSelectors/port/uuid`),
	},
	"routers": {
		kind: KindCloudRouter, sort: "/changeLog/updatedDateTime", required: true, malformed: badBody, shape: routerShape,
		operators: slices.Concat(comparisons, negations, []string{"ILIKE"}),
		properties: strings.Fields(`
			/project/projectId /name /uuid /state /location/metroCode /location/metroName /package/code /type /connectionsCount
			/changeLog/createdDateTime /changeLog/updatedDateTime /changeLog/deletedDateTime /*`),
		sortable: strings.Fields(`
			/name /uuid /state /location/metroCode /location/metroName /package/code /type /connectionsCount
			/changeLog/createdDateTime /changeLog/updatedDateTime /changeLog/deletedDateTime /order/termLength`),
	},
}

func bothSides(fields string) []string {
	var l []string
	for _, f := range strings.Fields(fields) {
		l = append(l, "/aSide"+f, "/zSide"+f)
	}
	return l
}

// routerShape: up to eight under and, each simple or up to three under or, and
// the project always.
func routerShape(f doc) string {
	l := list(f, "and")
	if len(l) == 0 || len(l) > 8 {
		return "Filter is a list of up to 8 expressions under and"
	}
	project := false
	for _, e := range l {
		or := list(e, "/or")
		if has(e, "/and") || len(or) > 3 || slices.ContainsFunc(or, func(e any) bool { return !has(e, "property") }) {
			return "An expression is simple, or up to 3 simple ones under or"
		}
		project = project || text(e, "/property") == "/project/projectId"
	}
	if !project {
		return "/project/projectId is mandatory"
	}
	return ""
}

func portSearchError(place, value string) apiError {
	if strings.HasPrefix(place, "pagination") || strings.HasSuffix(place, "values") {
		e := plain("EQ-3046112", "Invalid argument value.")
		e.Details = "Please refer the contracts for correct fields"
		return e
	}
	e := plain("EQ-3046116", "JSON syntax error.")
	e.Details = "Unknown json property"
	e.Info = []errorInfo{{Property: place, Reason: reason(value)}}
	return e
}

func profileSearchError(place, _ string) apiError {
	e := plain("EQ-3001202", "Unsupported search property")
	switch {
	case strings.HasPrefix(place, "pagination"):
		return plain("EQ-3001022", "INVALID_VALUE")
	case strings.HasSuffix(place, "operator"):
		e.Details = "Supported search operator is : ="
	default:
		e.Details = "Supported search properties are : /name,/uuid,/state,/metros/code,/visibility,/type"
	}
	return e
}
