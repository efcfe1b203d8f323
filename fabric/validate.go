package fabric

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"fabricbroker/broker"
)

// Validate implements [broker.Provider]. The look-ups, the search for twins and
// the dry run go out at the same time. An asset that the dry run created
// outweighs everything else, then what the look-ups rule out, then what the dry
// run refused.
func (a *API) Validate(ctx context.Context, r broker.Request) (broker.Validation, error) {
	var (
		f     findings
		twins []broker.Asset
		blind []broker.Issue
		wg    sync.WaitGroup
	)
	wg.Go(func() { f = a.lookUpSafely(ctx, r) })
	wg.Go(func() { twins, blind = a.twinsSafely(ctx, r) })
	n, refusal := a.dryRun(ctx, r)
	wg.Wait()

	switch {
	case refusal != nil && refusal.Code == broker.ErrDryRunCreated:
		return broker.Validation{}, refusal
	case len(f.refusals) > 0:
		return broker.Validation{}, preflight(f, refusal)
	case refusal != nil:
		return broker.Validation{}, refusal
	}
	date, _ := http.ParseTime(n.header.Get("Date")) // without one it stays zero
	return broker.Validation{
		Entity:      r.Mask().JSON(redactJSON(n.body)),
		Differences: differences(r, n.body),
		Brief:       briefOf(r, f.facts),
		Warnings:    append(f.warnings, blind...),
		Date:        date,
		Twins:       twins,
	}, nil
}

// lookUpSafely is lookUp for a goroutine: an odd answer must not end the
// process, nor the proposal (I11).
func (a *API) lookUpSafely(ctx context.Context, r broker.Request) (f findings) {
	defer func() {
		if a.recovered(ctx, "look-ups", recover()) {
			f = findings{warnings: []broker.Issue{{Message: "not checked: what the request refers to could not be judged"}}}
		}
	}()
	defer a.took("look_up")()
	return a.lookUp(ctx, r)
}

// twinsSafely warns where it cannot look: that must not cost the proposal.
func (a *API) twinsSafely(ctx context.Context, r broker.Request) (twins []broker.Asset, blind []broker.Issue) {
	unseen := []broker.Issue{{Path: "spec", Message: "not checked: whether the same thing exists already"}}
	defer func() {
		if a.recovered(ctx, "search for twins", recover()) {
			twins, blind = nil, unseen
		}
	}()
	twins, err := a.twins(ctx, r)
	if err != nil {
		a.o.Log.WarnContext(ctx, "whether the same thing exists already could not be checked", "error", r.Mask().Text(err.Error()))
		return nil, unseen
	}
	return twins, nil
}

func (a *API) recovered(ctx context.Context, what string, p any) bool {
	if p != nil {
		a.o.Log.ErrorContext(ctx, what+" panicked", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	}
	return p != nil
}

// preflight refuses for what the look-ups found, and tells the dry run's errors
// too: whoever corrects the spec wants all of it at once.
func preflight(f findings, dry *broker.Refusal) *broker.Refusal {
	parts := make([]string, len(f.refusals))
	for i, is := range f.refusals {
		parts[i] = is.Path + ": " + is.Message
	}
	p := broker.Refuse(broker.ErrPreflightFailed, "correct the fields that are named, then propose again", "%s", strings.Join(parts, "; "))
	p.Issues = f.refusals
	if dry != nil {
		p.Upstream = dry.Upstream
	}
	return p
}
