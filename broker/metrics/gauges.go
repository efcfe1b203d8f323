package metrics

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gauges are what is counted at every look, both in one count. The zero value
// counts nothing.
type gauges struct {
	count atomic.Pointer[func(context.Context) (pending, unknown int, err error)]
}

// countTime is how long a count may take: whoever scrapes does not wait longer.
const countTime = 5 * time.Second

var (
	pendingGauge = prometheus.NewDesc("fabric_broker_proposals_pending", "Proposals that wait for their token.", nil, nil)
	unknownGauge = prometheus.NewDesc("fabric_broker_proposals_unknown", "Creates whose outcome is not known.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	out <- pendingGauge
	out <- unknownGauge
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	var pending, unknown int
	if count := g.count.Load(); count != nil {
		ctx, cancel := context.WithTimeout(context.Background(), countTime)
		defer cancel()
		var err error
		if pending, unknown, err = (*count)(ctx); err != nil {
			return
		}
	}
	out <- prometheus.MustNewConstMetric(pendingGauge, prometheus.GaugeValue, float64(pending))
	out <- prometheus.MustNewConstMetric(unknownGauge, prometheus.GaugeValue, float64(unknown))
}
