package main

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger"
	"fabricbroker/broker/seal"
	"fabricbroker/fabric"
)

// Each secret opens what it sealed for as long as it is configured, and nothing
// else: tokens and states of an old one go on during a rotation; those of a wrong
// one, and of none, are unknown and spend nothing (I5).
func TestHTTPTokensOfOtherSecrets(t *testing.T) {
	key := func() seal.Key {
		k, err := seal.ParseSecret(seal.Generate())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	old, current, wrong := key(), key(), key()
	for name, row := range map[string]struct {
		mints *seal.Keyring
		opens bool
	}{
		"an old secret":  {ring(t, old), true},
		"a newer secret": {ring(t, current, old), true},
		"a wrong secret": {ring(t, wrong), false},
		"no secret":      {seal.Ephemeral(), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			there := w.replica(func(p *parts) { p.keyring = row.mints }).peer("alice", modern, canAsk)
			here := w.replica(func(p *parts) { p.keyring = ring(t, current, old) }).peer("alice", modern, canAsk)
			confirmedHere, askedThere := there.propose(connectionSpec("dc-aws-01", 1017)), there.propose(connectionSpec("dc-aws-02", 1018))
			q := there.ask(askedThere)
			if row.opens {
				createdAfter("accepted").check(t, here.ask(confirmedHere).answer(saysYes))
				createdAfter("accepted").check(t, here.retry(q.token, q.state, `{"confirm":`+saysYes+`}`).wait().structured(t))
				w.wantCreates(2)
				return
			}
			refused("token_unknown", "none", "-----").check(t, here.confirm(confirmedHere))
			own := here.propose(connectionSpec("dc-aws-03", 1019))
			if m := here.retry(own["confirm_token"], q.state, `{"confirm":`+saysYes+`}`).wait(); m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("a state that does not open, with a token that does: %v %v", m.Error, m.Result)
			}
			for _, p := range []object{confirmedHere, own} {
				if s := here.status(p)["state"]; s != "pending" {
					t.Errorf("spent: %v", s)
				}
			}
			w.wantCreates(0)
			createdAfter("accepted").check(t, there.ask(confirmedHere).answer(saysYes))
			w.wantCreates(1)
		})
	}
}

func ring(t *testing.T, keys ...seal.Key) *seal.Keyring {
	t.Helper()
	r, err := seal.New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// I6: replicas whose clocks are an hour apart are one server: what one proposes,
// another asks about and a third sends. Nobody's clock but the database's ends
// anything, and that does.
func TestHTTPReplicasWithClocksAnHourApart(t *testing.T) {
	t.Parallel()
	pg := newPostgres(t)
	w := newWorld(t)
	at := func(off, ttl time.Duration) *peer {
		return w.replica(func(p *parts) {
			p.now = func() time.Time { return time.Now().Add(off) }
			o := w.options
			o.Now = p.now
			var err error
			if p.api, err = fabric.New(o); err != nil {
				t.Fatal(err)
			}
			l, err := pgledger.Open(t.Context(), pgledger.Options{
				DSN: broker.NewSecret(pg.DSN("public")), Keyring: p.keyring, Now: p.now, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(l.Close)
			p.options.Ledger, p.options.Intents, p.options.Halt, p.options.TTL = l, l.Intents(), l.Halt(), ttl
		}).peer("alice", modern, canAsk)
	}
	clocks := []time.Duration{-time.Hour, 0, time.Hour}
	var all []*peer
	for _, off := range clocks {
		all = append(all, at(off, 0))
	}
	n := 0
	for i := range all {
		proposer, asker, sender := all[i], all[(i+1)%3], all[(i+2)%3]
		for _, path := range [][3]*peer{{proposer, asker, sender}, {proposer, sender, asker}} {
			n++
			q := path[1].ask(path[0].propose(connectionSpec(fmt.Sprint("dc-aws-", n), 1000+n)))
			createdAfter("accepted").check(t, path[2].retry(q.token, q.state, `{"confirm":`+saysYes+`}`).wait().structured(t))
		}
	}
	w.wantCreates(n)
	for i, off := range clocks {
		short := at(off, time.Second)
		proposed := short.propose(connectionSpec("dc-aws-99", 1099+i))
		other := all[(i+1)%3]
		eventually(t, "it expires", func() bool { return other.status(proposed)["state"] == "expired" })
		if got := other.confirm(proposed); got.at("error.code") != "token_expired" {
			t.Errorf("after its end: %v", got)
		}
	}
	w.wantCreates(n)
}
