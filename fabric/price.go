package fabric

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// Quote implements [broker.Quoter]: the operator's rate card first, beside it the
// live price search. It never fails; what cannot be found out is an unpriced
// quote that says why.
func (a *API) Quote(ctx context.Context, r broker.Request) pricing.Quote {
	ctx, cancel := context.WithTimeout(ctx, a.o.PricingTimeout)
	defer cancel()
	it := itemOf(r, facts{})
	if !it.Billable() {
		return pricing.FromRows(it, nil, pricing.SourcePriceSearch)
	}
	it = itemOf(r, a.lookUp(ctx, r).facts)
	card, _ := a.o.RateCard.Quote(it)
	return pricing.Combine(card, a.search(ctx, it))
}

// EstimatePrice quotes a spec of which only the fields count that decide a price.
// Its errors are *broker.Refusals with invalid_spec.
func (a *API) EstimatePrice(ctx context.Context, t broker.ChangeType, spec []byte) (pricing.Quote, error) {
	r, err := compileForPrice(t, spec)
	if err != nil {
		return pricing.Quote{}, err
	}
	return a.Quote(ctx, r), nil
}

// search asks the live price search.
func (a *API) search(ctx context.Context, it pricing.Item) pricing.Quote {
	defer a.took("price")()
	body, err := json.Marshal(map[string]any{"filter": map[string]any{"and": priceFilter(it)}})
	if err != nil {
		return pricing.Unpriced("price unavailable: the search could not be written")
	}
	v, err := a.document(ctx, call{
		method: http.MethodPost, path: "/fabric/v4/prices/search", body: body, limit: maxRead, name: "the price search",
	})
	if err != nil {
		return pricing.Unpriced("price unavailable: " + whyUnpriced(err))
	}
	data, total := page(v)
	rows, err := priceRows(data)
	if err != nil {
		return pricing.Unpriced("price unavailable: " + err.Error())
	}
	q := pricing.FromRows(it, rows, pricing.SourcePriceSearch)
	if total > len(data) {
		note := fmt.Sprintf("only %d of %d prices were returned", len(data), total)
		if q.Note != "" {
			note = q.Note + "; " + note
		}
		q.Note = note
	}
	return q
}

func whyUnpriced(err error) string {
	var refusal *broker.Refusal
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return reason(err)
}

// priceFilter names what decides a price: a list of expressions with texts as
// values, which is the only form that the search takes.
func priceFilter(it pricing.Item) []expression {
	var and []expression
	add := func(property, value string) {
		if value != "" {
			and = append(and, match(property, "=", value))
		}
	}
	add("/type", it.Product)
	if it.Product == pricing.ProductRouter {
		add("/router/location/metroCode", it.Metro)
		add("/router/package/code", it.Package)
		return and
	}
	add("/connection/type", it.ConnectionType)
	if it.BandwidthMbps > 0 {
		and = append(and, match("/connection/bandwidth", "IN", strconv.FormatInt(it.BandwidthMbps, 10)))
	}
	add("/connection/aSide/accessPoint/type", it.AType)
	add("/connection/aSide/accessPoint/location/metroCode", it.AMetro)
	add("/connection/zSide/accessPoint/type", it.ZType)
	if it.ZType == "NETWORK" {
		add("/connection/zSide/accessPoint/network/scope", it.NetworkScope)
		return and
	}
	add("/connection/zSide/accessPoint/location/metroCode", it.ZMetro)
	add("/connection/zSide/accessPoint/profile/uuid", it.ProfileUUID)
	return and
}
