package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const (
	endpoint      = "/mcp"
	wellKnownPath = "/.well-known/oauth-protected-resource"
)

// Resource returns the identifier of the endpoint of a server with this public
// URL: what a token's audience may be, and what clients connect to.
func Resource(public string) (*url.URL, error) {
	u, err := url.Parse(public)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(u.Path, "{} ") {
		return nil, fmt.Errorf("%q is no plain http or https URL", public)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), endpoint) + endpoint
	u.RawPath = ""
	return u, nil
}

// metadataURL is where the metadata of a resource is: the well-known path comes
// before the resource's own (RFC 9728 section 3.1).
func metadataURL(resource *url.URL) string {
	u := *resource
	u.Path = wellKnownPath + resource.Path
	return u.String()
}

// metadata serves the protected resource metadata of RFC 9728: which servers
// issue tokens for us.
func metadata(resource *url.URL, issuers []string) http.Handler {
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:               resource.String(),
		AuthorizationServers:   issuers,
		BearerMethodsSupported: []string{"header"},
		ResourceName:           "Fabric Broker",
	})
}
