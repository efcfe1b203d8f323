package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

// simulator is the API, in a process of its own.
type simulator struct {
	cmd         *exec.Cmd
	api, manage string
	client      http.Client
}

func startSimulator(path string) (*simulator, error) {
	s := &simulator{cmd: exec.Command(path)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for s.manage == "" && lines.Scan() {
		switch name, addr, _ := strings.Cut(lines.Text(), " "); name {
		case "api":
			s.api = addr
		case "manage":
			s.manage = addr
		}
	}
	if s.manage == "" {
		return nil, fmt.Errorf("%s printed no addresses", path)
	}
	return s, nil
}

func (s *simulator) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *simulator) ask(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.manage+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("simulator: %s %s: %s", method, path, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

const (
	project  = "7d1c2a90-3f0b-4c55-9c1e-2b6a1f0e9d11"
	firstTag = 1000
	slots    = batches*batch + 1 // one to warm up with
)

// values are the n-th proposal's. slot chooses its port and profile: ours reads
// an asset once for all who ask within two seconds, so that no slot may come
// again sooner.
func values(n, slot int) plan.Values {
	return plan.Values{
		Name: fmt.Sprintf("bench-%08d", n), VLAN: fmt.Sprint(firstTag + n%3000),
		Port:    fmt.Sprintf("11111111-aaaa-4bbb-8ccc-%012d", slot),
		Profile: fmt.Sprintf("22222222-aaaa-4bbb-8ccc-%012d", slot),
	}
}

func connection(v plan.Values) object {
	return object{
		"type": "EVPL_VC", "name": v.Name, "bandwidth_mbps": 50, "notification_emails": []string{"noc@example.net"}, "project_id": project,
		"a_side": object{"port_uuid": v.Port, "link_protocol": object{"type": "dot1q", "vlan_tag": json.Number(v.VLAN)}},
		"z_side": object{"service_profile_uuid": v.Profile, "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012"},
	}
}

func network(v plan.Values) object {
	return object{
		"type": "EVPLAN", "scope": "REGIONAL", "region": "AMER", "name": v.Name, "notification_emails": []string{"noc@example.net"}, "project_id": project,
	}
}

// reset brings the first state back, and what values name.
func (s *simulator) reset() error {
	if err := s.ask("POST", "/reset", nil, nil); err != nil {
		return err
	}
	var assets []object
	for slot := range slots {
		v := values(0, slot)
		assets = append(assets,
			object{"kind": "port", "uuid": v.Port, "name": "DC-10G", "metro_code": "DC", "encapsulation": "DOT1Q", "bandwidth": 10000, "state": "ACTIVE", "project_id": project, "account_number": 270848},
			object{
				"kind": "service_profile", "uuid": v.Profile, "name": "AWS Direct Connect", "type": "L2_PROFILE", "metros": []string{"DC", "SV"},
				"seller_regions":       object{"DC": []string{"us-east-1"}, "SV": []string{"us-west-1"}},
				"supported_bandwidths": []int{50, 100, 200}, "custom_bandwidth": false, "authentication_key": "AWS account id",
			})
	}
	return s.ask("POST", "/assets", assets, nil)
}

// entry is a line of the simulator's history.
type entry struct {
	Time    time.Time   `json:"time"`
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Query   string      `json:"query"`
	Body    string      `json:"body"`
	DryRun  bool        `json:"dry_run"`
	Status  int         `json:"status"`
	Headers http.Header `json:"headers"`
}

// history returns what was asked since the first seen ones, but for log-ins.
func (s *simulator) history(seen int) (entries []entry, total int, err error) {
	var all []entry
	if err := s.ask("GET", "/history", nil, &all); err != nil {
		return nil, 0, err
	}
	for _, e := range all[seen:] {
		if e.Path != "/oauth2/v1/token" {
			entries = append(entries, e)
		}
	}
	return entries, len(all), nil
}

// delay makes every call that m matches wait.
func (s *simulator) delay(d time.Duration, m object) error {
	return s.ask("POST", "/faults", object{"match": m, "do": object{"kind": "delay", "ms": d.Milliseconds()}}, nil)
}

func (s *simulator) noDelays() error { return s.ask("DELETE", "/faults", nil, nil) }
