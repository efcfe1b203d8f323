package fabricsim

// checkRedundancy knows a group by the primary's redundancy.group, which is not
// the primary's uuid.
func (s *Sim) checkRedundancy(wrong *issues, body doc, a, z end) {
	r, ok := at(body, "/redundancy").(doc)
	if !ok {
		return
	}
	priority, group := text(r, "priority"), text(r, "group")
	switch {
	case priority == "" && has(r, "group"):
		wrong.add(on("EQ-3142515", "Redundancy priority is required", "/redundancy/priority"))
		return
	case priority != "" && priority != "PRIMARY" && priority != "SECONDARY":
		wrong.add(on("EQ-3142517", "Invalid redundancy priority", "/redundancy/priority"))
		return
	case priority == "SECONDARY" && group == "":
		wrong.add(on("EQ-3142514", "Redundancy group is required", "/redundancy/group"))
		return
	case !has(r, "group"):
		return
	}
	if priority == "SECONDARY" && z.profile != nil && z.profile.primaryOnly {
		wrong.add(on("EQ-3142303", "Only Primary connection allowed for this CSP", "/redundancy/priority"))
	}
	other := s.member(group)
	if other == nil {
		wrong.add(on("EQ-3142516", "Invalid redundancy group", "/redundancy/group"))
		return
	}
	if z.profile != nil && text(other.doc, "/zSide/accessPoint/profile/uuid") != z.profile.uuid {
		wrong.add(on("EQ-3142320", "For redundant connection, Service Profile should be the same", "/zSide/accessPoint/profile/uuid"))
	}
	if a.router != nil && text(other.doc, "/aSide/accessPoint/router/uuid") != a.router.uuid {
		wrong.add(on("EQ-3142021", "For redundant connection, Fabric Cloud Router should be the same", "/aSide/accessPoint/router/uuid"))
	}
	for _, pair := range []struct {
		side  string
		token *asset
	}{{"/aSide", a.token}, {"/zSide", z.token}} {
		if pair.token != nil {
			s.checkTokenPair(wrong, pair.side, pair.token, other)
		}
	}
}

// member is a living connection of that group.
func (s *Sim) member(group string) *asset {
	for _, a := range s.assets {
		if a.kind == KindConnection && group != "" && text(a.doc, "/redundancy/group") == group && !gone(text(a.doc, "/state")) {
			return a
		}
	}
	return nil
}

// checkTokenPair compares the secondary's token with the one that the primary
// used on that side.
func (s *Sim) checkTokenPair(wrong *issues, side string, token, primary *asset) {
	first := s.find(KindServiceToken, text(primary.doc, side+"/serviceToken/uuid"))
	if first == nil {
		return
	}
	property := side + "/serviceToken/uuid"
	_, ap1 := issued(first.doc)
	_, ap2 := issued(token.doc)
	if text(ap1, "/linkProtocol/type") != text(ap2, "/linkProtocol/type") {
		wrong.add(on("EQ-3142222", "The primary and secondary tokens have different encapsulation types (Dot1Q or QinQ). Please use two tokens that support the same encapsulation type", property))
	}
	if text(first.doc, "/project/projectId") != text(token.doc, "/project/projectId") {
		wrong.add(on("EQ-3142223", "The primary and secondary tokens belong to different projects. Please use two tokens that belong to the same project", property))
	}
}
