package fabric

import (
	"context"
	"errors"
	"time"

	"fabricbroker/broker"
)

// Create implements [broker.Provider]: it sends r once. Whatever goes wrong from
// the first byte on is an unknown outcome, because Fabric has no way to ask for
// the same create twice (I2, I8).
func (a *API) Create(ctx context.Context, r broker.Request, id broker.ID, sendBy time.Time) broker.Result {
	ctx, cancel := context.WithTimeout(ctx, a.o.CreateTimeout)
	defer cancel()
	defer a.took("create")()
	res := a.create(ctx, r, id, sendBy)
	if res.CorrelationID == "" {
		res.CorrelationID = string(id)
	}
	if res.Name == "" {
		res.Name = r.Name
	}
	return res
}

func (a *API) create(ctx context.Context, r broker.Request, id broker.ID, sendBy time.Time) broker.Result {
	if (&shot{now: a.o.Now, sendBy: sendBy}).late() {
		return notSent(broker.ErrTokenExpired, reason(errLate), nil)
	}
	bearer, err := a.session.bearer(ctx, createMargin, "")
	var refusal *broker.Refusal
	if errors.As(err, &refusal) {
		return notSent(refusal.Code, refusal.Message, refusal.Upstream)
	}
	if err != nil {
		return notSent(broker.ErrInternal, "the log-in could not be made", nil)
	}
	c := call{
		method: r.Method, path: r.Path, body: r.Body, limit: maxCreate,
		correlation: clean(string(id), 100), name: "the create",
	}
	n, sent, err := a.fire(ctx, c, bearer, sendBy)
	switch {
	case errors.Is(err, errLate):
		return notSent(broker.ErrTokenExpired, reason(err), nil)
	case err != nil && !sent:
		return notSent(broker.ErrUpstreamUnavailable, "nothing was sent: "+reason(err), nil)
	case err != nil:
		return broker.Result{
			Outcome: broker.OutcomeUnknown,
			Detail:  "the create was sent, but no answer came: " + reason(err) + "; the asset may exist",
		}
	}
	return a.outcome(r, n)
}

func notSent(code broker.Code, detail string, errs []broker.UpstreamError) broker.Result {
	return broker.Result{Outcome: broker.OutcomeNotSent, Code: code, Detail: detail, Upstream: errs}
}
