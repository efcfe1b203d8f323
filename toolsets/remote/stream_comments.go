package remote

import (
	"maps"
	"net/http"
	"time"
)

// wait has comments written from now on, until end. It is called once the
// handler has set its header and has handed the message on, and never writes
// that header again but to answer.
func (s *stream) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	s.start(s.header)
}

// start starts the comments. mu is held.
func (s *stream) start(h http.Header) {
	if s.waiting || s.ended || s.every <= 0 || !isEvents(h) {
		return
	}
	s.waiting = true
	go s.comment(maps.Clone(h))
}

// comment writes a line that every reader ignores whenever the stream was
// silent for long enough and no event is half written.
func (s *stream) comment(header http.Header) {
	timer := time.NewTimer(s.every)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-timer.C:
		}
		timer.Reset(s.tick(header))
	}
}

// tick writes a comment if one is due, and returns when to look again.
func (s *stream) tick(header http.Header) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return s.every
	}
	if silent := time.Since(s.last); silent < s.every {
		return s.every - silent
	}
	if s.inside {
		return s.every
	}
	if s.status == 0 {
		s.begin(http.StatusOK, header)
	}
	if s.events {
		s.deadline()
		// An error here is the connection's end, which the handler sees itself.
		_, _ = s.w.Write([]byte(": waiting\n\n"))
		_ = s.rc.Flush()
	}
	s.last = time.Now()
	return s.every
}
