package ledgertest

import (
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fabricbroker/broker"
)

var addRules = []rule{
	{"keeps what it was given, pending and unspent", func(b *bench) {
		p := b.proposal(ada, "a")
		p.State, p.Spent = broker.Created, true // not for the caller to say
		p.ExpiresAt = b.clock.now().Add(time.Hour)
		a := b.add(p)
		p.State, p.Spent, p.Since, p.ExpiresAt = broker.Pending, false, b.clock.now(), b.clock.now().Add(lifetime)
		for what, got := range map[string]broker.Proposal{"Added": a.Proposal, "Load": b.load(p.ID)} {
			if d := cmp.Diff(p, got, cmpopts.EquateEmpty()); d != "" {
				b.Errorf("%s (-want +got)\n%s", what, d)
			}
		}
		if len(a.Evicted) != 0 {
			b.Errorf("evicted %v", ids(a.Evicted))
		}
	}},
	{"shares nothing with its callers", func(b *bench) {
		p := b.proposal(ada, "a")
		spoil := func(p broker.Proposal) {
			p.Payload.Spec[0], p.Payload.Body[0] = 'X', 'X'
			p.Payload.Differences[0].Path, p.Payload.Warnings[0].Path = "X", "X"
			p.Payload.Twins[0].UUID = "X"
			p.Payload.Brief.What = "X"
		}
		want := b.proposal(ada, "a").Payload
		spoil(b.add(p).Proposal)
		spoil(p)
		spoil(b.load(p.ID))
		all, err := b.ledger.List(b.Context(), broker.Query{})
		if err != nil {
			b.Fatal(err)
		}
		spoil(all[0])
		if d := cmp.Diff(want, b.load(p.ID).Payload, cmpopts.EquateEmpty()); d != "" {
			b.Errorf("(-want +got)\n%s", d)
		}
	}},
	{"refuses an id that is taken", func(b *bench) {
		p := b.proposal(ada, "a")
		b.add(p)
		p.Name = "b"
		if _, err := b.ledger.Add(b.Context(), p, broker.AddOptions{Lifetime: lifetime, MaxPending: 20}); err == nil {
			b.Error("no error")
		}
		if got := b.load(p.ID).Name; got != "a" {
			b.Errorf("overwritten with %q", got)
		}
	}},
	{"refuses a proposal of megabytes", func(b *bench) {
		p := b.proposal(ada, "a")
		p.Payload.Differences[0].Returned = string(make([]byte, 1<<20))
		if _, err := b.ledger.Add(b.Context(), p, broker.AddOptions{Lifetime: lifetime, MaxPending: 20}); err == nil {
			b.Error("no error")
		}
		b.gone(p.ID)
	}},
	{"knows no other proposal", func(b *bench) {
		b.pending(ada, "a")
		b.gone("01950000-0000-7000-8000-ffffffffffff")
		_, err := b.move(begin("01950000-0000-7000-8000-ffffffffffff"))
		b.refused(err, broker.ErrProposalUnknown)
	}},
	{"evicts the principal's oldest pending proposals, oldest first", func(b *bench) {
		var made []broker.ID
		for range 3 {
			made = append(made, b.pending(ada, "a"))
			b.clock.pass(time.Second)
		}
		p := b.proposal(ada, "a")
		a, err := b.ledger.Add(b.Context(), p, broker.AddOptions{Lifetime: lifetime, MaxPending: 2})
		if err != nil {
			b.Fatal(err)
		}
		if got := ids(a.Evicted); !slices.Equal(got, made[:2]) {
			b.Errorf("evicted %v, want %v", got, made[:2])
		}
		for _, id := range made[:2] {
			if q := b.is(id, broker.Evicted); q.Payload != nil || q.Spent {
				b.Errorf("an evicted one keeps its payload, or is spent")
			}
			_, err := b.move(begin(id))
			b.lost(err, broker.Evicted)
		}
		b.is(made[2], broker.Pending)
		b.is(p.ID, broker.Pending)
	}},
	{"I10: evicts nothing of another principal", func(b *bench) {
		first := b.pending(eve, "a")
		b.pending(ada, "a")
		a, err := b.ledger.Add(b.Context(), b.proposal(ada, "b"), broker.AddOptions{Lifetime: lifetime, MaxPending: 1})
		if err != nil || len(a.Evicted) != 1 {
			b.Errorf("evicted %v, %v", ids(a.Evicted), err)
		}
		b.is(first, broker.Pending)
	}},
	{"evicts only what is pending", func(b *bench) {
		asking, sending := b.at(ada, "a", broker.Asking), b.at(ada, "b", broker.Sending)
		lapsed := b.pending(ada, "c")
		b.clock.pass(lifetime)
		pending := b.pending(ada, "d")
		a, err := b.ledger.Add(b.Context(), b.proposal(ada, "e"), broker.AddOptions{Lifetime: lifetime, MaxPending: 1})
		if err != nil || !slices.Equal(ids(a.Evicted), []broker.ID{pending}) {
			b.Errorf("evicted %v, %v", ids(a.Evicted), err)
		}
		b.is(asking, broker.Asking)
		b.is(sending, broker.Sending)
		b.is(lapsed, broker.Expired)
	}},
	{"drops an ended proposal 24 hours after its end, and nothing unresolved", func(b *bench) {
		sending, unknown := b.at(ada, "a", broker.Sending), b.at(ada, "b", broker.Unknown)
		withdrawn := b.pending(ada, "c")
		b.moved(step(withdrawn, broker.Pending, broker.Withdrawn))
		created := b.at(ada, "d", broker.Sending)
		b.clock.pass(lifetime)
		b.moved(step(created, broker.Sending, broker.Created))

		b.clock.pass(24*time.Hour - lifetime)
		b.pending(ada, "e")
		b.is(withdrawn, broker.Withdrawn)
		b.clock.pass(2 * time.Minute)
		lapsed := b.pending(ada, "f")
		b.gone(withdrawn)
		b.is(created, broker.Created)
		b.clock.pass(lifetime)
		b.pending(ada, "g")
		b.gone(created)
		b.is(lapsed, broker.Expired)

		b.clock.pass(1000 * time.Hour)
		b.pending(ada, "h")
		b.is(sending, broker.Sending)
		if p := b.is(unknown, broker.Unknown); p.Payload == nil {
			b.Error("I8: an unknown one lost its payload: a look could not compare any more")
		}
		b.gone(lapsed)
	}},
	{"I5: keeps a prompt nobody answered until 24 hours after its expiry, spent", func(b *bench) {
		asking := b.at(ada, "a", broker.Asking)
		b.clock.pass(23 * time.Hour)
		b.pending(ada, "b")
		if !b.is(asking, broker.Asking).Spent {
			b.Error("unspent")
		}
		b.clock.pass(26 * time.Hour)
		b.pending(ada, "c")
		b.gone(asking)
	}},
}

var listRules = []rule{
	{"gives the newest first, and no more than asked for", func(b *bench) {
		var made []broker.ID
		for range 3 {
			made = append(made, b.pending(ada, "a"))
			b.clock.pass(time.Second)
		}
		twin := b.proposal(ada, "a") // minted at the same instant: the id decides
		twin.MintedAt = b.load(made[2]).MintedAt
		b.add(twin)
		want := []broker.ID{twin.ID, made[2], made[1], made[0]}
		for _, limit := range []int{0, 1, 3, 100} {
			got, err := b.ledger.List(b.Context(), broker.Query{Limit: limit})
			n := len(want)
			if limit > 0 {
				n = min(n, limit)
			}
			if err != nil || !slices.Equal(ids(got), want[:n]) {
				b.Errorf("limit %d: %v, %v, want %v", limit, ids(got), err, want[:n])
			}
		}
	}},
	{"gives what matches every field of the query", func(b *bench) {
		mine, asking := b.pending(ada, "a"), b.at(ada, "b", broker.Asking)
		other := b.proposal(eve, "a")
		other.Account = "account-2"
		b.add(other)
		lapsed := b.proposal(eve, "c")
		if _, err := b.ledger.Add(b.Context(), lapsed, broker.AddOptions{Lifetime: time.Second, MaxPending: 20}); err != nil {
			b.Fatal(err)
		}
		b.clock.pass(time.Second)
		hash := b.load(mine).Hash
		for _, tc := range []struct {
			query string
			q     broker.Query
			want  []broker.ID
		}{
			{"everything", broker.Query{}, []broker.ID{lapsed.ID, other.ID, asking, mine}},
			{"I10: a principal's", broker.Query{Principal: ada}, []broker.ID{asking, mine}},
			{"nobody's", broker.Query{Principal: broker.Local}, nil},
			{"of a hash", broker.Query{Hash: hash}, []broker.ID{other.ID, mine}},
			{"of a hash and an account", broker.Query{Hash: hash, Account: account}, []broker.ID{mine}},
			{"of a twin", broker.Query{Twin: "twin of b"}, []broker.ID{asking}},
			{"in one of two states", broker.Query{States: []broker.State{broker.Asking, broker.Unknown}}, []broker.ID{asking}},
			{"pending, without what has expired", broker.Query{States: []broker.State{broker.Pending}}, []broker.ID{other.ID, mine}},
			{"expired, without a step that said so", broker.Query{States: []broker.State{broker.Expired}}, []broker.ID{lapsed.ID}},
		} {
			got, err := b.ledger.List(b.Context(), tc.q)
			if err != nil || !slices.Equal(ids(got), tc.want) {
				b.Errorf("%s: %v, %v, want %v", tc.query, ids(got), err, tc.want)
			}
		}
	}},
}

var moveRules = []rule{
	{"sets what the step says and leaves the rest", func(b *bench) {
		id := b.pending(ada, "a")
		b.clock.pass(time.Second)
		s := begin(id)
		s.AskUntil, s.Attention, s.ConfirmCode = b.clock.now().Add(time.Minute), []string{"look"}, "ABC234"
		p := b.moved(s).Proposal
		if p.State != broker.Asking || !p.Spent || !p.Since.Equal(b.clock.now()) || !p.AskUntil.Equal(s.AskUntil) ||
			p.Payload.ConfirmCode != "ABC234" || !slices.Equal(p.Payload.Attention, s.Attention) {
			b.Errorf("asking: %+v, %+v", p, p.Payload)
		}
		s.Attention[0] = "X"

		p = b.moved(approve(id)).Proposal
		if p.Answer == nil || p.Answer.Channel != "form" || !p.Spent || !p.AskUntil.Equal(s.AskUntil) ||
			!slices.Equal(p.Payload.Attention, []string{"look"}) {
			b.Errorf("approved: %+v, %+v", p, p.Payload)
		}
		s = send(id)
		s.SendBy = b.clock.now().Add(time.Minute)
		b.moved(s)
		s = step(id, broker.Sending, broker.Unknown)
		s.Result = &broker.Result{Outcome: broker.OutcomeUnknown, Detail: "no answer"}
		p = b.moved(s).Proposal
		if !p.SendBy.Equal(b.clock.now().Add(time.Minute)) || p.Result == nil || p.Result.Detail != "no answer" || p.Payload == nil {
			b.Errorf("unknown: %+v", p)
		}
		s = step(id, broker.Unknown, broker.Created)
		s.Code, s.Result = broker.ErrDryRunCreated, &broker.Result{
			Outcome: broker.OutcomeCreated, UUID: "u", Upstream: []broker.UpstreamError{{Code: "EQ-1"}},
		}
		b.moved(s)
		s.Result.Upstream[0].Code = "X"
		p = b.load(id)
		if p.Result.UUID != "u" || p.Result.Upstream[0].Code != "EQ-1" || p.Code != broker.ErrDryRunCreated || p.Answer.Channel != "form" {
			b.Errorf("created: %+v, %+v", p, p.Result)
		}
		if p.Payload != nil {
			b.Error("a settled one keeps its payload")
		}
	}},
	{"drops the payload at every end", func(b *bench) {
		for _, to := range []broker.State{
			broker.Declined, broker.Cancelled, broker.TimedOut, broker.Failed, broker.CallCancelled,
			broker.UnsupportedByClient, broker.Expired, broker.Withdrawn, broker.Superseded, broker.Stopped,
		} {
			if p := b.moved(step(b.at(ada, "a", broker.Asking), broker.Asking, to)).Proposal; p.Payload != nil || p.State != to {
				b.Errorf("%s keeps its payload", to)
			}
		}
		id := b.at(ada, "a", broker.Unknown)
		if b.moved(step(id, broker.Unknown, broker.Absent)).Proposal.Payload == nil {
			b.Error("an absent one lost its payload: the next look could not compare")
		}
	}},
	{"fails for a step that the transition table does not have", func(b *bench) {
		id := b.pending(ada, "a")
		for _, s := range []broker.Step{
			{ID: id, To: broker.Asking},
			step(id, broker.Pending, broker.Created),
			step(id, broker.Pending, broker.Pending),
			step(id, broker.Created, broker.Pending),
			step(id, broker.Unknown, broker.Sending),
			{ID: id, From: []broker.State{broker.Pending, broker.Approved}, To: broker.Withdrawn},
			step(id, broker.Pending, "nonsense"),
		} {
			_, err := b.move(s)
			if err == nil {
				b.Errorf("%v to %q: no error", s.From, s.To)
			}
			if _, ok := errors.AsType[*broker.LostError](err); ok {
				b.Errorf("%v to %q: a bug of the caller looks like a lost race", s.From, s.To)
			}
		}
		b.is(id, broker.Pending)
	}},
	{"tells who comes second what won, and changes nothing", func(b *bench) {
		id := b.at(ada, "a", broker.Asking)
		s := step(id, broker.Asking, broker.Declined)
		s.Answer = &broker.Answer{State: broker.Declined, Channel: "page"}
		b.moved(s)
		_, err := b.move(approve(id))
		if p := b.lost(err, broker.Declined); p.Answer.Channel != "page" {
			b.Errorf("answered by %q", p.Answer.Channel)
		}
		b.is(id, broker.Declined)
	}},
	{"I5: a second begin finds the token spent", func(b *bench) {
		id := b.at(ada, "a", broker.Asking)
		_, err := b.move(begin(id))
		if !b.lost(err, broker.Asking).Spent {
			b.Error("unspent")
		}
	}},
	{"I5: a withdrawn proposal was not spent", func(b *bench) {
		id := b.pending(ada, "a")
		b.moved(step(id, broker.Pending, broker.Withdrawn))
		_, err := b.move(begin(id))
		if b.lost(err, broker.Withdrawn).Spent {
			b.Error("spent")
		}
	}},
	{"takes the late answer to an unknown or absent one", func(b *bench) {
		for _, to := range []broker.State{broker.Created, broker.Rejected, broker.NotSent} {
			id := b.at(ada, "a", broker.Unknown)
			b.moved(step(id, broker.Unknown, broker.Absent))
			s := step(id, broker.Unknown, to)
			s.From = append(s.From, broker.Absent, broker.Sending)
			b.moved(s)
			b.is(id, to)
		}
	}},
}
