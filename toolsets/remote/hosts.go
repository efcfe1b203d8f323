package remote

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// hosts checks where a request says it goes and where it comes from, so that no
// web page can have a browser talk to a server that only this machine, or only
// its network, reaches.
type hosts struct {
	public string // host of the public URL; "" without one
	cross  *http.CrossOriginProtection
}

func newHosts(public *url.URL) (*hosts, error) {
	h := &hosts{cross: http.NewCrossOriginProtection()}
	if public == nil {
		return h, nil
	}
	h.public = public.Host
	// A proxy may pass on another Host than its own, which is the Origin's.
	return h, h.cross.AddTrustedOrigin(public.Scheme + "://" + public.Host)
}

// allow answers 403 and returns false for a request that is not meant for us.
func (h *hosts) allow(w http.ResponseWriter, r *http.Request) bool {
	// DNS rebinding: to a browser the attacker's name is the origin, and it
	// resolves to loopback.
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local != nil && Loopback(local.String()) && !Loopback(r.Host) && !strings.EqualFold(r.Host, h.public) {
		http.Error(w, "this Host is not served here; behind a proxy, EQUINIX_MCP_PUBLIC_URL names it", http.StatusForbidden)
		return false
	}
	// The protection trusts safe methods. Ours opens a stream with GET.
	strict := *r
	strict.Method = http.MethodPost
	if err := h.cross.Check(&strict); err != nil {
		http.Error(w, "requests of web pages of other origins are not served", http.StatusForbidden)
		return false
	}
	return true
}
