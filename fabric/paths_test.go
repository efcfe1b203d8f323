package fabric

import (
	"testing"

	"fabricbroker/broker"
)

func TestSpecPath(t *testing.T) {
	for _, tt := range []struct {
		t              broker.ChangeType
		property, want string
	}{
		{broker.ConnectionCreate, "/zSide/accessPoint/authenticationKey", "z_side.authentication_key"},
		{broker.ConnectionCreate, "aSide/accessPoint/port/uuid", "a_side.port_uuid"},
		{broker.ConnectionCreate, "aSide.accessPoint.router.uuid", "a_side.cloud_router_uuid"},
		{broker.ConnectionCreate, "$.zSide.accessPoint.network.uuid", "z_side.network_uuid"},
		{broker.ConnectionCreate, "/zSide/accessPoint/profile/uuid", "z_side.service_profile_uuid"},
		{broker.ConnectionCreate, "/zSide/accessPoint/profile/type", "z_side.profile_type"},
		{broker.ConnectionCreate, "/aSide/serviceToken/uuid", "a_side.service_token_uuid"},
		{broker.ConnectionCreate, "/aSide/accessPoint/linkProtocol", "a_side.link_protocol"},
		{broker.ConnectionCreate, "/aSide/accessPoint/linkProtocol/vlanSTag", "a_side.link_protocol.vlan_s_tag"},
		{broker.ConnectionCreate, "/zSide/accessPoint/location/metroCode", "z_side.metro_code"},
		{broker.ConnectionCreate, "/zSide/accessPoint/somethingNew", "z_side"},
		{broker.ConnectionCreate, "/bandwidth", "bandwidth_mbps"},
		{broker.ConnectionCreate, "/notifications/emails", "notification_emails"},
		{broker.ConnectionCreate, "notifications[0].emails[1]", "notification_emails"},
		{broker.ConnectionCreate, "/redundancy/group", "redundancy.group_uuid"},
		{broker.ConnectionCreate, "/additionalInfo/1/value", "additional_info[1].value"},
		{broker.ConnectionCreate, "additionalInfo[0].key", "additional_info[0].key"},
		{broker.ConnectionCreate, "/order/termLength", "term_length_months"},
		{broker.ConnectionCreate, "/project/projectId", "project_id"},
		{broker.ConnectionCreate, "type", "type"},
		{broker.ConnectionCreate, "queryParam:dryRun", ""},
		{broker.ConnectionCreate, "/account/accountNumber", ""},
		{broker.ConnectionCreate, "", ""},
		{broker.NetworkCreate, "/location/region", "region"},
		{broker.NetworkCreate, "/scope", "scope"},
		{broker.CloudRouterCreate, "/name", "name"},
		{broker.CloudRouterCreate, "/account/accountNumber", "account_number"},
		{broker.CloudRouterCreate, "/location/metroCode", "metro_code"},
		{broker.CloudRouterCreate, "/package/code", "package"},
		{broker.CloudRouterCreate, "/type", ""},
		{broker.ServiceTokenCreate, "/connection/aSide/accessPointSelectors/0/port/uuid", "port_uuid"},
		{broker.ServiceTokenCreate, "connection.zSide.accessPointSelectors[0].network.type", "network_type"},
		{broker.ServiceTokenCreate, "/connection/zSide/accessPointSelectors/0/linkProtocol/vlanTag", "link_protocol.vlan_tag"},
		{broker.ServiceTokenCreate, "/connection/type", "connection_type"},
		{broker.ServiceTokenCreate, "/expirationDateTime", "expires_at"},
		{broker.ServiceTokenCreate, "/connection/supportedBandwidths/2", "supported_bandwidths_mbps"},
	} {
		if got := specPath(tt.t, tt.property); got != tt.want {
			t.Errorf("specPath(%s, %q) = %q, want %q", tt.t, tt.property, got, tt.want)
		}
	}
}

// Each path that properties lead to must be one that a spec can have.
func TestSpecPathsExist(t *testing.T) {
	for ct, names := range propertyNames {
		for property := range names {
			path := specPath(ct, "/"+property)
			if property == "{s}" || len(property) > 3 && property[:3] == "{s}" {
				path = specPath(ct, "/aSide"+property[3:])
			}
			if rank := specRank(path); path == "" || rank[len(rank)-1] == unknownRank {
				t.Errorf("%s: %s leads to %q", ct, property, path)
			}
		}
	}
}
