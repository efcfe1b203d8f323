package pgledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
)

func TestARowAlteredByHandIsNotBelieved(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	l := open(t, s.DSN(schema))
	other := proposal(ada, "other")
	at(t, l, other, broker.Asking)
	for _, set := range []string{
		`principal = '["jwt","https://issuer.example","t1","eve"]'`, `account = 'account-2'`, `hash = repeat('0', 64)`,
		`change_type = 'network_create'`, `twin = 'x'`, `minted_at = minted_at + interval '1 second'`,
		`expires_at = expires_at + interval '1 hour'`, `cluster = 'x'`, `facts = replace(facts, '"a"', '"b"')`, `mac = '\x00'`,
		`payload = substr(payload, 2)`, `payload = (SELECT payload FROM proposals WHERE id = '` + string(other.ID) + `')`,
		`outcome = payload`, `id = 'mine'`,
	} {
		t.Run(set, func(t *testing.T) {
			p := proposal(ada, "a")
			at(t, l, p, broker.Asking)
			s.exec(t, schema, `UPDATE proposals SET `+set+` WHERE id = $1`, string(p.ID))
			if set == "id = 'mine'" {
				p.ID = "mine"
			}
			_, err := l.Load(t.Context(), p.ID)
			_, listed := l.List(t.Context(), broker.Query{States: []broker.State{broker.Asking}})
			_, moved := l.Move(t.Context(), step(p.ID, broker.Asking, broker.Approved))
			for what, err := range map[string]error{"load": err, "list": listed, "move": moved} {
				if !errors.Is(err, broker.ErrLedgerUnavailable) || !strings.Contains(err.Error(), "altered by hand") {
					t.Errorf("%s: got %v", what, err)
				}
			}
			s.exec(t, schema, `DELETE FROM proposals WHERE id = $1`, string(p.ID))
		})
	}
	if got := value[string](t, s, schema, `SELECT state FROM proposals`); got != string(broker.Asking) {
		t.Error(got)
	}
}

// I9: nothing that is a secret stands in the database as it is.
func TestI9NothingSecretIsReadable(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	l := open(t, s.DSN(schema))
	p := proposal(ada, "a")
	p.ChangeType = broker.ServiceTokenCreate
	at(t, l, p, broker.Approved)
	if err := l.Intents().Claim(t.Context(), intent(p)); err != nil {
		t.Fatal(err)
	}
	mustMove(t, l, step(p.ID, broker.Approved, broker.Sending))
	mustMove(t, l, step(p.ID, broker.Sending, broker.Unknown))
	if err := l.Intents().Judge(t.Context(), p.ID, broker.Verdict{UUID: "token-uuid"}); err != nil {
		t.Fatal(err)
	}
	look := func(want bool) {
		t.Helper()
		all := value[string](t, s, schema, `SELECT string_agg(p::text, ' ') || (SELECT string_agg(i::text, ' ') FROM intents i) FROM proposals p`)
		for _, secret := range []string{"spec-secret", "ABC234", "token-uuid", `{"name"`} {
			if strings.Contains(all, secret) || strings.Contains(all, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s is there", secret)
			}
		}
		if got := value[bool](t, s, schema, `SELECT payload IS NOT NULL FROM proposals`); got != want {
			t.Errorf("payload kept: %t", got)
		}
	}
	look(true)
	done := step(p.ID, broker.Unknown, broker.Created)
	done.Result = &broker.Result{Outcome: broker.OutcomeCreated, UUID: "token-uuid"}
	mustMove(t, l, done)
	look(false)
	if got := load(t, l, p.ID).Result.UUID; got != "token-uuid" {
		t.Error(got)
	}
}

func TestSecretsRotateInThreeSteps(t *testing.T) {
	s := sharedServer(t)
	schema := s.schema(t)
	old, fresh := seal.Generate(), seal.Generate()
	with := func(secrets ...string) *Ledger {
		keys, err := seal.ParseSecrets(strings.Join(secrets, ","))
		if err != nil {
			t.Fatal(err)
		}
		k, err := seal.New(keys)
		if err != nil {
			t.Fatal(err)
		}
		return open(t, s.DSN(schema), func(o *Options) { o.Keyring = k })
	}
	stale := func(l *Ledger, want int) {
		t.Helper()
		if n, err := l.Stale(t.Context()); n != want || err != nil {
			t.Errorf("%d are stale, want %d, %v", n, want, err)
		}
	}
	first := with(old)
	var ids []broker.ID
	for i := range 2*resealBatch + 5 {
		p := proposal(broker.Principal{Kind: "jwt", Subject: fmt.Sprint(i)}, fmt.Sprint(i))
		add(t, first, p)
		ids = append(ids, p.ID)
	}
	lost := proposal(ada, "lost")
	at(t, first, lost, broker.Approved)
	if err := first.Intents().Claim(t.Context(), intent(lost)); err != nil {
		t.Fatal(err)
	}
	mustMove(t, first, step(lost.ID, broker.Approved, broker.Sending))
	mustMove(t, first, step(lost.ID, broker.Sending, broker.Unknown))
	if err := first.Intents().Judge(t.Context(), lost.ID, broker.Verdict{Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	stale(first, 0)
	stale(with(old, fresh), 0)
	second := with(fresh, old)
	stale(second, len(ids)+2)
	if n, err := second.Reseal(t.Context()); n != len(ids)+2 || err != nil {
		t.Errorf("sealed %d anew, %v", n, err)
	}
	stale(second, 0)
	if n, err := second.Reseal(t.Context()); n != 0 || err != nil {
		t.Errorf("sealed %d anew, %v", n, err)
	}
	third := with(fresh)
	stale(third, 0)
	for _, id := range ids {
		if p := load(t, third, id); p.Payload == nil {
			t.Error("no payload")
		}
	}
	if list, err := third.Intents().List(t.Context()); err != nil || len(list) != 1 || list[0].Verdict == nil {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := first.Load(t.Context(), ids[0]); !errors.Is(err, broker.ErrLedgerUnavailable) {
		t.Errorf("the old secret alone: %v", err)
	}
}

func TestErrorsHideTheDSN(t *testing.T) {
	for _, dsn := range []string{
		"", "postgres://ledger:hunter2@127.0.0.1:1/x", "postgres://ledger:hunter2@127.0.0.1:notaport/x", "postgres://ledger:hunter2 @[",
		"host=127.0.0.1 port=1 user=ledger password=hunter2", "password=hunter2 sslmode=maybe", "hunter2", "postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=hunter2",
	} {
		var log bytes.Buffer
		_, err := Open(t.Context(), Options{DSN: broker.NewSecret(dsn), Keyring: keyring, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err == nil {
			t.Fatal("no error")
		}
		if all := fmt.Sprintf("%v %+v %#v %s", err, err, err, &log); strings.Contains(all, "hunter2") {
			t.Errorf("%q: %s", dsn, all)
		}
		if !strings.Contains(err.Error(), "EQUINIX_MCP_LEDGER_DSN") {
			t.Errorf("no fix: %v", err)
		}
	}
	if _, err := Open(t.Context(), Options{DSN: broker.NewSecret("postgres://x")}); err == nil {
		t.Error("opened without a keyring")
	}
}

func TestFull(t *testing.T) {
	s := sharedServer(t)
	l := open(t, s.DSN(s.schema(t)), func(o *Options) { o.MaxAll = 3 })
	for i := range 5 { // what has ended does not count
		mustMove(t, l, step(add(t, l, proposal(ada, fmt.Sprint(i))), broker.Pending, broker.Withdrawn))
	}
	for i := range 3 {
		add(t, l, proposal(ada, fmt.Sprint(i)))
	}
	if _, err := l.Add(t.Context(), proposal(ada, "x"), broker.AddOptions{Lifetime: time.Minute, MaxPending: 1}); !errors.Is(err, broker.ErrRateLimited) {
		t.Errorf("got %v", err)
	}
	pending, unknown, err := l.Counts(t.Context())
	if pending != 3 || unknown != 0 || err != nil {
		t.Errorf("%d pending, %d unknown, %v", pending, unknown, err)
	}
}
