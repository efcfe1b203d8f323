package pgledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"fabricbroker/broker"
)

// I6: replicas whose clocks are an hour apart agree on every deadline.
func TestReplicasWithOtherClocks(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	off := func(d time.Duration) *Ledger {
		return open(t, s.DSN(schema), func(o *Options) { o.Now = func() time.Time { return time.Now().Add(d) } })
	}
	behind, right, ahead := off(-time.Hour), open(t, s.DSN(schema)), off(time.Hour)
	near := func(what string, got, want time.Time) {
		t.Helper()
		if d := got.Sub(want).Abs(); d > 5*time.Second {
			t.Errorf("%s is %s off", what, d)
		}
	}
	p := proposal(ada, "a")
	p.MintedAt = behind.now()
	add(t, behind, p)
	for _, l := range []*Ledger{behind, right, ahead} {
		got := load(t, l, p.ID)
		near("minted at", got.MintedAt, l.now())
		near("since", got.Since, l.now())
		near("expires at", got.ExpiresAt, l.now().Add(10*time.Minute))
	}
	ask := step(p.ID, broker.Pending, broker.Asking)
	ask.AskUntil = ahead.now().Add(5 * time.Minute)
	mustMove(t, ahead, ask)
	near("ask until", load(t, behind, p.ID).AskUntil, behind.now().Add(5*time.Minute))
	mustMove(t, behind, step(p.ID, broker.Asking, broker.Approved))
	send := step(p.ID, broker.Approved, broker.Sending)
	send.SendBy = behind.now().Add(time.Minute)
	i := intent(p)
	i.ClaimedAt, i.SendBy = behind.now(), send.SendBy
	if err := behind.Intents().Claim(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	mustMove(t, behind, send)
	for _, l := range []*Ledger{behind, right, ahead} {
		if got, err := l.Intents().Adopt(t.Context(), i); got || err != nil {
			t.Errorf("a create under way was taken over: %v", err)
		}
		list, err := l.Intents().List(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		near("send by", list[0].SendBy, l.now().Add(time.Minute))
		near("claimed at", list[0].ClaimedAt, l.now())
	}
	short := proposal(ada, "short")
	if _, err := behind.Add(t.Context(), short, broker.AddOptions{Lifetime: time.Millisecond, MaxPending: 20}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond) // the database's real clock decides: it cannot be moved here
	if _, err := behind.Move(t.Context(), step(short.ID, broker.Pending, broker.Asking)); !errors.Is(err, broker.ErrTokenExpired) {
		t.Errorf("got %v", err)
	}
	if err := ahead.Lockout().Set(t.Context(), "k", ahead.now().Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	until, err := behind.Lockout().Until(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	near("lockout", until, behind.now().Add(30*time.Minute))
}

func TestLockout(t *testing.T) {
	s := sharedServer(t)
	p := newProxy(t, s)
	schema := s.schema(t)
	one, two := open(t, s.DSN(schema)).Lockout(), open(t, p.dsn(s, schema)).Lockout()
	until := func(o *Lockout, key string) time.Time {
		t.Helper()
		u, err := o.Until(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if !until(one, "k").IsZero() {
		t.Error("locked from the start")
	}
	want := time.Now().Add(30 * time.Minute)
	if err := one.Set(t.Context(), "k", want); err != nil {
		t.Fatal(err)
	}
	if err := two.Set(t.Context(), "k", time.Now()); err != nil { // a later time stays
		t.Fatal(err)
	}
	for _, o := range []*Lockout{one, two} {
		if d := until(o, "k").Sub(want).Abs(); d > 2*time.Second {
			t.Errorf("%s off", d)
		}
	}
	if !until(two, "other").IsZero() {
		t.Error("another key is locked")
	}
	t.Run("one replica logs in at a time", func(t *testing.T) {
		release, err := one.Hold(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := two.Hold(ctx, "k"); err == nil {
			t.Error("two at once")
		}
		go func() { time.Sleep(100 * time.Millisecond); release() }()
		release, err = two.Hold(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
	t.Run("a replica goes by what it saw itself while the database is away", func(t *testing.T) {
		p.silence(true)
		if err := two.Set(t.Context(), "mine", want); err == nil {
			t.Error("no error")
		}
		if until(two, "mine") != want || !until(two, "theirs").IsZero() {
			t.Error("it does not")
		}
		release, err := two.Hold(t.Context(), "mine")
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
}
