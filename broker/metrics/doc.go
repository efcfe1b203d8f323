// Package metrics counts what the broker does, for Prometheus.
//
// [New] makes a [Metrics] with a registry of its own. It is a broker.Recorder
// that never refuses (I11): hand it every event. [Metrics.Observe] takes how long
// a step took, [Metrics.Watch] where the gauges look, [Metrics.Handler] serves
// the page.
//
// Every label has a closed set of values, and every series is there from the
// start at 0: a rate over a counter that appears only with its first event misses
// that event. A value outside the set is a bug of ours and counts as "other". No
// label holds a name, an id or anything that a caller chose (I9).
package metrics
