package clients

import (
	"fmt"
	"slices"
	"time"
)

// client is somebody else's client and the script that drives it.
type client struct {
	script string
	pkg    string // where its version stands: in package.json or in go.mod
	eras   []string
	// givesUp says that it has a timeout of its own, of a minute, for a call in
	// which the person is asked. canWait says that progress can extend it.
	givesUp, canWait bool
	// except are states that differ from the usual ones through the client,
	// by era, transport and answer.
	except map[string]string
	// know is what a person there has to know.
	know string
}

const legacy, modern = "legacy", "modern"

var (
	both       = []string{legacy, modern}
	transports = []string{"stdio", "http"}
)

var clients = []client{
	{
		script: "ts1", pkg: "@modelcontextprotocol/sdk", eras: []string{legacy}, givesUp: true, canWait: true,
		know: "gives a call 60 s. With `resetTimeoutOnProgress` and `onprogress` it waits as long as the server does; `timeout` sets another limit",
	},
	{
		script: "ts2", pkg: "@modelcontextprotocol/client", eras: both, givesUp: true, canWait: true,
		know: "as version 1, but has no limit in 2026-07-28, which `versionNegotiation` has to ask for",
	},
	{
		script: "mcpdo", pkg: "@modelcontextprotocol/inspector", eras: both, givesUp: true,
		know: "`mcpdo` gives a call 60 s up to 2025-11-25, and `requestTimeout` in its catalog does not raise that: connect with `--era modern`",
	},
	{
		script: "mcpgo", pkg: "github.com/mark3labs/mcp-go", eras: both,
		except: map[string]string{"legacy http slow": "timed_out"},
		// handleIncomingRequest of its transport/streamable_http.go: 30 s for the
		// handler and for the POST of its answer.
		know: "no limit, but over HTTP up to 2025-11-25 it drops an answer that took more than 30 s, and nothing raises that: use 2026-07-28, its default",
	},
	{
		script: "gosdk", pkg: "github.com/modelcontextprotocol/go-sdk", eras: both,
		except: map[string]string{
			"legacy stdio empty": "failed", "legacy http empty": "failed",
			"modern stdio empty": "asking", "modern http empty": "asking",
		},
		know: "no limit but its context's. It checks a form before it sends it: `{}` fails there, and in 2026-07-28 the server never hears of it",
	},
}

// answers are the columns of the table.
var answers = []struct {
	name, column string
	patient      bool // most of its time it waits
}{
	{"accept", "yes", false},
	{"code", "yes, with the code", false},
	{"slow", "yes, after 65 s", true},
	{"kept", "", true},
	{"late", "yes, too late", true},
	{"decline", "no", false},
	{"cancel", "closed", false},
	{"empty", "`{}`", false},
	{"none", "no forms", false},
	{"lost", "connection lost", true},
}

// run is one row of the matrix.
type run struct {
	client
	era, transport, answer string
	patient                bool
	vlan                   int // one of its own: else it would be a second one of the same thing
}

// matrix is every run, those first that wait for most of their time.
func matrix() (rs []run) {
	for _, patient := range []bool{true, false} {
		for _, a := range answers {
			for _, c := range clients {
				for _, era := range c.eras {
					for _, transport := range transports {
						if a.patient == patient && (a.name != "kept" || c.canWait && era == legacy) {
							rs = append(rs, run{c, era, transport, a.name, patient, 1000 + len(rs)})
						}
					}
				}
			}
		}
	}
	return rs
}

func (r run) name() string { return r.script + "-" + r.era + "-" + r.transport + "-" + r.answer }

// asset is the name of what it proposes.
func (r run) asset() string { return fmt.Sprintf("clients-%d", r.vlan) }

// want is the state in which the proposal has to end.
func (r run) want() string {
	if state, ok := r.except[r.era+" "+r.transport+" "+r.answer]; ok {
		return state
	}
	switch r.answer {
	case "slow":
		if r.givesUp && r.era == legacy {
			return "call_cancelled"
		}
	case "late":
		return "timed_out"
	case "decline", "empty":
		return "declined"
	case "cancel":
		return "cancelled"
	case "none":
		return "unsupported_by_client"
	case "lost":
		switch {
		case r.era == modern:
			return "asking" // nothing is open that could break
		case r.transport == "http":
			return "timed_out" // a lost connection is no answer: the session may come back
		}
		return "call_cancelled"
	}
	return "created"
}

// mayCreate says whether the person said yes at all. Whatever stands in the
// table, nothing else creates.
func (r run) mayCreate() bool {
	return slices.Contains([]string{"accept", "code", "slow", "kept"}, r.answer)
}

// times are how long the server asks and how long the person thinks.
func (r run) times() (ask, think time.Duration) {
	switch r.answer {
	case "slow", "kept":
		if r.want() == "timed_out" {
			return 70 * time.Second, 65 * time.Second // its end has to be waited for
		}
		return 5 * time.Minute, 65 * time.Second
	case "late":
		return 20 * time.Second, 25 * time.Second
	case "lost":
		return 20 * time.Second, 0
	}
	return 5 * time.Minute, 0
}
