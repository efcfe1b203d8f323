package fabricsim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kinds of assets, as the neutral form names them.
const (
	KindPort           = "port"
	KindCloudRouter    = "cloud_router"
	KindNetwork        = "network"
	KindServiceProfile = "service_profile"
	KindServiceToken   = "service_token"
	KindConnection     = "connection"
)

var kinds = []string{KindPort, KindCloudRouter, KindNetwork, KindServiceProfile, KindServiceToken, KindConnection}

const (
	base  = "https://api.equinix.com"
	orgID = 91785
)

var collections = map[string]string{
	KindPort: "ports", KindCloudRouter: "routers", KindNetwork: "networks",
	KindServiceProfile: "serviceProfiles", KindServiceToken: "serviceTokens", KindConnection: "connections",
}

// asset is something that is ordered or was there before.
type asset struct {
	kind string
	uuid string
	// doc is the wire form, as a GET gives it, but for what view computes.
	doc doc
	// created marks what a real create made.
	created bool
	at      time.Time
	// searchable is when searches begin to find it.
	searchable time.Time
	// rest is what the asset comes to at restAt; nil once it is there.
	rest   map[string]any
	restAt time.Time
	// vlanFree is when a deleted asset gives its VLAN back.
	vlanFree time.Time
	// approval: connections to this profile wait for the provider.
	approval bool
	// primaryOnly: this profile takes no secondary connections.
	primaryOnly bool
}

// Asset is one thing in the simulated world.
type Asset struct {
	Kind, UUID, Name, Type, State, ProjectID string
	CreatedAt                                time.Time
	// Created is true for what a real create made.
	Created bool
	// Wire is the body that a GET answers.
	Wire map[string]any
	// Neutral is the form of GET /assets.
	Neutral map[string]any
}

// MarshalJSON gives the neutral form.
func (a Asset) MarshalJSON() ([]byte, error) { return json.Marshal(a.Neutral) }

// Assets returns what is there, in the order in which it came; kind "" means
// all kinds. It is never nil.
func (s *Sim) Assets(kind string) []Asset {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	s.settle(s.now())
	all := []Asset{}
	for _, a := range s.assets {
		if kind != "" && a.kind != kind {
			continue
		}
		wire := s.view(a, s.now())
		all = append(all, Asset{
			Kind: a.kind, UUID: a.uuid, Name: text(wire, "/name"), Type: text(wire, "/type"), State: text(wire, "/state"),
			ProjectID: text(wire, "/project/projectId"), CreatedAt: a.at, Created: a.created,
			Wire: wire, Neutral: neutral(a, wire),
		})
	}
	return all
}

// find returns nil where there is no such asset of that kind.
func (s *Sim) find(kind, id string) *asset {
	if a := s.byUUID[strings.ToLower(id)]; a != nil && a.kind == kind {
		return a
	}
	return nil
}

// store keeps a, in the place of an asset with the same uuid.
func (s *Sim) store(a *asset) {
	key := strings.ToLower(a.uuid)
	if old := s.byUUID[key]; old != nil {
		s.assets[slices.Index(s.assets, old)] = a
	} else {
		s.assets = append(s.assets, a)
	}
	s.byUUID[key] = a
}

// settle brings to rest what has had its time; the caller holds the lock.
func (s *Sim) settle(now time.Time) {
	for _, a := range s.assets {
		if a.rest == nil || now.Before(a.restAt) {
			continue
		}
		for pointer, v := range a.rest {
			set(a.doc, pointer, v)
		}
		set(a.doc, "/changeLog/updatedDateTime", stamp(a.restAt))
		a.rest = nil
	}
}

// settleAt is when something created now comes to rest.
func (s *Sim) settleAt(now time.Time) time.Time {
	switch {
	case s.SettleAfter < 0:
		return now
	case s.SettleAfter == 0:
		return now.Add(3 * time.Second)
	}
	return now.Add(s.SettleAfter)
}

// newAsset makes an asset that the caller may still discard.
func (s *Sim) newAsset(c *call, kind string, d doc) *asset {
	id := uuid.NewString()
	d["uuid"] = id
	d["href"] = href(kind, id)
	d["changeLog"] = doc{"createdBy": "sim-user", "createdDateTime": stamp(c.now), "updatedBy": "sim-user", "updatedDateTime": stamp(c.now)}
	return &asset{
		kind: kind, uuid: id, doc: d, created: true, at: c.now,
		searchable: c.now.Add(c.slowIndex), restAt: s.settleAt(c.now),
	}
}

// view is the asset as a GET shows it at that moment.
func (s *Sim) view(a *asset, now time.Time) doc {
	d := cloneDoc(a.doc)
	switch a.kind {
	case KindCloudRouter:
		d["connectionsCount"] = s.countConnections("/router/uuid", a.uuid)
	case KindNetwork:
		d["connectionsCount"] = s.countConnections("/network/uuid", a.uuid)
	case KindPort:
		used := s.usedBandwidth(a.uuid)
		if total, ok := whole(d, "/bandwidth"); ok {
			d["usedBandwidth"], d["availableBandwidth"] = used, max(total-used, 0)
		}
	case KindServiceToken:
		if d["state"] == "INACTIVE" && expired(d, now) {
			d["state"] = "EXPIRED"
		}
	}
	return d
}

func expired(token doc, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, text(token, "/expirationDateTime"))
	return err == nil && !now.Before(at)
}

// gone says that an asset in this state is no more, or never came to be.
func gone(state string) bool {
	return slices.Contains([]string{"DEPROVISIONED", "DELETED", "CANCELLED", "FAILED"}, state)
}

// attached calls f for every access point of every connection.
func (s *Sim) attached(f func(a *asset, side string, accessPoint doc)) {
	for _, a := range s.assets {
		if a.kind != KindConnection {
			continue
		}
		for _, side := range []string{"/aSide", "/zSide"} {
			if ap := object(a.doc, side+"/accessPoint"); ap != nil {
				f(a, side, ap)
			}
		}
	}
}

func (s *Sim) countConnections(pointer, id string) int {
	n := 0
	s.attached(func(a *asset, _ string, ap doc) {
		if strings.EqualFold(text(ap, pointer), id) && !gone(text(a.doc, "/state")) {
			n++
		}
	})
	return n
}

func (s *Sim) usedBandwidth(port string) int64 {
	var sum int64
	s.attached(func(a *asset, _ string, ap doc) {
		if strings.EqualFold(text(ap, "/port/uuid"), port) && !gone(text(a.doc, "/state")) {
			n, _ := whole(a.doc, "/bandwidth")
			sum += n
		}
	})
	return sum
}

func href(kind, id string) string { return base + "/fabric/v4/" + collections[kind] + "/" + id }

func metroHref(code string) string { return base + "/fabric/v4/metros/" + code }

// stamp writes a time as the API does: UTC, milliseconds, Z.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
