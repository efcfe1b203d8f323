package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fabricbroker/broker"
)

var askingRules = []rule{
	{"I12: asking supersedes the principal's equal question, and that one alone", func(b *bench) {
		first, other := b.at(ada, "a", broker.Asking), b.at(ada, "b", broker.Asking)
		theirs, waiting, approved := b.at(eve, "a", broker.Asking), b.pending(ada, "a"), b.at(ada, "c", broker.Approved)
		elsewhere := b.proposal(ada, "a")
		elsewhere.Account = "account-2"
		b.add(elsewhere)
		b.moved(begin(elsewhere.ID))

		second := b.pending(ada, "a")
		m := b.moved(begin(second))
		if got := ids(m.Superseded); !slices.Equal(got, []broker.ID{first}) {
			b.Errorf("superseded %v, want %v", got, first)
		}
		if p := b.is(first, broker.Superseded); p.Payload != nil || !p.Spent {
			b.Error("a superseded one keeps its payload, or is unspent")
		}
		for id, want := range map[broker.ID]broker.State{
			second: broker.Asking, other: broker.Asking, theirs: broker.Asking, elsewhere.ID: broker.Asking,
			waiting: broker.Pending, approved: broker.Approved,
		} {
			b.is(id, want)
		}
		_, err := b.move(approve(first))
		b.lost(err, broker.Superseded)
	}},
	{"bounds the questions that wait for one principal, and spends nothing", func(b *bench) {
		var waiting []broker.ID
		for i := range 5 {
			waiting = append(waiting, b.at(ada, fmt.Sprint(i), broker.Asking))
		}
		id := b.pending(ada, "one more")
		_, err := b.move(begin(id))
		b.refused(err, broker.ErrRateLimited)
		if b.is(id, broker.Pending).Spent {
			b.Error("spent")
		}
		b.at(eve, "hers", broker.Asking)

		b.moved(step(waiting[0], broker.Asking, broker.Declined))
		b.moved(begin(id))
	}},
	{"counts no question that the new one takes the place of", func(b *bench) {
		for i := range 5 {
			b.at(ada, fmt.Sprint(i), broker.Asking)
		}
		if m := b.moved(begin(b.pending(ada, "3"))); len(m.Superseded) != 1 {
			b.Errorf("superseded %v", ids(m.Superseded))
		}
	}},
	{"supersedes nothing when it refuses", func(b *bench) {
		equal := b.at(ada, "a", broker.Asking)
		b.at(ada, "b", broker.Asking)
		s := begin(b.pending(ada, "a"))
		s.MaxAsking = 1
		_, err := b.move(s)
		b.refused(err, broker.ErrRateLimited)
		b.is(equal, broker.Asking)
	}},
	{"counts no question whose time to answer is over", func(b *bench) {
		for i := range 5 {
			s := begin(b.pending(ada, fmt.Sprint(i)))
			s.AskUntil = b.clock.now().Add(time.Minute)
			b.moved(s)
		}
		id := b.pending(ada, "one more")
		b.clock.pass(time.Minute - time.Second)
		_, err := b.move(begin(id))
		b.refused(err, broker.ErrRateLimited)
		b.clock.pass(time.Second)
		b.moved(begin(id))
	}},
}

var sendingRules = []rule{
	{"I12: an equal request waits until the unresolved one is resolved, for any principal", func(b *bench) {
		for _, state := range []broker.State{broker.Sending, broker.Unknown} {
			first := b.at(ada, string(state), state)
			for _, who := range []broker.Principal{ada, eve} {
				second := b.at(who, string(state), broker.Approved)
				_, err := b.move(send(second))
				b.refused(err, broker.ErrSameRequestUnresolved)
				b.is(second, broker.Approved)
			}
			b.moved(step(first, state, broker.Created))
			b.moved(send(b.at(eve, string(state), broker.Approved)))
		}
	}},
	{"I12: an absent one holds up nobody", func(b *bench) {
		id := b.at(ada, "a", broker.Unknown)
		b.moved(step(id, broker.Unknown, broker.Absent))
		b.moved(send(b.at(ada, "a", broker.Approved)))
		// The look that comes late must not free what the second one holds.
		b.moved(step(id, broker.Absent, broker.Created))
		_, err := b.move(send(b.at(eve, "a", broker.Approved)))
		b.refused(err, broker.ErrSameRequestUnresolved)
	}},
	{"I12: other hashes and other accounts do not wait", func(b *bench) {
		b.at(ada, "a", broker.Sending)
		b.moved(send(b.at(ada, "b", broker.Approved)))
		p := b.proposal(ada, "a")
		p.Account = "account-2"
		b.add(p)
		b.moved(begin(p.ID))
		b.moved(approve(p.ID))
		b.moved(send(p.ID))
	}},
	{"I8: an unresolved one holds its equal for as long as it takes", func(b *bench) {
		b.at(ada, "a", broker.Unknown)
		b.clock.pass(1000 * time.Hour)
		_, err := b.move(send(b.at(ada, "a", broker.Approved)))
		b.refused(err, broker.ErrSameRequestUnresolved)
	}},
	{"sends no more creates in 24 hours than the step allows", func(b *bench) {
		try := func(name string, most int) error {
			s := send(b.at(ada, name, broker.Approved))
			s.MaxCreates = most
			_, err := b.move(s)
			return err
		}
		for i := range 2 {
			if err := try(fmt.Sprint(i), 3); err != nil {
				b.Fatal(err)
			}
			b.clock.pass(time.Hour)
		}
		// A refused step is not counted, nor one that bounds nothing.
		same := send(b.at(ada, "0", broker.Approved))
		same.MaxCreates = 3
		_, err := b.move(same)
		b.refused(err, broker.ErrSameRequestUnresolved)
		if err := try("a gated call", 0); err != nil {
			b.Fatal(err)
		}
		if err := try("third", 3); err != nil {
			b.Fatal(err)
		}
		b.refused(try("fourth", 3), broker.ErrDailyCeiling)
		b.clock.pass(22*time.Hour - time.Second)
		b.refused(try("still the fourth", 3), broker.ErrDailyCeiling)
		b.clock.pass(time.Second) // the first one was 24 hours ago
		if err := try("a day later", 3); err != nil {
			b.Fatal(err)
		}
		b.refused(try("and one more", 3), broker.ErrDailyCeiling)
	}},
	{"a create that did not come to anything counts all the same", func(b *bench) {
		id := b.at(ada, "a", broker.Sending)
		b.moved(step(id, broker.Sending, broker.Rejected))
		s := send(b.at(ada, "b", broker.Approved))
		s.MaxCreates = 1
		_, err := b.move(s)
		b.refused(err, broker.ErrDailyCeiling)
	}},
}

// racers is how many goroutines make one step.
const racers = 8

// race runs f in racers goroutines at once and returns their errors.
func race(f func(i int) error) []error {
	var wg sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, racers)
	for i := range racers {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func winners(errs []error) (n int) {
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	return n
}

var raceRules = []rule{
	{"I5: of many begins one wins, and the others learn it", func(b *bench) {
		id := b.pending(ada, "a")
		errs := race(func(int) error { _, err := b.move(begin(id)); return err })
		if n := winners(errs); n != 1 {
			b.Errorf("%d winners", n)
		}
		for _, err := range errs {
			if err != nil {
				b.lost(err, broker.Asking)
			}
		}
	}},
	{"the first answer wins", func(b *bench) {
		id := b.at(ada, "a", broker.Asking)
		ends := []broker.State{broker.Approved, broker.Declined, broker.Cancelled, broker.Withdrawn}
		errs := race(func(i int) error { _, err := b.move(step(id, broker.Asking, ends[i%len(ends)])); return err })
		if n := winners(errs); n != 1 {
			b.Fatalf("%d winners", n)
		}
		won := b.load(id).State
		for i, err := range errs {
			if err != nil {
				b.lost(err, won)
			} else if ends[i%len(ends)] != won {
				b.Errorf("%s won and %s is recorded", ends[i%len(ends)], won)
			}
		}
	}},
	{"I2: of many sends of one proposal one wins", func(b *bench) {
		id := b.at(ada, "a", broker.Approved)
		errs := race(func(int) error { _, err := b.move(send(id)); return err })
		if n := winners(errs); n != 1 {
			b.Errorf("%d winners", n)
		}
		for _, err := range errs {
			if err != nil {
				b.lost(err, broker.Sending)
			}
		}
	}},
	{"I12: of many equal proposals one is sent", func(b *bench) {
		var made []broker.ID
		for i := range racers {
			who := ada
			who.Subject = fmt.Sprint(i)
			made = append(made, b.at(who, "a", broker.Approved))
		}
		errs := race(func(i int) error { _, err := b.move(send(made[i])); return err })
		if n := winners(errs); n != 1 {
			b.Errorf("%d winners", n)
		}
		for _, err := range errs {
			if err != nil {
				b.refused(err, broker.ErrSameRequestUnresolved)
			}
		}
	}},
	{"of many creates no more are sent than the ceiling allows", func(b *bench) {
		var made []broker.ID
		for i := range racers {
			who := ada
			who.Subject = fmt.Sprint(i)
			made = append(made, b.at(who, fmt.Sprint(i), broker.Approved))
		}
		errs := race(func(i int) error {
			s := send(made[i])
			s.MaxCreates = 3
			_, err := b.move(s)
			return err
		})
		if n := winners(errs); n != 3 {
			b.Errorf("%d winners", n)
		}
		for _, err := range errs {
			if err != nil {
				b.refused(err, broker.ErrDailyCeiling)
			}
		}
	}},
	{"I12: of one principal's equal questions one is left", func(b *bench) {
		var made []broker.ID
		for range racers {
			made = append(made, b.pending(ada, "a"))
		}
		errs := race(func(i int) error { _, err := b.move(begin(made[i])); return err })
		if err := errors.Join(errs...); err != nil {
			b.Fatal(err)
		}
		asking, err := b.ledger.List(b.Context(), broker.Query{Principal: ada, States: []broker.State{broker.Asking}})
		if err != nil || len(asking) != 1 {
			b.Errorf("asking %v, %v", ids(asking), err)
		}
	}},
	{"adding never leaves more pending than allowed", func(b *bench) {
		var made []broker.Proposal
		for range racers {
			made = append(made, b.proposal(ada, "a"))
		}
		errs := race(func(i int) error {
			_, err := b.ledger.Add(b.Context(), made[i], broker.AddOptions{Lifetime: lifetime, MaxPending: 2})
			return err
		})
		if err := errors.Join(errs...); err != nil {
			b.Fatal(err)
		}
		pending, err := b.ledger.List(b.Context(), broker.Query{States: []broker.State{broker.Pending}})
		if err != nil || len(pending) != 2 {
			b.Errorf("pending %v, %v", ids(pending), err)
		}
	}},
}
