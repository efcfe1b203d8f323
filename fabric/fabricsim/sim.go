package fabricsim

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Secret logs any client id in.
	Secret = "sim-secret"
	// StaticToken is a bearer token that never expires, for clients that are
	// configured with a token instead of credentials.
	StaticToken = "sim-token"
	// Project is the project of the built-in world.
	Project = "6c1f0b5e-9a47-4a0e-8d35-2f7e41c9b8a3"
	// ForeignProject is a project that the caller has no right to; orders for it
	// are answered 403.
	ForeignProject = "e5b0d7a2-41c8-4f6b-9e13-7a8c2d60f914"
	// Account is the account number of the built-in world.
	Account = 270848
)

const maxBody = 1 << 20

// Sim is the simulated API. The zero value works and holds a small believable
// world. Close ends what hangs.
type Sim struct {
	// Now is the simulator's clock; nil means time.Now. Everything that looks
	// at time uses it, the Date header included. Delays and hangs do not: they
	// are real waits.
	Now func() time.Time
	// TokenLife is how long a bearer token is good for; 0 means 3599 s.
	TokenLife time.Duration
	// SettleAfter is how long a new asset takes to come to rest; 0 means 3 s,
	// negative means at once.
	SettleAfter time.Duration
	// VLANHold is how long a deleted connection keeps its VLAN; 0 means 10
	// minutes, negative means not at all.
	VLANHold time.Duration
	// NetworkDryRunStatus answers dry runs of networks; 0 means 201, which is
	// what the specification documents.
	NetworkDryRunStatus int
	// NoDryRun lists connection types that refuse a dry run; nil means IC_VC,
	// EC_VC, EIA_VC, MC_VC and IX_VC. An empty list refuses none.
	NoDryRun []string
	// InvalidAccounts lists account numbers that are refused; nil means
	// 999999999 alone.
	InvalidAccounts []int64
	// KnownAccountsOnly refuses account numbers that neither the built-in world
	// nor an asset names. Otherwise every positive number is good.
	KnownAccountsOnly bool
	// ForeignProjects lists projects that are answered 403; nil means
	// ForeignProject alone.
	ForeignProjects []string
	// NameLimit refuses longer names of connections, networks and service
	// tokens; 0 means no limit, since sources differ about it. Cloud routers
	// always take 3 to 24.
	NameLimit int
	// Empty leaves the built-in world out.
	Empty bool

	mu      sync.Mutex
	ready   bool
	closed  chan struct{}
	ended   bool
	assets  []*asset
	byUUID  map[string]*asset
	count   int
	era     int // counts resets
	history []Entry
	faults  []*armedFault
	bearers map[string]time.Time
	badLogs map[string]int
}

var _ http.Handler = (*Sim)(nil)

// Reset returns to the first state: the built-in world, an empty history, no
// faults, no locked accounts. Bearer tokens stay good: a running client is not
// part of the world.
func (s *Sim) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	s.reset()
}

// Close ends requests that hang, now and in future. It is safe to call twice.
func (s *Sim) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if !s.ended {
		s.ended = true
		close(s.closed)
	}
}

// init prepares the zero value; the caller holds the lock.
func (s *Sim) init() {
	if s.ready {
		return
	}
	s.ready = true
	s.closed = make(chan struct{})
	s.bearers = map[string]time.Time{}
	s.reset()
}

func (s *Sim) reset() {
	s.era++
	s.assets, s.byUUID, s.count = nil, map[string]*asset{}, 0
	s.history, s.faults, s.badLogs = nil, nil, map[string]int{}
	if !s.Empty {
		s.buildWorld()
	}
}

func (s *Sim) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// call is one request on its way through the simulator.
type call struct {
	r           *http.Request
	body        []byte
	now         time.Time
	seq         int
	era         int
	correlation string
	dryRun      bool
	badDryRun   bool
	// discard answers as if the order were stored, and stores nothing.
	discard bool
	// slowIndex hides new assets from searches for that long.
	slowIndex time.Duration
}

// ServeHTTP answers one API request. It panics with http.ErrAbortHandler where a
// fault drops a connection that cannot be hijacked.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	c, p := s.begin(r, body)
	if err != nil {
		s.write(w, c, c.refuse(http.StatusRequestEntityTooLarge, plain("EQ-3000035", "Invalid request body")))
		return
	}
	if !s.wait(r, p.delay) {
		s.drop(w)
		return
	}
	c.slowIndex = p.slowIndex
	if p.do == nil {
		s.write(w, c, s.answer(c))
		return
	}
	s.enact(w, c, *p.do)
}

// begin records the request and plans what faults do to it.
func (s *Sim) begin(r *http.Request, body []byte) (*call, plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	c := &call{r: r, body: body, era: s.era, now: s.now(), correlation: correlation(r)}
	c.dryRun, c.badDryRun = dryRun(r)
	c.seq = s.record(c)
	return c, s.plan(c)
}

// answer computes the API's own answer, and stores what a create creates.
func (s *Sim) answer(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.now = s.now()
	s.settle(c.now)
	return s.route(c)
}

// wait returns false when the client went away or the simulator was closed.
func (s *Sim) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	case <-s.closed:
		return false
	}
}

func (s *Sim) refusesDryRun(kind string) bool {
	if s.NoDryRun == nil {
		return slices.Contains([]string{"IC_VC", "EC_VC", "EIA_VC", "MC_VC", "IX_VC"}, kind)
	}
	return slices.Contains(s.NoDryRun, kind)
}

func (s *Sim) foreign(project string) bool {
	if s.ForeignProjects == nil {
		return project == ForeignProject
	}
	return slices.Contains(s.ForeignProjects, project)
}

// dryRun reads the flag; the second result says that it is neither true nor
// false.
func dryRun(r *http.Request) (asked, malformed bool) {
	v := r.URL.Query().Get("dryRun")
	switch strings.ToLower(v) {
	case "true":
		return true, false
	case "", "false":
		return false, false
	}
	return false, true
}
