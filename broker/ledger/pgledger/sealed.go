package pgledger

import (
	"encoding/binary"
	"encoding/json"

	"fabricbroker/broker"
)

// The labels under which the keyring seals. A changed label makes everything
// sealed under it unreadable.
const (
	labelRow     = "ledger row"
	labelPayload = "ledger payload"
	labelOutcome = "ledger outcome"
	labelIntent  = "ledger intent"
	labelVerdict = "ledger verdict"
)

// outcome is what a proposal came to. The uuid of a service token is a secret,
// so it is sealed like the spec.
type outcome struct {
	Answer *broker.Answer
	Result *broker.Result
}

// bind names whose a sealed value is: it opens in no other row. Each field stands
// behind its length, so that no two lists are written alike.
func bind(fields ...string) []byte {
	var b []byte
	for _, s := range fields {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// sign authenticates what must not change. AES-GCM of nothing is a MAC over its
// additional data, and the keyring knows by its key id when it is stale.
func (l *Ledger) sign(r *row) { r.mac = l.keys.SealData(labelRow, nil, r.bound()) }

func (l *Ledger) authentic(r *row) bool {
	_, err := l.keys.OpenData(labelRow, r.mac, r.bound())
	return err == nil
}

func (l *Ledger) seal(label string, v any, of ...string) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return l.keys.SealData(label, b, bind(of...)), nil
}

func (l *Ledger) open(label string, sealed []byte, v any, of ...string) error {
	b, err := l.keys.OpenData(label, sealed, bind(of...))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func (l *Ledger) sealPayload(p broker.Proposal) ([]byte, error) {
	if p.Payload == nil {
		return nil, nil
	}
	return l.seal(labelPayload, p.Payload, string(p.ID), string(p.Hash))
}

func (l *Ledger) openPayload(r *row) (*broker.Payload, error) {
	if r.payload == nil {
		return nil, nil
	}
	var p broker.Payload
	if err := l.open(labelPayload, r.payload, &p, r.id, r.hash); err != nil {
		return nil, altered(r.id, "has a payload that does not open")
	}
	return &p, nil
}

func (l *Ledger) sealOutcome(p broker.Proposal) ([]byte, error) {
	if p.Answer == nil && p.Result == nil {
		return nil, nil
	}
	return l.seal(labelOutcome, outcome{p.Answer, p.Result}, string(p.ID), string(p.Hash))
}

func (l *Ledger) openOutcome(r *row) (*broker.Answer, *broker.Result, error) {
	if r.outcome == nil {
		return nil, nil, nil
	}
	var o outcome
	if err := l.open(labelOutcome, r.outcome, &o, r.id, r.hash); err != nil {
		return nil, nil, altered(r.id, "has an outcome that does not open")
	}
	return o.Answer, o.Result, nil
}
