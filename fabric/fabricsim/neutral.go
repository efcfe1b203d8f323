package fabricsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Put seeds one asset, given in neutral form: kind and the fields that the
// README lists. An asset with the same uuid is replaced; without a uuid it gets
// one. It comes in the state that it names and stays there.
func (s *Sim) Put(asset map[string]any) error {
	body, err := json.Marshal(asset)
	if err != nil {
		return fmt.Errorf("asset: %w", err)
	}
	return s.PutJSON(body)
}

// PutJSON seeds one asset or a list of them; where one is wrong, none is put.
func (s *Sim) PutJSON(body []byte) error {
	v, err := parseJSON(body)
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	l, ok := v.([]any)
	if !ok {
		l = []any{v}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	return s.seed(l)
}

// seed puts all or none; the caller holds the lock.
func (s *Sim) seed(l []any) error {
	now := s.now()
	for i, e := range l {
		n, ok := e.(doc)
		if !ok {
			return fmt.Errorf("assets[%d]: not an object", i)
		}
		if _, err := s.fromNeutral(n, now); err != nil {
			return fmt.Errorf("assets[%d]: %w", i, err)
		}
	}
	// Made again one by one, since an asset may refer to one before it.
	for _, e := range l {
		n, _ := e.(doc)
		a, err := s.fromNeutral(n, now)
		if err != nil {
			return err
		}
		s.store(a)
	}
	return nil
}

// fromNeutral makes the wire form out of the neutral one.
func (s *Sim) fromNeutral(n doc, now time.Time) (*asset, error) {
	a := &asset{kind: text(n, "kind"), uuid: text(n, "uuid")}
	if !slices.Contains(kinds, a.kind) {
		return nil, fmt.Errorf("unknown kind %q, known are %s", a.kind, strings.Join(kinds, ", "))
	}
	if a.uuid == "" {
		a.uuid = uuid.NewString()
	}
	created, err1 := moment(n, "created_at", now)
	updated, err2 := moment(n, "updated_at", created)
	deleted, err3 := moment(n, "deleted_at", now)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	a.at = created
	a.vlanFree = s.vlanFreeAt(deleted)
	a.created = truth(n, "created")

	d := doc{
		"uuid": a.uuid, "href": href(a.kind, a.uuid), "name": text(n, "name"), "state": text(n, "state"),
		"changeLog": doc{
			"createdBy": "sim-user", "createdDateTime": stamp(created),
			"updatedBy": "sim-user", "updatedDateTime": stamp(updated),
		},
	}
	if p := text(n, "project_id"); p != "" {
		d["project"] = doc{"projectId": p}
	}
	if has(n, "notification_emails") {
		d["notifications"] = []any{doc{"type": "ALL", "emails": clone(n["notification_emails"])}}
	}
	a.doc = d
	switch a.kind {
	case KindPort:
		portFrom(d, n)
	case KindCloudRouter:
		routerFrom(d, n)
	case KindNetwork:
		networkFrom(d, n)
	case KindServiceProfile:
		profileFrom(a, d, n)
	case KindServiceToken:
		s.tokenFrom(d, n)
	case KindConnection:
		s.connectionFrom(d, n)
	}
	if d["state"] == "" {
		d["state"] = restingState[a.kind]
	}
	return a, nil
}

var restingState = map[string]string{
	KindPort: "ACTIVE", KindCloudRouter: "PROVISIONED", KindNetwork: "ACTIVE",
	KindServiceProfile: "ACTIVE", KindServiceToken: "INACTIVE", KindConnection: "PROVISIONED",
}

func moment(n doc, key string, otherwise time.Time) (time.Time, error) {
	v := text(n, key)
	if v == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return otherwise, fmt.Errorf("%s: %w", key, err)
	}
	return t, nil
}

func (s *Sim) vlanFreeAt(deleted time.Time) time.Time {
	switch {
	case s.VLANHold < 0:
		return deleted
	case s.VLANHold == 0:
		return deleted.Add(10 * time.Minute)
	}
	return deleted.Add(s.VLANHold)
}

// neutral is the way back, for GET /assets.
func neutral(a *asset, wire doc) doc {
	n := doc{
		"kind": a.kind, "uuid": a.uuid, "name": wire["name"], "type": wire["type"], "state": wire["state"],
		"project_id": at(wire, "/project/projectId"), "created_at": stamp(a.at), "created": a.created,
	}
	for to, from := range neutralFields[a.kind] {
		n[to] = at(wire, from)
	}
	for k, v := range n {
		if v == nil {
			delete(n, k)
		}
	}
	return n
}

var neutralFields = map[string]map[string]string{
	KindPort: {
		"metro_code": "/location/metroCode", "encapsulation": "/encapsulation/type", "bandwidth": "/bandwidth",
		"account_number": "/account/accountNumber",
	},
	KindCloudRouter: {
		"metro_code": "/location/metroCode", "package": "/package/code", "account_number": "/account/accountNumber",
		"connections_count": "/connectionsCount",
	},
	KindNetwork: {
		"scope": "/scope", "region": "/location/region", "equinix_status": "/operation/equinixStatus",
		"connections_count": "/connectionsCount",
	},
	KindServiceProfile: {"visibility": "/visibility"},
	KindServiceToken: {
		"expires_at": "/expirationDateTime", "connection_type": "/connection/type",
		"bandwidth_limit": "/connection/bandwidthLimit", "supported_bandwidths": "/connection/supportedBandwidths",
	},
	KindConnection: {
		"bandwidth": "/bandwidth", "equinix_status": "/operation/equinixStatus", "provider_status": "/operation/providerStatus",
		"redundancy_group": "/redundancy/group", "redundancy_priority": "/redundancy/priority",
		"port_uuid": "/aSide/accessPoint/port/uuid", "cloud_router_uuid": "/aSide/accessPoint/router/uuid",
		"vlan_tag":             "/aSide/accessPoint/linkProtocol/vlanTag",
		"service_profile_uuid": "/zSide/accessPoint/profile/uuid", "z_port_uuid": "/zSide/accessPoint/port/uuid",
		"network_uuid": "/zSide/accessPoint/network/uuid", "seller_region": "/zSide/accessPoint/sellerRegion",
	},
}
