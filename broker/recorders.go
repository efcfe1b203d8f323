package broker

import "context"

// Recorders tells several recorders of every event. All are told; the first
// error is returned and refuses.
type Recorders []Recorder

// Record implements Recorder.
func (rs Recorders) Record(ctx context.Context, e Event) error {
	var first error
	for _, r := range rs {
		if err := r.Record(ctx, e); err != nil && first == nil {
			first = err
		}
	}
	return first
}
