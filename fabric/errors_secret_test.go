package fabric_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fabricbroker/broker"
	"fabricbroker/fabric"
)

// I9: a server that echoes whatever it got into its errors makes no secret
// visible, in no error, result or log.
func TestNoSecretIsPrinted(t *testing.T) {
	const (
		secret = "marker-client-secret"
		bearer = "marker-bearer-token"
		azKey  = "9e7aea28-b0ff-5934-96cd-e00067e30a25"
	)
	mode := "array"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == loginPath && mode != "login" {
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_timeout":"3599"}`, bearer)
			return
		}
		body := new(strings.Builder)
		_, _ = fmt.Fprintf(body, "%s %s ", r.Header.Get("Authorization"), r.URL.Path)
		buf := make([]byte, 64<<10)
		n, _ := r.Body.Read(buf)
		body.Write(buf[:n])
		said := body.String()
		w.Header().Set("Correlationid", r.Header.Get("Authorization"))
		switch mode {
		case "html":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprintf(w, "<html>%s</html>", said)
		default:
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode([]map[string]any{{
				"errorCode": "EQ-1 " + r.Header.Get("Authorization"), "errorMessage": said, "details": said, "correlationId": said,
				"additionalInfo": []map[string]any{{"property": "/" + said, "reason": said}},
			}})
		}
	}))
	defer srv.Close()
	for _, m := range []string{"array", "html", "login"} {
		mode = m
		r := &rig{t: t, url: srv.URL, log: &lockedBuffer{}}
		api := r.client(func(o *fabric.Options) { o.ClientSecret = broker.NewSecret(secret) })
		spec := connSpec("EVPL_VC", 50, `{"service_token_uuid":"`+tokenA+`"}`, profileSide(azure, "DC", "", azKey))
		req := compiled(t, api, broker.ConnectionCreate, spec)
		_, errV := api.Validate(t.Context(), req)
		_, errG := api.Get(t.Context(), "service_token", tokenA)
		_, errS := api.Search(t.Context(), fabric.SearchQuery{Kind: "port"})
		all := whole([]any{errV, errG, errS, api.Create(t.Context(), req, "p", soon()), api.Quote(t.Context(), req)}) +
			fmt.Sprint(errV, errG, errS) + r.log.String()
		for _, s := range []string{secret, bearer, azKey, tokenA} {
			if i := strings.Index(all, s); i >= 0 {
				t.Errorf("%s: %q stands in …%s", m, s, all[max(0, i-200):i+len(s)])
			}
		}
		if !strings.Contains(r.log.String(), "level=DEBUG") {
			t.Error("the log was not asked at debug")
		}
	}
}
