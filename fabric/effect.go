package fabric

import (
	"slices"
	"strings"

	"fabricbroker/broker"
)

// effect says which fields of an asset make it what it is: two assets that
// agree in them do the same, whatever they are called.
type effect struct {
	// must are the fields that both must have alike, or both lack.
	must []string
	// may are fields that differ only where both have them: searches return
	// less than creates send.
	may []string
}

var assetFields = []string{
	"serviceToken.uuid", "accessPoint.port.uuid", "accessPoint.router.uuid",
	"accessPoint.virtualDevice.uuid", "accessPoint.network.uuid", "accessPoint.profile.uuid",
}

var tagFields = []string{
	"accessPoint.linkProtocol.vlanTag", "accessPoint.linkProtocol.vlanSTag", "accessPoint.linkProtocol.vlanCTag",
	"accessPoint.sellerRegion",
}

var selectorFields = []string{
	"accessPointSelectors.port.uuid", "accessPointSelectors.virtualDevice.uuid", "accessPointSelectors.network.uuid",
}

var selectorTags = []string{
	"accessPointSelectors.linkProtocol.vlanTag", "accessPointSelectors.linkProtocol.vlanSTag", "accessPointSelectors.linkProtocol.vlanCTag",
}

var effects = map[broker.ChangeType]effect{
	broker.ConnectionCreate: {
		must: slices.Concat(onSides("", assetFields)),
		may:  slices.Concat([]string{"type"}, onSides("", tagFields)),
	},
	broker.NetworkCreate: {
		must: []string{"name", "project.projectId", "type"},
		may:  []string{"scope", "location.region"},
	},
	broker.CloudRouterCreate: {
		must: []string{"name", "project.projectId", "package.code", "location.metroCode"},
	},
	broker.ServiceTokenCreate: {
		must: onSides("connection.", selectorFields),
		may:  slices.Concat([]string{"type", "connection.type"}, onSides("connection.", selectorTags)),
	},
}

func onSides(prefix string, fields []string) []string {
	var out []string
	for _, side := range []string{"aSide.", "zSide."} {
		for _, f := range fields {
			out = append(out, prefix+side+f)
		}
	}
	return out
}

// twinOf is the digest of a request's effect. Secrets go into it, but cannot be
// told from it.
func twinOf(t broker.ChangeType, sent []byte) string {
	body, err := decodeJSON(sent)
	if err != nil {
		return ""
	}
	e := effects[t]
	texts := []string{"fabric effect", string(t)}
	for _, f := range slices.Concat(e.must, e.may) {
		texts = append(texts, f, strings.ToLower(fieldText(body, f)))
	}
	return digest(texts...)
}

// same reports whether row has the effect of body.
func (e effect) same(body, row any) bool {
	for _, f := range e.must {
		if !strings.EqualFold(fieldText(body, f), effective(row, f)) {
			return false
		}
	}
	return e.agrees(e.may, body, row)
}

// effective is a field of an asset as the API returns it. A redeemed token's
// side has the resolved access point beside the token: only the token counts,
// as it did in the request.
func effective(row any, field string) string {
	side, rest, _ := strings.Cut(field, ".")
	if strings.HasPrefix(rest, "accessPoint.") && fieldText(row, side+".serviceToken.uuid") != "" {
		return ""
	}
	return fieldText(row, field)
}

// agrees reports whether nothing in fields differs. A field that either lacks
// neither confirms nor excludes; a value that is masked in body is compared
// masked.
func (effect) agrees(fields []string, body, row any) bool {
	for _, f := range fields {
		want, got := fieldText(body, f), fieldText(row, f)
		if want == "" || got == "" || strings.EqualFold(want, got) || want == broker.MaskValue(got) {
			continue
		}
		return false
	}
	return true
}

// fieldText is the text of the value at a dotted path, of a list its first
// element's; "" where there is none.
func fieldText(v any, path string) string { return text(at(v, strings.Split(path, ".")...)) }
