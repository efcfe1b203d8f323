package fabrictest

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fabricbroker/broker"
	"fabricbroker/fabric"
)

var formats = sync.OnceFunc(func() {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
	openapi3.DefineStringFormatValidator("email", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForEmail))
})

// specification is the published one, with its mistake about routers corrected:
// it requires "notification", which no schema has.
func specification(t *testing.T) *openapi3.T {
	t.Helper()
	formats()
	doc, err := openapi3.NewLoader().LoadFromFile(facts(t, "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	router := doc.Components.Schemas["CloudRouterPostRequest"].Value
	i := slices.Index(router.Required, "notification")
	if i < 0 {
		t.Fatal("the specification does not require notification any more: remove the correction")
	}
	router.Required[i] = "notifications"
	return doc
}

// TestRequestsFitTheSpecification holds every request that we compile against
// the schema of its operation, and finds fields that no schema has.
func TestRequestsFitTheSpecification(t *testing.T) {
	doc := specification(t)
	requests := goldens(t)
	maps.Copy(requests, ofCases(t))
	seen := map[broker.ChangeType]int{}
	for name, r := range requests {
		seen[r.ChangeType]++
		t.Run(name, func(t *testing.T) {
			op := doc.Paths.Find(r.Path).Post
			if op.Parameters.GetByInAndName("query", "dryRun") == nil {
				t.Error("the operation has no dry run")
			}
			schema := op.RequestBody.Value.Content["application/json"].Schema
			var body any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			if err := schema.Value.VisitJSON(body, openapi3.EnableFormatValidation(), openapi3.MultiErrors(), openapi3.VisitAsRequest()); err != nil {
				t.Errorf("%v\n%s", err, r.Body)
			}
			for _, path := range undeclared("", schema, body) {
				t.Errorf("%s is in no schema", path)
			}
		})
	}
	for _, ct := range collections {
		if seen[ct] < 2 {
			t.Errorf("only %d requests of %s", seen[ct], ct)
		}
	}
}

// ofCases are the requests of the specs of cases that compile.
func ofCases(t *testing.T) map[string]broker.Request {
	t.Helper()
	api, err := fabric.New(fabric.Options{Endpoint: "http://127.0.0.1:1", Token: broker.NewSecret("t")})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]broker.Request{}
	for _, file := range files(t, facts(t, "cases/*.json")) {
		var k struct {
			ChangeType broker.ChangeType `json:"change_type"`
			Spec       json.RawMessage
		}
		if err := json.Unmarshal(read(t, file), &k); err != nil {
			t.Fatal(err)
		}
		if r, err := api.Compile(k.ChangeType, k.Spec, now); err == nil {
			out[strings.TrimSuffix(filepath.Base(file), ".json")] = r
		}
	}
	return out
}

// undeclared are the fields of v that its schema does not have.
func undeclared(at string, s *openapi3.SchemaRef, v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		known := properties(s)
		if len(known) == 0 {
			return nil
		}
		for k, e := range v {
			if known[k] == nil {
				out = append(out, at+"/"+k)
				continue
			}
			out = append(out, undeclared(at+"/"+k, known[k], e)...)
		}
	case []any:
		if s.Value.Items == nil {
			return nil
		}
		for _, e := range v {
			out = append(out, undeclared(at+"/*", s.Value.Items, e)...)
		}
	}
	return out
}

func properties(s *openapi3.SchemaRef) openapi3.Schemas {
	all := maps.Clone(s.Value.Properties)
	if all == nil {
		all = openapi3.Schemas{}
	}
	for _, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
		maps.Copy(all, properties(part))
	}
	return all
}
