package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fabricbroker/broker"
)

// Metrics are the counters, gauges and histograms of one process. Use [New]. It
// is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	events   *prometheus.CounterVec
	refusals *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	gauges   gauges
	asked    asked
}

var _ broker.Recorder = (*Metrics)(nil)

// seconds are the histograms' bounds: a look-up takes milliseconds, a person
// minutes.
var seconds = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}

// New returns metrics that all stand at 0.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fabric_broker_events_total", Help: "Events of proposals, by the names of the audit log.",
		}, []string{"event"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fabric_broker_refusals_total", Help: "Proposals and confirms that were refused, stopped or came to nothing, by code.",
		}, []string{"code"}),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fabric_broker_step_duration_seconds", Help: "How long the steps of a change took; decision is the person's.", Buckets: seconds,
		}, []string{"step"}),
	}
	m.registry.MustRegister(m.events, m.refusals, m.steps, &m.gauges)
	for e := range events {
		m.events.WithLabelValues(string(e))
	}
	for c := range codes {
		m.refusals.WithLabelValues(string(c))
	}
	for s := range steps {
		m.steps.WithLabelValues(s)
	}
	m.events.WithLabelValues(other)
	m.refusals.WithLabelValues(other)
	m.steps.WithLabelValues(other)
	return m
}

// Watch says how many proposals are pending and unknown. It is called once at
// every look at the page, perhaps at the same time as others. Without it both
// stand at 0; with an error there are none, for nobody knows.
func (m *Metrics) Watch(count func(context.Context) (pending, unknown int, err error)) {
	m.gauges.count.Store(&count)
}

// Observe counts a step that took so long.
func (m *Metrics) Observe(step string, took time.Duration) {
	m.steps.WithLabelValues(known(steps, step)).Observe(max(took, 0).Seconds())
}

// Record implements broker.Recorder. It never returns an error (I11).
func (m *Metrics) Record(_ context.Context, e broker.Event) error {
	n := float64(max(e.Count, 1))
	m.events.WithLabelValues(string(known(events, e.Kind))).Add(n)
	if refuses(e) {
		m.refusals.WithLabelValues(string(known(codes, e.Code))).Add(n)
	}
	if took, ok := m.asked.decided(e); ok {
		m.Observe(StepDecision, took)
	}
	return nil
}

// refuses reports whether the event's code told somebody no. A proposal that is
// stopped before anybody has answered is told again, as refused.
func refuses(e broker.Event) bool {
	switch e.Kind {
	case broker.EventRefused, broker.EventExpired:
		return true
	case broker.EventStopped:
		return e.Proposal.Answer != nil
	case broker.EventRejected, broker.EventNotSent:
		return e.Code != ""
	case broker.EventProposed, broker.EventAsked, broker.EventAnswered, broker.EventSending, broker.EventCreated,
		broker.EventUnknown, broker.EventResolved, broker.EventWithdrawn, broker.EventSuperseded, broker.EventEvicted, broker.EventHalted:
	}
	return false
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
