package fabricsim

import (
	"mime"
	"net/http"
	"net/mail"
	"slices"
)

// order is what one kind of create does with a request that could be read.
type order struct {
	kind string
	// dryRun and created are the status codes. They do not tell whether
	// something was created: see routers and networks.
	dryRun, created int
	// unreadable is the error of a body that is no JSON object.
	unreadable apiError
	check      func(s *Sim, c *call, body doc) issues
	// echo is the normalised request that a dry run answers.
	echo func(s *Sim, c *call, body doc) doc
	// make turns the request into an asset, not yet stored.
	make func(s *Sim, c *call, body doc) *asset
	// stored happens with the asset, and only where it is really created.
	stored func(s *Sim, c *call, a *asset)
	// answer is the body of a real create; nil means the asset's view.
	answer func(d doc) doc
}

var orders = map[string]order{
	"connections": {
		kind: KindConnection, dryRun: http.StatusOK, created: http.StatusCreated, unreadable: plain("EQ-3000035", "Invalid request body"),
		check: (*Sim).checkConnection, echo: (*Sim).echoConnection, make: (*Sim).makeConnection, stored: (*Sim).connectionStored,
	},
	"networks": {
		kind: KindNetwork, dryRun: http.StatusCreated, created: http.StatusCreated, unreadable: plain("EQ-3000035", "Invalid request body"),
		check: (*Sim).checkNetwork, echo: (*Sim).echoNetwork, make: (*Sim).makeNetwork, answer: networkAnswer,
	},
	"serviceTokens": {
		kind: KindServiceToken, dryRun: http.StatusOK, created: http.StatusCreated, unreadable: plain("EQ-3000035", "Invalid request body"),
		check: (*Sim).checkToken, echo: (*Sim).echoToken, make: (*Sim).makeToken,
	},
	"routers": {
		kind: KindCloudRouter, dryRun: http.StatusOK, created: http.StatusOK, unreadable: plain("EQ-3000035", "Invalid request body"),
		check: (*Sim).checkRouter, echo: (*Sim).echoRouter, make: (*Sim).makeRouter,
	},
	"ports": {
		kind: KindPort, dryRun: http.StatusOK, created: http.StatusAccepted,
		unreadable: plain("EQ-3143004", "Json syntax error, please check request body"),
		check:      (*Sim).checkPort, echo: (*Sim).echoPort, make: (*Sim).makePort,
	},
}

// create answers a POST on a collection. A dry run goes every step of a create
// but the last: the same checks, the same errors, nothing stored.
func (s *Sim) create(c *call, o order) response {
	if !c.isJSON() {
		return c.wrongMedia()
	}
	if c.badDryRun {
		return c.badRequest(invalid("queryParam:dryRun", "dryRun is true or false"))
	}
	body, err := parseObject(c.body)
	if err != nil {
		return c.badRequest(o.unreadable)
	}
	if s.foreign(text(body, "/project/projectId")) {
		return c.forbidden()
	}
	kind := text(body, "/type")
	if o.kind == KindServiceToken {
		kind = text(body, "/connection/type")
	}
	if c.dryRun && s.refusesDryRun(kind) {
		return c.badRequest(apiError{
			Code: "EQ-3142411", Message: "Dry run is not supported for this connection type",
			Info: []errorInfo{{Reason: "queryParam:dryRun"}},
		})
	}
	if wrong := o.check(s, c, body); len(wrong) > 0 {
		return c.badRequest(wrong...)
	}
	if c.dryRun {
		status := o.dryRun
		if o.kind == KindNetwork && s.NetworkDryRunStatus != 0 {
			status = s.NetworkDryRunStatus
		}
		return reply(status, o.echo(s, c, body))
	}
	a := o.make(s, c, body)
	if !c.discard {
		s.store(a)
		if o.stored != nil {
			o.stored(s, c, a)
		}
	}
	d := s.view(a, c.now)
	if o.answer != nil {
		d = o.answer(d)
	}
	return reply(o.created, d)
}

func (c *call) isJSON() bool {
	t, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	return err == nil && t == "application/json"
}

var notificationTypes = []string{
	"NOTIFICATION", "BANDWIDTH_ALERT", "CONNECTION_APPROVAL", "PROFILE_LIFECYCLE", "ALL", "SALES_REP_NOTIFICATIONS", "TECHNICAL", "ORDERING",
}

// checkNotifications is the rule of every create but that of ports.
func checkNotifications(wrong *issues, body doc) {
	l := list(body, "/notifications")
	if len(l) == 0 {
		wrong.invalid("/notifications", "notifications are required")
		return
	}
	for _, e := range l {
		emails := list(e, "/emails")
		if !slices.Contains(notificationTypes, text(e, "/type")) {
			wrong.invalid("/notifications/type", "unknown notification type")
		}
		if len(emails) == 0 {
			wrong.invalid("/notifications/emails", "at least one e-mail address is required")
		}
		for _, m := range emails {
			if a, err := mail.ParseAddress(str(m)); err != nil || a.Address != str(m) {
				wrong.invalid("/notifications/emails", "not an e-mail address")
			}
		}
	}
}

// checkCommon is what connections, networks and tokens share.
func (s *Sim) checkCommon(wrong *issues, body doc) {
	name := text(body, "/name")
	if name == "" {
		wrong.invalid("/name", "name is required")
	} else if s.NameLimit > 0 && len([]rune(name)) > s.NameLimit {
		wrong.invalid("/name", "name is up to %d characters in length", s.NameLimit)
	}
	checkNotifications(wrong, body)
	if p := at(body, "/project"); p != nil && text(body, "/project/projectId") == "" {
		wrong.invalid("/project/projectId", "projectId is required")
	}
}

func checkTerm(wrong *issues, body doc) {
	if v := at(body, "/order/termLength"); v != nil {
		if n, ok := integer(v); !ok || !slices.Contains([]int64{1, 12, 24, 36}, n) {
			wrong.invalid("/order/termLength", "termLength is 1, 12, 24 or 36")
		}
	}
}

func (s *Sim) goodAccount(v any) bool {
	n, ok := integer(v)
	if !ok || n <= 0 {
		return false
	}
	bad := s.InvalidAccounts
	if bad == nil {
		bad = []int64{999999999}
	}
	if slices.Contains(bad, n) {
		return false
	}
	if !s.KnownAccountsOnly || n == Account {
		return true
	}
	return slices.ContainsFunc(s.assets, func(a *asset) bool {
		known, ok := whole(a.doc, "/account/accountNumber")
		return ok && known == n
	})
}
