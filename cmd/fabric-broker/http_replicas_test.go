package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fabricbroker/broker"
	"fabricbroker/broker/ledger/pgledger/pgtest"
	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// fleet is several processes at one ledger, and the people who use them.
type fleet struct {
	t       *testing.T
	sim     *fabricsim.Sim
	pg      *pgtest.Server
	servers []*server
	people  []*member
	away    atomic.Int64 // how often somebody was told that the ledger is away
}

// member is somebody with a client at each replica. Half of all have an old one.
type member struct {
	name  string
	peers []*peer
}

// A job is one proposal, and the replica that made it.
type job struct {
	by       *member
	at       int
	proposed object
}

func (j job) id() string { return text(j.proposed["proposal_id"]) }

// newFleet starts n processes, and gives each of so many people a client at each.
func newFleet(t *testing.T, n, people int) *fleet {
	t.Helper()
	f := &fleet{t: t, pg: newPostgres(t)}
	var api string
	f.sim, api = simulator(t)
	names := make([]string, people)
	for i := range names {
		names[i] = fmt.Sprintf("p%02d", i)
	}
	env := mutating(t, api, t.TempDir(), "EQUINIX_MCP_LEDGER_DSN="+f.pg.DSN("public"),
		"EQUINIX_MCP_AUTH_TOKENS_FILE="+tokensFile(t, append(names, "alice")...), "EQUINIX_MCP_MAX_CREATES_PER_DAY=100000")
	for range n {
		f.servers = append(f.servers, startHTTP(t, append(env, "EQUINIX_MCP_STATE_DIR="+t.TempDir()+"/state")))
	}
	for i, name := range names {
		p := &member{name: name}
		for _, s := range f.servers {
			c := s.peerOf(t, name, eras[len(eras)-1-i%2])
			p.peers = append(p.peers, c)
			go agree(c)
		}
		f.people = append(f.people, p)
	}
	return f
}

// agree approves whatever an old client is asked, until its server is gone.
func agree(p *peer) {
	for {
		select {
		case m := <-p.asks:
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, saysYes))
		case <-p.done:
			return
		}
	}
}

// propose proposes the n-th change, at a replica that is not the next one's.
func (f *fleet) propose(n int) job {
	f.t.Helper()
	j := job{by: f.people[n%len(f.people)], at: n % len(f.servers)}
	j.proposed = j.by.peers[j.at].proposeType("network_create", map[string]any{
		"type": "EVPLAN", "scope": "REGIONAL", "region": "AMER", "name": fmt.Sprintf("net-%03d", n),
		"notification_emails": []string{"noc@example.net"}, "project_id": testProject,
	})
	return j
}

// each runs f for 0 to n-1, so many at a time.
func each(n, atATime int, f func(int)) {
	var all sync.WaitGroup
	todo := make(chan int)
	for range atATime {
		all.Go(func() {
			for i := range todo {
				f(i)
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	all.Wait()
}

// confirms confirms and approves, and returns what came of it. answer is how the
// approval is sent where the client must send it itself.
func (p *peer) confirms(token any, answer func(*question) object) object {
	p.t.Helper()
	m := p.start(mutate.ConfirmTool, map[string]any{"confirm_token": token}).wait()
	if m.Result["resultType"] == "input_required" {
		return answer(p.asked(token, m))
	}
	return m.structured(p.t)
}

// patiently tries again while the ledger is away and nothing was begun: it does
// not answer in time on a machine that is too busy, either.
func (f *fleet) patiently(try func() object) object {
	for late := time.Now().Add(patience); ; {
		r := try()
		if r.at("error.code") != string(broker.ErrLedgerUnavailable) || r["token_state"] == "spent" || time.Now().After(late) {
			return r
		}
		f.away.Add(1)
		<-time.After(50 * time.Millisecond)
	}
}

// sent is how often a create of each proposal reached the simulator, and the
// assets by the name of what was to be made.
func (f *fleet) sent() (posts map[string]int, assets map[string][]string) {
	posts, assets = map[string]int{}, map[string][]string{}
	for _, e := range f.sim.History() {
		if e.Method == http.MethodPost && isCreate(e.Path) && !e.DryRun {
			posts[e.Header.Get("X-Correlation-Id")]++
		}
	}
	for _, a := range f.sim.Assets("") {
		if a.Created {
			assets[a.Name] = append(assets[a.Name], a.UUID)
		}
	}
	return posts, assets
}

// end has every process end by itself: nothing waits for a record that never
// comes.
func (f *fleet) end() {
	f.t.Helper()
	for _, s := range f.servers {
		if code := s.end(syscall.SIGTERM); code != 0 {
			f.t.Errorf("exit code %d", code)
		}
	}
}

// proposals is how many the replicas get: 60, which shows the same, where make
// replicas does not ask for more.
func proposals() int {
	if n, err := strconv.Atoi(os.Getenv("REPLICA_PROPOSALS")); err == nil {
		return n
	}
	return 60
}

// I2, I5: three processes at one ledger, and proposals that eight callers each
// confirm at once. One of them is asked and gets its create; the others are told
// that the token is used.
func TestHTTPReplicasRace(t *testing.T) {
	t.Parallel()
	const callers = 8
	n := proposals()
	f := newFleet(t, 3, 50)
	created := createdAfter("accepted")
	var mu sync.Mutex
	came, uuids := map[string]int{}, map[string]string{}
	jobs := make([]job, n)
	each(n, 3, func(i int) {
		j := f.propose(i)
		jobs[i] = j
		results := make([]object, callers)
		var race sync.WaitGroup
		for c := range callers {
			race.Go(func() {
				p := j.by.peers[c%len(j.by.peers)]
				results[c] = f.patiently(func() object {
					return p.confirms(j.proposed["confirm_token"], func(q *question) object {
						return f.patiently(func() object { return q.answer(saysYes) })
					})
				})
			})
		}
		race.Wait()
		mu.Lock()
		defer mu.Unlock()
		for _, r := range results {
			if r["executed"] == true {
				created.check(t, r)
				came["created"]++
				uuids[j.id()] = text(r.at("result.uuid"))
				continue
			}
			refused("token_replayed", "spent", "ttf--").check(t, r)
			came[text(r.at("error.code"))]++
		}
	})
	if want := map[string]int{"created": n, "token_replayed": n * (callers - 1)}; !maps.Equal(came, want) {
		t.Errorf("the confirms came to %v, want %v", came, want)
	}
	posts, assets := f.sent()
	each(n, 6, func(i int) {
		j := jobs[i]
		s := j.by.peers[(j.at+1)%len(j.by.peers)].status(j.proposed)
		name := text(s["name"])
		if posts[j.id()] != 1 || !slices.Equal(assets[name], []string{uuids[j.id()]}) || s["state"] != "created" || s.at("result.uuid") != uuids[j.id()] {
			t.Errorf("%s: sent %d times, reported %s, made %v, on record %v %v", name, posts[j.id()], uuids[j.id()], assets[name], s["state"], s.at("result.uuid"))
		}
	})
	wantMade(t, f.sim, n)
	t.Logf("%d proposals: %v; told that the ledger is away: %d times", n, came, f.away.Load())
	if f.away.Load() > int64(n*callers/20) {
		t.Error("a ledger that is there was away too often")
	}
	f.end()
}

// I2, I7: PostgreSQL goes and comes back in the middle of the confirms. Who is
// told that the ledger is away tries again, at another replica. Nothing is created
// twice, and nothing without a record.
func TestHTTPReplicasLoseTheirLedger(t *testing.T) {
	t.Parallel()
	n := min(proposals(), 200)
	middle := n / 3
	f := newFleet(t, 3, 20)
	jobs := make([]job, n)
	each(n, 6, func(i int) { jobs[i] = f.propose(i) })
	over := make(chan error, 1)
	outage := func() {
		f.pg.Halt()
		<-time.After(2 * time.Second) // the outage itself: calls must meet it
		over <- f.pg.Start()
	}
	var mu sync.Mutex
	came := map[string]int{}
	each(n, 8, func(i int) {
		if i == middle {
			go outage()
		}
		j, at := jobs[i], i
		r := f.patiently(func() object {
			at++
			return j.by.peers[at%len(j.by.peers)].confirms(j.proposed["confirm_token"], func(q *question) object {
				return f.patiently(func() object { return q.answer(saysYes) })
			})
		})
		what := text(r["outcome"])
		if code := text(r.at("error.code")); code != "" {
			what = strings.TrimSpace(what + " " + code)
		}
		mu.Lock()
		defer mu.Unlock()
		came[what]++
	})
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if f.away.Load() == 0 {
		t.Error("no confirm met the outage")
	}
	posts, assets := f.sent()
	states := map[string]int{}
	for _, j := range jobs {
		name := text(j.proposed.at("request.body.name"))
		var s object
		eventually(t, "what was made is on record", func() bool {
			s = j.by.peers[j.at].status(j.proposed)
			return (s["state"] == "created") == (len(assets[name]) == 1)
		})
		states[text(s["state"])]++
		if posts[j.id()] > 1 || len(assets[name]) > posts[j.id()] || s["state"] == "created" && s.at("result.uuid") != assets[name][0] {
			t.Errorf("%s: sent %d times, made %v, on record %v %v", name, posts[j.id()], assets[name], s["state"], s.at("result.uuid"))
		}
	}
	t.Logf("%d assets; on record: %v; the confirms came to %v; told that the ledger is away: %d times", made(f.sim), states, came, f.away.Load())
	if made(f.sim) < n*8/10 { // the others were cut off before they were sent
		t.Errorf("only %d of %d were created", made(f.sim), n)
	}
	f.end()
}
