// Command floor is the least server that our propose and confirm could be: of
// the same SDK, with two tools that make the same calls to the API, ask the same
// form and return results of the same size, and do nothing else. It compiles,
// checks, signs, compares, records and limits nothing, decodes no answer, and
// makes all of its calls over connections that are kept, which ours does for
// reads alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fabricbroker/cmd/fabric-broker/testdata/bench/plan"
)

const modernVersion = "2026-07-28"

func main() {
	f := &floor{endpoint: os.Getenv(plan.EndpointEnv), proposed: map[string]plan.Values{}}
	raw, err := os.ReadFile(os.Getenv(plan.Env))
	if err == nil {
		err = json.Unmarshal(raw, &f.plan)
	}
	if err != nil {
		log.Fatal(err)
	}
	f.client.Transport = &http.Transport{MaxIdleConnsPerHost: 8}
	s := mcp.NewServer(&mcp.Implementation{Name: "floor", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	anything := map[string]any{"type": "object"}
	s.AddTool(&mcp.Tool{Name: plan.ProposeTool, InputSchema: anything}, f.propose)
	s.AddTool(&mcp.Tool{Name: plan.ConfirmTool, InputSchema: anything}, f.confirm)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

type floor struct {
	plan     plan.Plan
	endpoint string
	client   http.Client

	logIn  sync.Once
	bearer string

	mu       sync.Mutex
	proposed map[string]plan.Values
}

type proposeArgs struct {
	ChangeType string `json:"change_type"`
	Spec       struct {
		Name  string `json:"name"`
		ASide struct {
			PortUUID     string `json:"port_uuid"`
			LinkProtocol struct {
				VLANTag int `json:"vlan_tag"`
			} `json:"link_protocol"`
		} `json:"a_side"`
		ZSide struct {
			ProfileUUID string `json:"service_profile_uuid"`
		} `json:"z_side"`
	} `json:"spec"`
}

func (f *floor) propose(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a proposeArgs
	if err := json.Unmarshal(req.Params.Arguments, &a); err != nil {
		return nil, err
	}
	v := plan.Values{
		Name: a.Spec.Name, VLAN: strconv.Itoa(a.Spec.ASide.LinkProtocol.VLANTag),
		Port: a.Spec.ASide.PortUUID, Profile: a.Spec.ZSide.ProfileUUID,
	}
	t := f.plan.Propose[a.ChangeType]
	if err := f.make(ctx, t.Calls, v); err != nil {
		return nil, err
	}
	f.mu.Lock()
	token := fmt.Sprintf("chg-%0*d", len(f.plan.Token)-len("chg-"), len(f.proposed))
	f.proposed[token] = v
	f.mu.Unlock()
	return result(bytes.Replace(t.Result, []byte(f.plan.Token), []byte(token), 1)), nil
}

func (f *floor) confirm(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var a struct {
		Token string `json:"confirm_token"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &a); err != nil {
		return nil, err
	}
	f.mu.Lock()
	v := f.proposed[a.Token]
	f.mu.Unlock()
	question := &mcp.ElicitParams{Mode: "form", Message: f.plan.Message, RequestedSchema: f.plan.Schema}
	era, _ := req.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	switch {
	case era < modernVersion:
		if _, err := req.Session.Elicit(ctx, question); err != nil {
			return nil, err
		}
	case req.Params.RequestState == "":
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"confirm": question}, RequestState: f.plan.State}, nil
	}
	if err := f.make(ctx, f.plan.Confirm.Calls, v); err != nil {
		return nil, err
	}
	return result(f.plan.Confirm.Result), nil
}

func result(structured []byte) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(structured)}},
		StructuredContent: json.RawMessage(structured),
	}
}

// make makes calls, each as soon as the ones before it have ended.
func (f *floor) make(ctx context.Context, calls []plan.Call, v plan.Values) error {
	f.logIn.Do(func() {
		body := `{"client_id":"bench","client_secret":"sim-secret","grant_type":"client_credentials"}`
		answer, err := f.send(ctx, "POST", "/oauth2/v1/token", body)
		var token struct {
			Access string `json:"access_token"`
		}
		if err == nil && json.Unmarshal(answer, &token) == nil {
			f.bearer = token.Access
		}
	})
	ended, errs := make([]chan struct{}, len(calls)), make([]error, len(calls))
	for i := range calls {
		ended[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			defer close(ended[i])
			for _, before := range c.After {
				<-ended[before]
			}
			_, errs[i] = f.send(ctx, c.Method, v.Fill(c.Path), v.Fill(c.Body))
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) send(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.endpoint+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "floor")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if f.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+f.bearer)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}
