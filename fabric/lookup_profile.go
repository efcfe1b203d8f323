package fabric

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"fabricbroker/broker"
)

// profile judges what a service profile offers.
func (j *judge) profile(rf ref, doc any, f asset) {
	if f.State != "" && f.State != "ACTIVE" {
		j.warn(rf.path, fmt.Sprintf("the service profile is %s, not ACTIVE", codeWord(f.State)))
	}
	j.profileBandwidth(rf, doc)

	metro := strings.ToUpper(text(at(rf.point, "location", "metroCode")))
	region := text(at(rf.point, "sellerRegion"))
	served, offered, listed := profileMetro(doc, metro)
	// A profile's list of metros is not proof: the dry run decides.
	if listed && metro != "" && !served {
		j.warn(j.path("/"+rf.side+"/accessPoint/location/metroCode"), fmt.Sprintf("the service profile does not list metro %s", codeWord(metro)))
	}
	if region != "" && len(offered) > 0 && !slices.ContainsFunc(offered, func(o string) bool { return sameRegion(o, region) }) {
		j.warn(j.path("/"+rf.side+"/accessPoint/sellerRegion"), fmt.Sprintf("the service profile does not list seller region %s in %s, only %s", broker.Quote(region), codeWord(metro), quoted(offered)))
	}
	if strings.Contains(strings.ToLower(f.Name), "google") {
		j.pairingKey(rf, f.Name, offered)
	}
}

// profileBandwidth compares with the tiers of the access point types that fit.
func (j *judge) profileBandwidth(rf ref, doc any) {
	other := map[string]string{"aSide": "zSide", "zSide": "aSide"}[rf.side]
	from := text(at(j.body, other, "accessPoint", "type"))
	var fitting, all []any
	for _, c := range list(at(doc, "accessPointTypeConfigs")) {
		all = append(all, c)
		if from != "" && strings.EqualFold(text(at(c, "type")), from) {
			fitting = append(fitting, c)
		}
	}
	if len(fitting) == 0 {
		fitting = all
	}
	var offered []int64
	for _, c := range fitting {
		if at(c, "allowCustomBandwidth") == true {
			return
		}
		ns := numbers(at(c, "supportedBandwidths"))
		if len(ns) == 0 {
			offered = nil
			break
		}
		offered = append(offered, ns...)
	}
	switch {
	case len(offered) == 0:
		j.warn(j.path("/bandwidth"), "not checked: the service profile lists no bandwidths")
	case !slices.Contains(offered, j.bandwidth):
		slices.Sort(offered)
		j.refuse(j.path("/bandwidth"), fmt.Sprintf("the service profile does not offer %d Mbps, only %s", j.bandwidth, tiers(slices.Compact(offered))))
	}
}

// profileMetro reports whether the profile serves metro, with which seller
// regions, and whether it lists metros at all. Regions come as names of an
// object or as a list.
func profileMetro(doc any, metro string) (served bool, regions []string, listed bool) {
	for _, m := range list(at(doc, "metros")) {
		listed = true
		if metro == "" || !strings.EqualFold(text(at(m, "code")), metro) {
			continue
		}
		served = true
		switch r := at(m, "sellerRegions").(type) {
		case map[string]any:
			regions = slices.Sorted(maps.Keys(r))
		case []any:
			for _, e := range r {
				regions = append(regions, text(e))
			}
		}
	}
	return served, regions, listed
}

var (
	pairingKey = regexp.MustCompile(`^[0-9A-Fa-f-]{8,}/([0-9A-Za-z-]+)/([0-9A-Za-z-]+)$`)
	zoneName   = regexp.MustCompile(`(?i)\bzone[ -]?([0-9])\b`)
)

// pairingKey judges a Google pairing key, which names the region and the zone
// that it was made for.
func (j *judge) pairingKey(rf ref, profile string, offered []string) {
	key := text(at(rf.point, "authenticationKey"))
	if key == "" {
		return
	}
	path := j.path("/" + rf.side + "/accessPoint/authenticationKey")
	m := pairingKey.FindStringSubmatch(key)
	if m == nil {
		j.refuse(path, "a Google pairing key has the form uuid/region/zone: copy the whole key")
		return
	}
	region, zone := m[1], m[2]
	if len(offered) > 0 && !slices.ContainsFunc(offered, func(o string) bool { return sameRegion(o, region) }) {
		j.refuse(path, fmt.Sprintf("the pairing key is for region %s, the service profile offers %s in this metro", broker.Quote(region), quoted(offered)))
	}
	if z := zoneName.FindStringSubmatch(profile); z != nil && len(zone) == 1 && zone[0] >= '0' && zone[0] <= '9' && zone != z[1] {
		j.refuse(path, fmt.Sprintf("the pairing key is for zone %s, the service profile for zone %s", zone, z[1]))
	}
}

// sameRegion compares region names; us-west1 is also written us-west-1.
func sameRegion(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", ""), strings.ReplaceAll(b, "-", ""))
}

func quoted(ss []string) string {
	const most = 20
	parts := make([]string, 0, len(ss))
	for i, s := range ss {
		if i == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, broker.QuoteMax(s, 60))
	}
	return strings.Join(parts, ", ")
}
