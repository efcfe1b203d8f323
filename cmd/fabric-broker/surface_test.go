package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listed is what tools/list answers.
func (p *peer) listed() object {
	p.t.Helper()
	m := p.send("tools/list", map[string]any{"_meta": p.meta()}).wait()
	if m.Error != nil {
		p.t.Fatalf("tools/list: %+v", m.Error)
	}
	return m.Result
}

// The public surface, as a host sees it. The list must not depend on the era or
// on what a client can do: one that shows no forms is told so by its confirm.
func TestSurface(t *testing.T) {
	w := newWorld(t)
	for _, era := range eras {
		for _, caps := range []string{canAsk, `{}`} {
			t.Run(era+"/"+caps, func(t *testing.T) {
				got := w.peer(era, caps).listed()
				text, err := json.MarshalIndent(got["tools"], "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				golden(t, "surface/tools", string(text)+"\n")
				envelope := []string{"cacheScope", "tools", "ttlMs"}
				if era == modern {
					envelope = []string{"_meta", "cacheScope", "resultType", "tools", "ttlMs"}
				}
				if d := cmp.Diff(envelope, slices.Sorted(maps.Keys(got))); d != "" {
					t.Errorf("around the list (-want +got):\n%s", d)
				}
			})
		}
	}
}

// What else a host is told, in the older eras by initialize.
func TestSurfaceBesideTheTools(t *testing.T) {
	p := newWorld(t).silent("2025-11-25", canAsk)
	got := p.send("initialize", map[string]any{
		"protocolVersion": p.era, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "peer", "version": "1"},
	}).wait().Result
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "surface/initialize", string(text)+"\n")
	if n := len(got["instructions"].(string)); n > 2048 {
		t.Errorf("%d bytes of instructions: Claude Code cuts them at 2048", n)
	}
}

// hostLimits are what large hosts and the models behind them take. One tool that
// breaks a limit may cost its session all of them, often in silence.
var hostLimits = []struct {
	rule  string
	holds func(tool object) error
}{
	{"the name fits behind the longest prefix, that of a Claude Code plugin", func(tool object) error {
		name := text(tool["name"])
		if full := "mcp__plugin_fabric-broker_fabric-broker__" + name; len(full) > 64 || !regexp.MustCompile(`^[a-z_]+$`).MatchString(name) {
			return fmt.Errorf("%s has %d characters", full, len(full))
		}
		return nil
	}},
	{"a description is there and has at most 1024 bytes (OpenAI)", func(tool object) error {
		if n := len(text(tool["description"])); n == 0 || n > 1024 {
			return fmt.Errorf("%d bytes", n)
		}
		return nil
	}},
	{"the description says what the tool will not do", func(tool object) error {
		if !regexp.MustCompile(`(?i)creates (and changes )?nothing|cannot`).MatchString(text(tool["description"])) {
			return fmt.Errorf("%s", tool["description"])
		}
		return nil
	}},
	{"the arguments are one plain object (Anthropic and OpenAI refuse a root with alternatives)", func(tool object) error {
		root, _ := tool["inputSchema"].(map[string]any)
		_, isObject := root["properties"].(map[string]any)
		keys := slices.Sorted(maps.Keys(root))
		plain := !slices.ContainsFunc(keys, func(k string) bool {
			return !slices.Contains([]string{"additionalProperties", "properties", "required", "type"}, k)
		})
		if root["type"] != "object" || !isObject || !plain {
			return fmt.Errorf("type %v with %v", root["type"], keys)
		}
		return nil
	}},
	{"every list says of what (VS Code), every object has properties, every type is one word (Gemini)", func(tool object) error {
		return eachSchema("", tool["inputSchema"], func(at string, s map[string]any) error {
			switch s["type"] {
			case "string", "integer", "boolean":
			case "array":
				if s["items"] == nil {
					return fmt.Errorf("%s: a list without items", at)
				}
			case "object":
				if s["properties"] == nil {
					return fmt.Errorf("%s: an object without properties", at)
				}
			default:
				return fmt.Errorf("%s: type %v", at, s["type"])
			}
			return nil
		})
	}},
	{"there are no references, alternatives and conditions anywhere (hosts drop or refuse them)", func(tool object) error {
		return eachSchema("", tool["inputSchema"], func(at string, s map[string]any) error {
			for _, k := range []string{"$ref", "$defs", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "const", "patternProperties"} {
				if s[k] != nil {
					return fmt.Errorf("%s: %s", at, k)
				}
			}
			return nil
		})
	}},
	{"every enum is of words (Gemini)", func(tool object) error {
		return eachSchema("", tool["inputSchema"], func(at string, s map[string]any) error {
			list, _ := s["enum"].([]any)
			for _, v := range list {
				if text(v) == "" {
					return fmt.Errorf("%s: %v", at, v)
				}
			}
			return nil
		})
	}},
	{"there is no output schema (TypeScript clients check errors against it, and show those instead)", func(tool object) error {
		if tool["outputSchema"] != nil {
			return fmt.Errorf("%v", tool["outputSchema"])
		}
		return nil
	}},
}

// eachSchema visits a schema and those of its properties and items.
func eachSchema(at string, v any, visit func(at string, schema map[string]any) error) error {
	schema, _ := v.(map[string]any)
	if err := visit(at, schema); err != nil {
		return err
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		if err := eachSchema(strings.TrimPrefix(at+"."+name, "."), p, visit); err != nil {
			return err
		}
	}
	if schema["items"] != nil {
		return eachSchema(at+"[]", schema["items"], visit)
	}
	return nil
}

func TestSurfaceFitsHosts(t *testing.T) {
	tools, _ := newWorld(t).peer(modern, canAsk).listed()["tools"].([]any)
	if n := len(tools); n == 0 || n > 40 {
		t.Errorf("%d tools: Cursor takes 40 of all servers together", n)
	}
	for _, limit := range hostLimits {
		t.Run(limit.rule, func(t *testing.T) {
			for _, tool := range tools {
				tool, _ := tool.(map[string]any)
				if err := limit.holds(tool); err != nil {
					t.Errorf("%v: %v", tool["name"], err)
				}
			}
		})
	}
}
