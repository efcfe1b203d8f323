package fabric

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fabricbroker/broker"
)

func TestDecodeErrors(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want []broker.UpstreamError
	}{
		"array": {`[{"errorCode":"EQ-1","errorMessage":"m","correlationId":"c","details":"d","additionalInfo":[{"property":"/a","reason":"r"},{"property":"b.c"}]},{"errorCode":"EQ-2"}]`, []broker.UpstreamError{
			{Code: "EQ-1", Message: "m", Details: "d; r", Property: "/a", CorrelationID: "c"}, {Code: "EQ-1", Message: "m", Details: "d", Property: "b.c", CorrelationID: "c"}, {Code: "EQ-2"},
		}},
		"object":            {`{"errorCode":"IC-USR-014-01","errorMessage":"m","property":"p"}`, []broker.UpstreamError{{Code: "IC-USR-014-01", Message: "m", Property: "p"}}},
		"info as object":    {`[{"errorCode":"EQ-1","errorMessage":"m","additionalInfo":{"property":"portUuid"}}]`, []broker.UpstreamError{{Code: "EQ-1", Message: "m", Property: "portUuid"}}},
		"log-in":            {`{"errorDomain":"apps-prod","errorTitle":"Login Failure","errorCode":"S1006","developerMessage":"Login Failure"}`, []broker.UpstreamError{{Code: "S1006", Message: "Login Failure"}}},
		"log-in as written": {`{"error_code":"400004","error_message":"m","developer_message":"d"}`, []broker.UpstreamError{{Code: "400004", Message: "m", Details: "d"}}},
		"gateway":           {`{"fault":{"faultstring":"f","detail":{"errorcode":"steps.jwt.TokenExpired"}}}`, []broker.UpstreamError{{Code: "steps.jwt.TokenExpired", Message: "f"}}},
		"numbers":           {`{"code":401,"message":"m"}`, []broker.UpstreamError{{Code: "401", Message: "m"}}},
		"list inside":       {`{"errors":[{"errorCode":"E"}]}`, []broker.UpstreamError{{Code: "E"}}},
		"forged lines":      {`{"errorCode":"E","errorMessage":"a\nb\u202e\u0000c"}`, []broker.UpstreamError{{Code: "E", Message: "a b c"}}},
		"echo of a request": {`{"type":"EVPL_VC","name":"x"}`, nil},
		"page":              {`<html>`, nil},
		"empty":             {``, nil},
		"scalars":           {`["a",1,null]`, nil},
		"two documents":     {`{"errorCode":"E"}{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, decodeErrors([]byte(row.body), plain)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	long := decodeErrors([]byte(`[`+strings.TrimSuffix(strings.Repeat(`{"errorMessage":"`+strings.Repeat("é", 2000)+`"},`, maxErrors+10), ",")+`]`), plain)
	if len(long) != maxErrors || len(long[0].Message) > maxErrText+3 {
		t.Errorf("%d errors with %d bytes", len(long), len(long[0].Message))
	}
}

func FuzzDecodeErrors(f *testing.F) {
	for _, s := range []string{`[{"errorCode":"E","additionalInfo":[{"property":"/a"}]}]`, `{"fault":{"detail":{"errorcode":1}}}`, `{"error":"x","errors":{"code":1}}`, "<html>", "\xff{", `[[[[]]]]`} {
		f.Add([]byte(s))
	}
	a, err := New(Options{Token: broker.NewSecret("marker-token")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		errs := decodeErrors(body, plain)
		for _, e := range errs {
			if e.Code == "" && e.Message == "" {
				t.Error("an error without a code and a message")
			}
			for _, s := range []string{e.Code, e.Message, e.Details, e.Property, e.CorrelationID} {
				if !utf8.ValidString(s) || len(s) > 2*maxErrText+8 || strings.ContainsAny(s, "\n\r\x00\u202e") {
					t.Errorf("%q is not one clean line", s)
				}
			}
		}
		for _, code := range []int{200, 201, 302, 400, 500} {
			n := answer{status: code, header: http.Header{"Content-Type": {"text/html"}}, body: body}
			res := a.outcome(someRequest, n)
			if res.Outcome == broker.OutcomeCreated && (!isID(res.UUID) || code >= 300) {
				t.Errorf("created %+v", res)
			}
			if s := res.Detail; strings.ContainsAny(s, "\n\r\x00") || len(s) > 100<<10 {
				t.Errorf("detail %q", s)
			}
			_ = a.judgeDryRun(someRequest, n)
			_ = differences(someRequest, body)
		}
		if v, err := decodeJSON(body); err == nil {
			for _, kind := range Kinds() {
				_ = item(kind, v)
				if o := object(v); o != nil {
					_ = redact(kind, o)
				}
			}
		}
	})
}

// Every documented answer goes through the decoders: a success gives its uuid, an
// error its code and message.
func TestDocumentedExamples(t *testing.T) {
	dir := os.Getenv("FABRIC_FACTS")
	if dir == "" {
		t.Skip("FABRIC_FACTS is not set: no examples to read")
	}
	files, err := filepath.Glob(filepath.Join(dir, "examples", "*", "*.response.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	a, err := New(Options{Token: broker.NewSecret("token-token")})
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{
		"createConnection": "/fabric/v4/connections", "createNetwork": "/fabric/v4/networks",
		"createServiceToken": "/fabric/v4/serviceTokens", "createCloudRouter": "/fabric/v4/routers", "createPort": "/fabric/v4/ports",
	}
	creates, failures := 0, 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		op, name := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		code, _ := strconv.Atoi(strings.SplitN(name, "-", 2)[0])
		r := broker.Request{Path: paths[op], Name: "n", Body: []byte(`{"name":"n"}`)}
		n := answer{status: code, header: http.Header{}, body: body}
		if code >= 400 || op == "errors" {
			failures++
			errs := decodeErrors(body, plain)
			if len(errs) == 0 || errs[0].Code == "" || errs[0].Message == "" {
				t.Errorf("%s/%s: %+v", op, name, errs)
			}
			if n.status == 0 {
				n.status = 400
			}
		}
		got := a.outcome(r, n)
		_ = a.judgeDryRun(r, n)
		if r.Path == "" || code >= 300 {
			continue
		}
		creates++
		var o struct{ UUID string }
		_ = json.Unmarshal(body, &o)
		if got.UUID != o.UUID || (got.Outcome == broker.OutcomeCreated) != (o.UUID != "") {
			t.Errorf("%s/%s: uuid %q, got %+v", op, name, o.UUID, got)
		}
	}
	t.Logf("%d creates and %d failures", creates, failures)
}

func plain(s string) string { return s }

// I9: what crosses the cut of a long text must not show its beginning.
func TestASecretAtTheCutOfAnErrorIsMasked(t *testing.T) {
	secret := "f2a66939-f1c9-5738-808b-512ccf9328ab"
	m := broker.NewMask([]byte(`{"k":"`+secret+`"}`), []string{"/k"})
	for n := maxErrText - len(secret); n <= maxErrText; n++ {
		errs := decodeErrors([]byte(`[{"errorMessage":"`+strings.Repeat("x", n)+secret+`"}]`), m.Text)
		if strings.Contains(errs[0].Message, secret[:8]) {
			t.Fatalf("after %d bytes: %s", n, errs[0].Message)
		}
	}
}
