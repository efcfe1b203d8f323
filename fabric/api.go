package fabric

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"fabricbroker/broker"
	"fabricbroker/pricing"
)

// DefaultEndpoint is the production API, which is what Options.Endpoint "" means.
const DefaultEndpoint = "https://api.equinix.com"

// Options are what an [API] needs. Either ClientID and ClientSecret, or Token.
type Options struct {
	// Endpoint is https, or http on loopback; "" is [DefaultEndpoint].
	Endpoint     string
	ClientID     string
	ClientSecret broker.Secret
	// Token is a bearer token made elsewhere. It is never renewed.
	Token     broker.Secret
	UserAgent string // "" = fabric-broker

	// Timeouts; 0 is the default: 3 s for all look-ups of one request, 5 s for
	// a price, 60 s for a create and 30 s for a dry run.
	LookupTimeout, PricingTimeout, CreateTimeout, DryRunTimeout time.Duration

	// RateCard has the operator's own prices; nil = none.
	RateCard *pricing.RateCard
	// Lockout remembers a refused log-in; nil = this API alone remembers it.
	Lockout Lockout
	// Observe is told how long the steps of a change took: "look_up", "dry_run",
	// "price" and "create". nil = nobody measures.
	Observe func(step string, took time.Duration)
	Now     func() time.Time // nil = time.Now
	Log     *slog.Logger     // nil = discarded

	// Transport replaces every transport of the API. It is for tests that have
	// no sockets: whether a byte of a create has left cannot be told with it,
	// so that a failed create is unknown.
	Transport http.RoundTripper
}

// API is Equinix Fabric as a provider of assets, prices and reads. Its methods
// may be called concurrently.
type API struct {
	o       Options
	base    *url.URL
	session *session
	reads   *retryablehttp.Client
	assets  *cache
	tls     *tls.Config // nil = the system's roots; tests trust their own server
}

var (
	_ broker.Provider = (*API)(nil)
	_ broker.Quoter   = (*API)(nil)
)

// New returns the API that o describes. It opens no connection.
func New(o Options) (*API, error) {
	base, err := parseEndpoint(o.Endpoint)
	if err != nil {
		return nil, err
	}
	if o.Token.IsZero() && (o.ClientID == "" || o.ClientSecret.IsZero()) {
		return nil, errors.New("fabric: no credentials: set EQUINIX_API_CLIENTID and EQUINIX_API_CLIENTSECRET, or EQUINIX_API_TOKEN")
	}
	o.LookupTimeout = orDefault(o.LookupTimeout, 3*time.Second)
	o.PricingTimeout = orDefault(o.PricingTimeout, 5*time.Second)
	o.CreateTimeout = orDefault(o.CreateTimeout, 60*time.Second)
	o.DryRunTimeout = orDefault(o.DryRunTimeout, 30*time.Second)
	if o.UserAgent == "" {
		o.UserAgent = "fabric-broker"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, time.Duration) {}
	}
	if o.Lockout == nil {
		o.Lockout = &memoryLockout{}
	}
	a := &API{o: o, base: base, assets: newCache(o.Now)}
	a.reads = a.readClient()
	a.session = newSession(a)
	return a, nil
}

// took tells Observe of a step when the returned function is called.
func (a *API) took(step string) func() {
	began := time.Now()
	return func() { a.o.Observe(step, time.Since(began)) }
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// parseEndpoint refuses whatever would send credentials in the clear or
// elsewhere than the address says.
func parseEndpoint(s string) (*url.URL, error) {
	if s == "" {
		s = DefaultEndpoint
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return nil, errors.New("fabric: the endpoint is not an address like " + DefaultEndpoint)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, errors.New("fabric: the endpoint must be scheme and host alone, like " + DefaultEndpoint)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		host := strings.ToLower(u.Host)
		if port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]; strings.HasSuffix(host, port) {
			host = strings.TrimSuffix(host, port) // one name for one account
		}
		return &url.URL{Scheme: u.Scheme, Host: host}, nil
	default:
		return nil, fmt.Errorf("fabric: the endpoint %s://%s must be https, or http on loopback", u.Scheme, u.Host)
	}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Account returns the account that approved requests would bill. A bearer token
// from elsewhere does not say whose it is: all of them count as one account, so
// that a renewed token does not make an unresolved create repeatable.
func (a *API) Account() broker.Account {
	return broker.Account{
		Identity:   digest("fabric account", a.base.String(), a.o.ClientID),
		Endpoint:   a.base.Host,
		Production: a.base.String() == DefaultEndpoint,
	}
}

// digest hashes texts so that no two lists of texts have the same one.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(t)))
		h.Write(n[:])
		h.Write([]byte(t))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Compile implements [broker.Provider].
func (a *API) Compile(t broker.ChangeType, spec []byte, now time.Time) (broker.Request, error) {
	return compile(t, spec, now)
}

// LogIn logs in where no good token is at hand, and says whether that works.
func (a *API) LogIn(ctx context.Context) error {
	_, err := a.session.bearer(ctx, readMargin, "")
	return err
}
