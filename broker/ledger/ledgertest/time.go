package ledgertest

import (
	"time"

	"fabricbroker/broker"
)

var expiryRules = []rule{
	{"I6: counts the lifetime from Add, by the ledger's clock", func(b *bench) {
		p := b.proposal(ada, "a")
		p.MintedAt = b.clock.now().Add(-time.Hour)
		b.add(p)
		b.clock.pass(lifetime - time.Second)
		b.is(p.ID, broker.Pending)
		b.clock.pass(time.Second)
		q := b.is(p.ID, broker.Expired)
		if !q.Since.Equal(q.ExpiresAt) || q.Spent || q.Payload != nil {
			b.Errorf("%+v", q)
		}
	}},
	{"shows the instant of the expiry, however late anybody looks", func(b *bench) {
		id := b.pending(ada, "a")
		b.clock.pass(time.Hour)
		if p := b.is(id, broker.Expired); !p.Since.Equal(p.ExpiresAt) {
			b.Errorf("expired since %s, want %s", p.Since, p.ExpiresAt)
		}
	}},
	{"I5: a begin after the expiry is refused and spends the token", func(b *bench) {
		for what, look := range map[string]func(broker.ID){
			"nobody looked before": func(broker.ID) {},
			"somebody had looked":  func(id broker.ID) { b.is(id, broker.Expired) },
		} {
			id := b.pending(ada, "a")
			b.clock.pass(lifetime)
			look(id)
			_, err := b.move(begin(id))
			b.refused(err, broker.ErrTokenExpired)
			if !b.is(id, broker.Expired).Spent {
				b.Errorf("%s: unspent", what)
			}
			_, err = b.move(begin(id))
			if !b.lost(err, broker.Expired).Spent {
				b.Errorf("%s: the second confirm is no replay", what)
			}
		}
	}},
	{"a withdrawal after the expiry comes too late and spends nothing", func(b *bench) {
		id := b.pending(ada, "a")
		b.clock.pass(lifetime)
		_, err := b.move(step(id, broker.Pending, broker.Withdrawn))
		if b.lost(err, broker.Expired).Spent {
			b.Error("spent")
		}
	}},
	{"I6: an approval after the expiry is refused, and the question still stands", func(b *bench) {
		id := b.at(ada, "a", broker.Asking)
		b.clock.pass(lifetime)
		_, err := b.move(approve(id))
		b.refused(err, broker.ErrTokenExpired)
		if p := b.is(id, broker.Asking); p.Answer != nil {
			b.Error("an answer was set by a step that was refused")
		}
		b.moved(step(id, broker.Asking, broker.Expired))
	}},
	{"I6: nothing is sent after the expiry, whatever the step says", func(b *bench) {
		id := b.at(ada, "a", broker.Approved)
		b.clock.pass(lifetime)
		s := send(id)
		for _, s.Unexpired = range []bool{true, false} {
			_, err := b.move(s)
			b.refused(err, broker.ErrTokenExpired)
		}
		b.is(id, broker.Approved)
		b.moved(step(id, broker.Approved, broker.Expired))
	}},
	{"I6: asking again never moves the expiry", func(b *bench) {
		id := b.pending(ada, "a")
		want := b.load(id).ExpiresAt
		b.clock.pass(time.Minute)
		s := begin(id)
		s.AskUntil = b.clock.now().Add(time.Hour)
		b.moved(s)
		if got := b.load(id).ExpiresAt; !got.Equal(want) {
			b.Errorf("expires at %s, want %s", got, want)
		}
	}},
	{"I8: an outcome is recorded however late it comes", func(b *bench) {
		sending, unknown := b.at(ada, "a", broker.Sending), b.at(ada, "b", broker.Unknown)
		b.clock.pass(100 * time.Hour)
		b.moved(step(sending, broker.Sending, broker.Created))
		b.moved(step(unknown, broker.Unknown, broker.Absent))
	}},
	{"a lifetime that is over expires at once", func(b *bench) {
		p := b.proposal(ada, "a")
		if _, err := b.ledger.Add(b.Context(), p, broker.AddOptions{Lifetime: 0, MaxPending: 20}); err != nil {
			b.Fatal(err)
		}
		_, err := b.move(begin(p.ID))
		b.refused(err, broker.ErrTokenExpired)
	}},
}
