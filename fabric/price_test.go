package fabric_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/fabric"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/pricing"
)

const searchPath = "/fabric/v4/prices/search"

func priceRow(z, zMetro string, bandwidth any, rest string) string {
	return fmt.Sprintf(`{"type":"VIRTUAL_CONNECTION_PRODUCT","code":"ECX00015.PROD","connection":{"type":"EVPL_VC","bandwidth":%v,
		"aSide":{"accessPoint":{"type":"COLO","location":{"metroCode":"DC"}}},"zSide":{"accessPoint":{"type":%q,"location":{"metroCode":%q}}}}%s}`, bandwidth, z, zMetro, rest)
}

func prices(rows ...string) string {
	return fmt.Sprintf(`{"pagination":{"offset":0,"limit":20,"total":%d},"data":[%s]}`, len(rows), strings.Join(rows, ","))
}

func TestQuote(t *testing.T) {
	monthly := `,"charges":[{"type":"MONTHLY_RECURRING","price":500}]`
	rows := map[string]struct {
		body    string
		monthly string // "" = unpriced
		oneTime string
		most    string
		mention []string
	}{
		"one row":                    {prices(priceRow("SP", "DC", 50, monthly+`,"currency":"USD"`)), "500.00", "", "", []string{"USD"}},
		"every digit":                {prices(priceRow("SP", "DC", `"50"`, `,"charges":[{"type":"MONTHLY_RECURRING","price":123456789012345.654321}],"currency":"USD"`)), "123,456,789,012,345.654321", "", "", nil},
		"two charges apart":          {prices(priceRow("SP", "DC", 50, `,"charges":[{"type":"MONTHLY_RECURRING","price":500},{"type":"NON_RECURRING","price":"100"}],"currency":"EUR"`)), "500.00", "100.00", "", []string{"EUR"}},
		"two of a kind are a range":  {prices(priceRow("SP", "DC", 50, `,"charges":[{"type":"MONTHLY_RECURRING","price":500},{"type":"MONTHLY_RECURRING","price":600}],"currency":"USD"`)), "500.00", "", "600.00", nil},
		"customer before country":    {prices(priceRow("SP", "DC", 50, monthly+`,"currency":"USD","catgory":"COUNTRY"`), priceRow("SP", "DC", 50, `,"charges":[{"type":"MONTHLY_RECURRING","price":400}],"currency":"USD","catgory":"CUSTOMER"`)), "400.00", "", "", nil},
		"no currency is not USD":     {prices(priceRow("SP", "DC", 50, monthly)), "500.00", "", "", []string{"currency was not returned"}},
		"another metro is no price":  {prices(priceRow("SP", "SV", 50, monthly+`,"currency":"USD"`)), "", "", "", []string{"SV"}},
		"another term is no price":   {prices(priceRow("SP", "DC", 50, monthly+`,"currency":"USD","termLength":36`)), "", "", "", []string{"36"}},
		"nothing is not free":        {prices(), "", "", "", []string{"no price"}},
		"an amount that is none":     {prices(priceRow("SP", "DC", 50, `,"charges":[{"type":"MONTHLY_RECURRING","price":-1}],"currency":"USD"`)), "", "", "", []string{"unavailable"}},
		"no charges":                 {prices(priceRow("SP", "DC", 50, `,"currency":"USD"`)), "", "", "", nil},
		"an incomplete list is said": {`{"pagination":{"total":40},"data":[` + priceRow("SP", "DC", 50, monthly+`,"currency":"USD"`) + `]}`, "500.00", "", "", []string{"1 of 40"}},
		"a shape nobody expects":     {`{"data":{"charges":7,"connection":[]}}`, "", "", "", nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.fail("POST", searchPath, nil, status(200, row.body), 0)
			q := r.api.Quote(t.Context(), compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017)))
			if q.Priced != (row.monthly != "") || q.HasMonthly && q.Monthly.Display() != row.monthly {
				t.Errorf("got %+v", q)
			}
			if q.HasOneTime != (row.oneTime != "") || q.HasOneTime && q.OneTime.Display() != row.oneTime {
				t.Errorf("one-time charge of %+v", q)
			}
			if q.MonthlyRange() != (row.most != "") || row.most != "" && q.MonthlyMax.Display() != row.most {
				t.Errorf("range of %+v", q)
			}
			mentions(t, q, row.mention...)
		})
	}
}

func TestQuoteFilter(t *testing.T) {
	r := newRig(t)
	q := r.api.Quote(t.Context(), compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017)))
	if !q.Priced || q.Source != pricing.SourcePriceSearch {
		t.Errorf("the simulator's own price: %+v", q)
	}
	history := r.sim.History()
	var sent struct {
		Filter struct {
			And []struct {
				Property, Operator string
				Values             []string
			}
		}
	}
	if err := json.Unmarshal(history[len(history)-1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range sent.Filter.And {
		got = append(got, e.Property+e.Operator+strings.Join(e.Values, ","))
	}
	want := "/type=VIRTUAL_CONNECTION_PRODUCT /connection/type=EVPL_VC /connection/bandwidthIN50 /connection/aSide/accessPoint/type=COLO /connection/aSide/accessPoint/location/metroCode=DC " +
		"/connection/zSide/accessPoint/type=SP /connection/zSide/accessPoint/location/metroCode=DC /connection/zSide/accessPoint/profile/uuid=" + aws
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// I11: a price that cannot be had fails nothing.
func TestQuoteNeverFails(t *testing.T) {
	rows := map[string]struct {
		do      fabricsim.Action
		mention string
	}{
		"refused":      {status(400, `[{"errorCode":"EQ-3038010","errorMessage":"Validation failure","additionalInfo":[{"property":"/x"}]}]`), "EQ-3038010"},
		"error":        {status(500, `[{"errorCode":"EQ-3038030","errorMessage":"Internal"}]`), "EQ-3038030"},
		"page":         {fabricsim.Action{Kind: fabricsim.FaultHTML, Status: 200}, "text/html"},
		"reset":        {fabricsim.Action{Kind: fabricsim.FaultReset}, "unavailable"},
		"too late":     {fabricsim.Action{Kind: fabricsim.FaultDelay, Milliseconds: 3000}, "too long"},
		"rate limited": {status(429, ``), "429"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *fabric.Options) { o.PricingTimeout = 800 * time.Millisecond })
			r.fail("POST", searchPath, nil, row.do, 0)
			q := r.api.Quote(t.Context(), compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017)))
			if q.Priced || q.Unbilled || q.Source != pricing.SourceNone {
				t.Errorf("got %+v", q)
			}
			mentions(t, q, row.mention)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if q := r.api.Quote(ctx, compiled(t, r.api, broker.ConnectionCreate, awsSpec("c-1", 50, 1017))); q.Priced || q.Note == "" {
			t.Errorf("got %+v", q)
		}
	})
	t.Run("nothing billable", func(t *testing.T) {
		r := newRig(t)
		q := r.api.Quote(t.Context(), compiled(t, r.api, broker.NetworkCreate, netSpec("n-1")))
		if !q.Unbilled || len(r.sim.History()) != 0 {
			t.Errorf("got %+v after %d requests", q, len(r.sim.History()))
		}
	})
}

func TestQuoteRateCardFirst(t *testing.T) {
	card, err := pricing.ParseRateCard([]byte("version: 1\ncurrency: USD\nrates:\n  - {product: CLOUD_ROUTER_PRODUCT, metro: DC, package: STANDARD, monthly_recurring: \"1234\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *fabric.Options) { o.RateCard = card })
	q := r.api.Quote(t.Context(), compiled(t, r.api, broker.CloudRouterCreate, routerSpec("r-1")))
	if q.Source != pricing.SourceRateCard || q.Monthly.Display() != "1234.00" && q.Monthly.Display() != "1,234.00" {
		t.Errorf("got %+v", q)
	}
	mentions(t, q, "live price search says")
	q, err = r.api.EstimatePrice(t.Context(), broker.CloudRouterCreate, []byte(`{"metro_code":"DC","package":"STANDARD"}`))
	if err != nil || !q.Priced {
		t.Errorf("got %+v, %v", q, err)
	}
	if _, err := r.api.EstimatePrice(t.Context(), "port_create", []byte(`{}`)); err == nil {
		t.Error("a change type that does not exist is priced")
	}
}
