package fabricsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The price list is invented. Money is in cents until it is written.

var bandwidthPrices = map[string]int64{
	"10": 2500, "50": 7500, "100": 11050, "200": 15025, "500": 21000, "1000": 26075, "2000": 39999, "5000": 56000,
	"10000": 82099, "25000": 164000, "50000": 290050,
}

// pricedTypes are the connection types that have a price at all.
var pricedTypes = []string{
	"EVPL_VC", "EPL_VC", "EC_VC", "IP_VC", "ACCESS_EPL_VC", "EVPLAN_VC", "EPLAN_VC", "IPWAN_VC", "EVPTREE_VC", "EPTREE_VC", "IA_VC",
}

var packagePrices = map[string]int64{"LAB": 15000, "BASIC": 45050, "STANDARD": 120000, "ADVANCED": 360000, "PREMIUM": 720000}

// terms and what of the price remains, in percent. On demand has no termLength.
var terms = []struct {
	months  int
	percent int64
}{{0, 100}, {12, 90}, {24, 85}, {36, 80}}

func (s *Sim) priceRows(f doc) []doc {
	var rows []doc
	if ids := asked(f, "/connection/uuid"); len(ids) > 0 {
		rows = append(rows, s.existingRows(ids)...)
	}
	for _, product := range askedOr(f, "/type", nil) {
		switch product {
		case "VIRTUAL_CONNECTION_PRODUCT":
			rows = append(rows, s.connectionRows(f)...)
		case "CLOUD_ROUTER_PRODUCT":
			rows = append(rows, s.routerRows(f)...)
		case "VIRTUAL_PORT_PRODUCT":
			rows = append(rows, portRows(f)...)
		}
	}
	return rows
}

const (
	aMetro = "/connection/aSide/accessPoint/location/metroCode"
	zMetro = "/connection/zSide/accessPoint/location/metroCode"
	aType  = "/connection/aSide/accessPoint/type"
	zType  = "/connection/zSide/accessPoint/type"
)

// connectionRows makes every row that the filter could mean, over both metros,
// type, bandwidth, term and profile.
func (s *Sim) connectionRows(f doc) []doc {
	ports := asked(f, "/connection/aSide/accessPoint/port/uuid")
	from := askedOr(f, aMetro, metroCodes)
	if len(ports) > 0 {
		from = nil
		if p := s.find(KindPort, ports[0]); p != nil {
			from = []string{text(p.doc, "/location/metroCode")}
		}
	}
	var bandwidths []string
	for b := range bandwidthPrices {
		bandwidths = append(bandwidths, b)
	}
	slices.SortFunc(bandwidths, compare)
	var rows []doc
	for _, kind := range askedOr(f, "/connection/type", []string{"EVPL_VC"}) {
		for _, bandwidth := range askedOr(f, "/connection/bandwidth", bandwidths) {
			for _, a := range from {
				for _, z := range s.zEnds(f) {
					for _, point := range askedOr(f, aType, []string{defaultPoint(kind)}) {
						q := connectionPrice{kind: kind, bandwidth: bandwidth, aPoint: point, aMetro: a, z: z}
						if len(ports) > 0 {
							q.port = ports[0]
						}
						if b := asked(f, "/connection/aSide/accessPoint/port/settings/buyout"); len(b) > 0 {
							q.buyout = b[0]
						}
						rows = append(rows, q.rows()...)
					}
				}
			}
		}
	}
	return rows
}

func defaultPoint(kind string) string {
	if strings.HasPrefix(kind, "IP") {
		return "CLOUD_ROUTER"
	}
	return "COLO"
}

// zEnds are the Z sides that the filter could mean.
func (s *Sim) zEnds(f doc) []doc {
	var ends []doc
	for _, point := range askedOr(f, zType, []string{"COLO"}) {
		if point == "NETWORK" {
			for _, scope := range askedOr(f, "/connection/zSide/accessPoint/network/scope", []string{"LOCAL", "REGIONAL", "GLOBAL"}) {
				ends = append(ends, doc{"type": point, "network": doc{"scope": scope}})
			}
			continue
		}
		for _, metro := range askedOr(f, zMetro, metroCodes) {
			end := doc{"type": point, "location": doc{"metroCode": metro}}
			if ids := asked(f, "/connection/zSide/accessPoint/profile/uuid"); len(ids) > 0 && point == "SP" {
				if s.find(KindServiceProfile, ids[0]) == nil {
					continue
				}
				end["profile"] = doc{"uuid": ids[0]}
			}
			ends = append(ends, end)
		}
	}
	return ends
}

type connectionPrice struct {
	kind, bandwidth, aPoint, aMetro, port, buyout string
	z                                             doc
}

// rows gives one row per term, or none where this is not sold.
func (q connectionPrice) rows() []doc {
	cents, sold := bandwidthPrices[q.bandwidth]
	if !sold || !slices.Contains(pricedTypes, q.kind) || metros[q.aMetro].name == "" {
		return nil
	}
	z := text(q.z, "/location/metroCode")
	switch {
	case z == "" && text(q.z, "/network/scope") == "GLOBAL":
		cents = cents * 2
	case z == "":
	case metros[z].name == "":
		return nil
	case metros[z].region != metros[q.aMetro].region:
		cents = cents * 5 / 2
	case z != q.aMetro:
		cents = cents * 8 / 5
	}
	if q.kind != "EVPL_VC" {
		cents += 1075 // every other type costs a little more
	}
	if p := text(q.z, "/profile/uuid"); p != "" {
		cents += int64(p[0]%4) * 250 // providers differ
	}
	if q.buyout == "true" {
		cents = cents / 2
	}
	bandwidth, err := strconv.Atoi(q.bandwidth)
	if err != nil {
		return nil
	}
	aSide := doc{"type": q.aPoint, "location": doc{"metroCode": q.aMetro}}
	if q.port != "" {
		set(aSide, "/port/uuid", q.port)
	}
	if q.aPoint == "COLO" {
		set(aSide, "/port/settings/buyout", q.buyout == "true")
	}
	var rows []doc
	for _, t := range terms {
		row := doc{
			"type": "VIRTUAL_CONNECTION_PRODUCT", "code": "ECX00015.PROD", "name": "Equinix Fabric Virtual Connection Product",
			"description": "Equinix Fabric Virtual Connection", "account": doc{"accountNumber": Account}, "currency": "USD",
			"catgory": "COUNTRY", // sic
			"charges": []any{charge("MONTHLY_RECURRING", cents*t.percent/100)},
			"connection": doc{
				"type": q.kind, "bandwidth": bandwidth,
				"aSide": doc{"accessPoint": cloneDoc(aSide)}, "zSide": doc{"accessPoint": cloneDoc(q.z)},
			},
		}
		if t.months > 0 {
			row["termLength"] = t.months
		}
		rows = append(rows, row)
	}
	return rows
}

// existingRows prices connections that exist.
func (s *Sim) existingRows(ids []string) []doc {
	var rows []doc
	for _, id := range ids {
		a := s.find(KindConnection, id)
		if a == nil {
			continue
		}
		q := connectionPrice{
			kind: text(a.doc, "/type"), bandwidth: fmt.Sprint(a.doc["bandwidth"]), aPoint: text(a.doc, "/aSide/accessPoint/type"),
			aMetro: text(a.doc, "/aSide/accessPoint/location/metroCode"),
			z:      only(object(a.doc, "/zSide/accessPoint"), "type", "location", "profile", "network"),
		}
		if priced := q.rows(); len(priced) > 0 {
			set(priced[0], "/connection/uuid", a.uuid)
			rows = append(rows, priced[0])
		}
	}
	return rows
}

func (s *Sim) routerRows(f doc) []doc {
	if ids := asked(f, "/router/uuid"); len(ids) > 0 {
		a := s.find(KindCloudRouter, ids[0])
		if a == nil {
			return nil
		}
		rows := routerPrice(text(a.doc, "/location/metroCode"), text(a.doc, "/package/code"))
		for _, row := range rows {
			set(row, "/router/uuid", a.uuid)
		}
		return rows
	}
	var codes []string
	for _, p := range routerPackages {
		codes = append(codes, p.code)
	}
	var rows []doc
	for _, metro := range askedOr(f, "/router/location/metroCode", metroCodes) {
		for _, code := range askedOr(f, "/router/package/code", codes) {
			rows = append(rows, routerPrice(metro, code)...)
		}
	}
	return rows
}

func routerPrice(metro, code string) []doc {
	cents, sold := packagePrices[code]
	if !sold || metros[metro].name == "" {
		return nil
	}
	cents = cents * map[string]int64{"AMER": 100, "EMEA": 105, "APAC": 115}[metros[metro].region] / 100
	var rows []doc
	for _, t := range terms {
		row := doc{
			"type": "CLOUD_ROUTER_PRODUCT", "code": "ECX00014.PROD", "name": "Equinix Cloud Router Product",
			"description": "Equinix Cloud Router", "account": doc{"accountNumber": Account}, "currency": "USD", "catgory": "COUNTRY",
			"charges": []any{charge("MONTHLY_RECURRING", cents*t.percent/100)},
			"router":  doc{"package": doc{"code": code}, "location": doc{"metroCode": metro}},
		}
		if t.months > 0 {
			row["termLength"] = t.months
		}
		rows = append(rows, row)
	}
	return rows
}

// portRows: ports are priced by ibx, not by metro, and cost something once.
func portRows(f doc) []doc {
	var rows []doc
	for _, ibx := range asked(f, "/port/location/ibx") {
		for _, bandwidth := range askedOr(f, "/port/bandwidth", []string{"1000", "10000", "100000"}) {
			cents, sold := map[string]int64{"1000": 50000, "10000": 95000, "100000": 450000}[bandwidth]
			if !sold {
				continue
			}
			port := doc{"type": "XF_PORT", "location": doc{"ibx": ibx}, "bandwidth": json.Number(bandwidth)}
			for _, p := range []string{
				"/package/code", "/settings/buyout", "/serviceType", "/serviceCode", "/connectivitySource/type", "/lag/enabled",
			} {
				if v := asked(f, "/port"+p); len(v) > 0 {
					set(port, p, v[0])
				}
			}
			row := doc{
				"type": "VIRTUAL_PORT_PRODUCT", "code": "ECX00001.PROD", "name": "Equinix Fabric Port Product", "currency": "USD",
				"charges": []any{charge("MONTHLY_RECURRING", cents), charge("NON_RECURRING", 10000)}, "port": port,
			}
			if v := asked(f, "/account/accountNumber"); len(v) > 0 {
				if n, err := strconv.Atoi(v[0]); err == nil {
					row["account"] = doc{"accountNumber": n}
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// charge writes money as the API does: a JSON number, decimals where there are any.
func charge(kind string, cents int64) doc {
	amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
	return doc{"type": kind, "price": json.Number(strings.TrimSuffix(strings.TrimSuffix(amount, "0"), ".0"))}
}
