package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/fabric/fabricsim"
	"fabricbroker/toolsets/mutate"
)

// tell runs the story from the agent's reads to what is refused, and counts at
// the simulator what was created.
func (s *stage) tell(ctx context.Context) error {
	before := s.creates()
	s.say("Fabric Broker demo. The API is a simulator at %s on this machine: nothing here is real or billed.", s.addr)

	s.step("1. The agent reads what there is.")
	port, profile, err := s.look(ctx)
	if err != nil {
		return err
	}
	spec := connection("demo-dc-aws-01", 1017, port, profile)

	s.step("2. The agent proposes a connection. The API's own dry run judges the exact bytes.")
	proposed, err := s.propose(ctx, spec)
	if err != nil {
		return err
	}

	s.step("3. The agent confirms. The server asks the person; this is the prompt, word for word.")
	confirmed, err := s.call(ctx, mutate.ConfirmTool, token(proposed))
	if err != nil {
		return err
	}
	wanted := 0
	if s.person.approved {
		wanted = 1
	}
	s.result(confirmed)

	s.step("4. What is refused.")
	if err := s.refusals(ctx, proposed, port, profile); err != nil {
		return err
	}

	made := s.creates() - before
	s.step("5. Counted at the API: %d create(s) of %d that a person approved.", made, wanted)
	if made != wanted {
		return fmt.Errorf("demo: %d creates at the API instead of %d", made, wanted)
	}
	if wanted == 1 && confirmed["outcome"] != "created" {
		return errors.New("demo: the approved create did not end as created")
	}
	return nil
}

// look shows the port and the service profile that the story connects.
func (s *stage) look(ctx context.Context) (port, profile map[string]any, err error) {
	ports, err := s.call(ctx, "fabric_search", map[string]any{"kind": "port", "metro_code": "DC", "limit": 3})
	if err != nil {
		return nil, nil, err
	}
	profiles, err := s.call(ctx, "fabric_search", map[string]any{"kind": "service_profile", "metro_code": "DC"})
	if err != nil {
		return nil, nil, err
	}
	for _, found := range []map[string]any{ports, profiles} {
		for _, i := range items(found) {
			s.say("   %-16s %-42.42v %v", found["kind"], i["name"], i["uuid"])
		}
	}
	for _, p := range items(ports) {
		if p["encapsulation"] == "DOT1Q" && port == nil {
			port = p
		}
	}
	for _, p := range items(profiles) {
		if name, _ := p["name"].(string); strings.HasPrefix(name, "AWS") {
			profile = p
		}
	}
	if port == nil || profile == nil {
		return nil, nil, errors.New("demo: the simulator's world has no port or no AWS profile in DC")
	}
	return port, profile, nil
}

func connection(name string, vlan int, port, profile map[string]any) map[string]any {
	return map[string]any{"change_type": "connection_create", "spec": map[string]any{
		"type": "EVPL_VC", "name": name, "bandwidth_mbps": 50, "notification_emails": []string{"noc@example.net"},
		"project_id": fabricsim.Project,
		"a_side":     map[string]any{"port_uuid": port["uuid"], "link_protocol": map[string]any{"type": "dot1q", "vlan_tag": vlan}},
		"z_side": map[string]any{
			"service_profile_uuid": profile["uuid"], "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012",
		},
	}}
}

func (s *stage) propose(ctx context.Context, args map[string]any) (map[string]any, error) {
	p, err := s.call(ctx, mutate.ProposeTool, args)
	if err != nil {
		return nil, err
	}
	if e, ok := p["error"]; ok {
		return nil, fmt.Errorf("demo: the proposal was refused: %v", e)
	}
	price, _ := p["price_context"].(map[string]any)
	validation, _ := p["validation"].(map[string]any)
	s.say("   validation  %v", validation["status"])
	if price["priced"] == true {
		s.say("   price       %v %v a month, from the %v", price["currency"], price["monthly_recurring"], price["price_source"])
	} else {
		s.say("   price       not known: %v", price["note"])
	}
	s.say("   sha256      %v", p["request_sha256"])
	s.say("   token       chg-... (single use, bound to that hash, expires in %v s)", p["expires_in_seconds"])
	return p, nil
}

// refusals shows a token used twice, one that expired, and a declined prompt.
func (s *stage) refusals(ctx context.Context, used, port, profile map[string]any) error {
	again, err := s.call(ctx, mutate.ConfirmTool, token(used))
	if err != nil {
		return err
	}
	if err := s.refused("The same token again", again, "token_replayed"); err != nil {
		return err
	}

	late, err := s.quietly(ctx, connection("demo-dc-aws-02", 1018, port, profile))
	if err != nil {
		return err
	}
	s.clock.skip(11 * time.Minute)
	expired, err := s.call(ctx, mutate.ConfirmTool, token(late))
	if err != nil {
		return err
	}
	if err := s.refused("A token of eleven minutes ago", expired, "token_expired"); err != nil {
		return err
	}

	unwanted, err := s.quietly(ctx, connection("demo-dc-aws-03", 1019, port, profile))
	if err != nil {
		return err
	}
	s.say("   A prompt that the demo declines in the person's place:")
	told := s.person.decline()
	declined, err := s.call(ctx, mutate.ConfirmTool, token(unwanted))
	told()
	if err != nil {
		return err
	}
	human, _ := declined["human_confirmation"].(map[string]any)
	s.say("      %v: %v", human["status"], human["detail"])
	if human["status"] != "declined" || declined["executed"] != false {
		return fmt.Errorf("demo: a declined prompt came to %v", declined["outcome"])
	}
	return nil
}

func (s *stage) refused(what string, got map[string]any, want string) error {
	e, _ := got["error"].(map[string]any)
	s.say("   %s:\n      %v: %v; %v", what, e["code"], e["message"], got["next_step"])
	if e["code"] != want {
		return fmt.Errorf("demo: %s came to %v instead of %s", strings.ToLower(what), e["code"], want)
	}
	return nil
}

// quietly proposes without telling.
func (s *stage) quietly(ctx context.Context, args map[string]any) (map[string]any, error) {
	p, err := s.call(ctx, mutate.ProposeTool, args)
	if err == nil && p["confirm_token"] == nil {
		return nil, fmt.Errorf("demo: the proposal was refused: %v", p["error"])
	}
	return p, err
}

func (s *stage) result(r map[string]any) {
	human, _ := r["human_confirmation"].(map[string]any)
	s.say("   human_confirmation  %v: %v", human["status"], human["detail"])
	s.say("   outcome             %v", r["outcome"])
	if asset, ok := r["result"].(map[string]any); ok {
		s.say("   created             %v (%v)", asset["uuid"], asset["state"])
	}
	if e, ok := r["error"].(map[string]any); ok {
		s.say("   error               %v: %v", e["code"], e["message"])
	}
}

// call calls a tool over the MCP session and returns its structured result.
func (s *stage) call(ctx context.Context, tool string, args map[string]any) (map[string]any, error) {
	res, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, fmt.Errorf("demo: %s: %w", tool, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, fmt.Errorf("demo: %s: %w", tool, err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("demo: %s: %w", tool, err)
	}
	return out, nil
}

// creates counts the create requests that the API has stored.
func (s *stage) creates() int {
	n := 0
	for _, a := range s.sim.Assets("") {
		if a.Created {
			n++
		}
	}
	return n
}

func token(proposed map[string]any) map[string]any {
	return map[string]any{"confirm_token": proposed["confirm_token"]}
}

func items(found map[string]any) []map[string]any {
	var out []map[string]any
	list, _ := found["items"].([]any)
	for _, i := range list {
		if m, ok := i.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (s *stage) say(format string, args ...any)  { fmt.Fprintf(s.out, format+"\n", args...) }
func (s *stage) step(format string, args ...any) { s.say("\n"+format, args...) }
