package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are a Broker's parts and limits. The parts are required but for
// Recorder, Log, Now and Uptime; zero limits take their defaults.
type Options struct {
	Provider Provider
	Quoter   Quoter
	Ledger   Ledger
	Tokens   Tokens
	Intents  Intents
	Halt     Halt
	// Recorder is told of everything; nil records nothing.
	Recorder Recorder
	Account  Account

	// ConfirmTool is the tool whose call spends a confirm token.
	ConfirmTool string

	TTL           time.Duration // a proposal's life, 10 minutes
	AskTimeout    time.Duration // how long a person is asked, 5 minutes
	CreateTimeout time.Duration // the create's own deadline, 60 s
	MaxPending    int           // a principal's pending proposals, 20
	MaxCreates    int           // creates in 24 hours, 20

	// Preview is true while nothing may be created.
	Preview bool
	// AllowUnconfirmed is the operator's opt-in for clients that cannot ask
	// (I3). It never turns a no, or a prompt that failed, into a yes.
	AllowUnconfirmed bool
	// Recheck has the dry run and the price asked again before the create.
	Recheck bool
	// CodeMode says when a confirm code is asked; "" is CodeAuto.
	CodeMode CodeMode
	// NewCode makes a confirm code.
	NewCode func() string

	// Restore puts proposals of an earlier process into the ledger; nil where the
	// ledger outlives its processes.
	Restore func(Proposal)
	// Told returns the proposals of every process, as far as something happened
	// to them since; nil where the ledger has them all.
	Told func(since time.Time) []Proposal

	Now func() time.Time
	// Uptime is a clock that nobody sets: how long the process has run.
	Uptime func() time.Duration
	NewID  func() ID
	Log    *slog.Logger
}

// Broker runs the confirm flow. It is safe for concurrent use.
type Broker struct {
	o      Options
	limits limits
	waits  waits
	looks  looks
	claims claims
	work   inflight
	// unrecorded are outcomes that are not on record yet.
	unrecorded inflight
}

// New returns a Broker. It panics when a required part is missing: that is a
// bug of the caller and must not wait for the first create.
func New(o Options) *Broker {
	for name, missing := range map[string]bool{
		"Provider": o.Provider == nil, "Quoter": o.Quoter == nil,
		"Ledger": o.Ledger == nil, "Tokens": o.Tokens == nil,
		"Intents": o.Intents == nil, "Halt": o.Halt == nil,
		"NewID": o.NewID == nil, "ConfirmTool": o.ConfirmTool == "",
		"NewCode": o.NewCode == nil,
	} {
		if missing {
			panic("broker: New without " + name)
		}
	}
	if o.Recorder == nil {
		o.Recorder = discard{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Uptime == nil {
		began := time.Now()
		o.Uptime = func() time.Duration { return time.Since(began) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	setDefault(&o.TTL, 10*time.Minute)
	setDefault(&o.AskTimeout, 5*time.Minute)
	setDefault(&o.CreateTimeout, time.Minute)
	setDefault(&o.MaxPending, 20)
	setDefault(&o.MaxCreates, 20)
	return &Broker{o: o}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Account returns the account that approved requests bill.
func (b *Broker) Account() Account { return b.o.Account }

// AskTimeout returns how long a person is asked.
func (b *Broker) AskTimeout() time.Duration { return b.o.AskTimeout }

// Preview reports whether nothing may be created.
func (b *Broker) Preview() bool { return b.o.Preview }

// AllowUnconfirmed reports the operator's opt-in for clients that cannot ask.
func (b *Broker) AllowUnconfirmed() bool { return b.o.AllowUnconfirmed }

// Hold keeps Drain waiting until the returned function is called: for a channel
// whose answer must still be recorded.
func (b *Broker) Hold() (release func()) { return b.work.enter() }

// recordGrace is how long Drain waits for a record that cannot be made. The
// intent stays, where there still is a place for it, and the log has the uuid.
const recordGrace = 15 * time.Second

// Drain waits until every create in flight is finished and recorded, or until
// ctx ends. Call it before the process exits.
func (b *Broker) Drain(ctx context.Context) error {
	if err := b.work.wait(ctx); err != nil {
		return fmt.Errorf("broker: a create was still in flight: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, recordGrace)
	defer cancel()
	if err := b.unrecorded.wait(ctx); err != nil {
		return fmt.Errorf("broker: an outcome could not be put on record; the log has it, with its uuid: %w", err)
	}
	return nil
}

// record tells the Recorder, and turns its failure into a refusal.
func (b *Broker) record(ctx context.Context, k EventKind, p Proposal, c Caller, code Code) error {
	e := Event{Time: b.now(), Kind: k, Proposal: p, Caller: c, Code: code}
	if err := b.o.Recorder.Record(ctx, e); err != nil {
		b.o.Log.ErrorContext(ctx, "event not recorded", "event", k, "proposal", p.ID, "err", err)
		return Refuse(ErrAuditUnavailable, "nothing was sent; free the state directory's disk, then propose again",
			"the %s event could not be recorded", k)
	}
	return nil
}

// note tells the Recorder of something that has already happened: a failure is
// logged and stops nothing.
func (b *Broker) note(ctx context.Context, k EventKind, p Proposal, c Caller, code Code) {
	_ = b.record(context.WithoutCancel(ctx), k, p, c, code)
}

// halted returns a refusal while the stop switch is set. A switch that cannot
// be read counts as set.
func (b *Broker) halted(ctx context.Context) error {
	reason, err := b.o.Halt.Halted(ctx)
	if errors.Is(err, ErrLedgerUnavailable) { // where the switch is a row of the ledger
		return b.ledgerFailed(ctx, err)
	}
	if err != nil {
		b.o.Log.ErrorContext(ctx, "the halt switch cannot be read", "err", err)
		if r, ok := errors.AsType[*Refusal](err); ok { // it says how to repair it
			return r
		}
		reason = "the halt switch cannot be read"
	}
	if reason == "" {
		return nil
	}
	return Refuse(ErrHalted, nextStep(ErrHalted),
		"everything that could create is halted: %s", Quote(reason))
}

// now is the wall clock without Go's monotonic reading: expiries are compared
// across a machine's sleep and across processes.
func (b *Broker) now() time.Time { return b.o.Now().Round(0) }

// ledgerFailed turns a Ledger's error into a refusal. Codes pass; whatever else
// a ledger returns means that it could not be reached.
func (b *Broker) ledgerFailed(ctx context.Context, err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	if errors.Is(err, ErrProposalUnknown) {
		return Refuse(ErrProposalUnknown, "list your recent proposals with fabric_change_status", "no such proposal")
	}
	b.o.Log.ErrorContext(ctx, "ledger failed", "err", err)
	return Refuse(ErrLedgerUnavailable, "nothing was sent; try again when the ledger is back",
		"the ledger of proposals cannot be reached")
}

type discard struct{}

func (discard) Record(context.Context, Event) error { return nil }
