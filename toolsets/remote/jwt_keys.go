package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

const (
	issuerTimeout = 10 * time.Second
	issuerPause   = 5 * time.Second
	maxIssuer     = 1 << 20 // of what an issuer answers
)

// issuerClient asks an issuer for its keys. It follows no redirect, reads
// boundedly, and asks seldom: a token with a key id that nobody knows makes
// go-oidc look for new keys, and anybody can send such tokens.
func issuerClient() *http.Client {
	return &http.Client{
		Timeout:       issuerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &seldom{
			next:  &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: issuerTimeout, MaxIdleConns: 2, IdleConnTimeout: time.Minute},
			limit: rate.NewLimiter(rate.Every(issuerPause), 6),
		},
	}
}

// seldom bounds how often, and how much, is fetched.
type seldom struct {
	next  http.RoundTripper
	limit *rate.Limiter
}

var errSeldom = errors.New("the issuer was asked often enough for now")

// RoundTrip implements http.RoundTripper.
func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.limit.Allow() {
		return nil, errSeldom
	}
	res, err := s.next.RoundTrip(r)
	if err == nil {
		res.Body = bounded{io.LimitReader(res.Body, maxIssuer), res.Body}
	}
	return res, err
}

type bounded struct {
	io.Reader
	io.Closer
}

// watchedKeys notes where keys could not be fetched: that says nothing about
// the token, and go-oidc's error does not tell the two apart.
type watchedKeys struct{ *oidc.RemoteKeySet }

type (
	keysFailedKey struct{}
	keysFailed    struct{ err error }
)

// VerifySignature implements oidc.KeySet.
func (k watchedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, jwt)
	// Asked too often is our own brake: the keys were fetched a moment ago, and
	// none of them fits.
	if err != nil && strings.HasPrefix(err.Error(), "fetching keys") && !errors.Is(err, errSeldom) {
		if f, ok := ctx.Value(keysFailedKey{}).(*keysFailed); ok {
			f.err = err
		}
	}
	return payload, err
}

// secureURL refuses addresses on whose answer anybody could have a hand.
func secureURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("it is not an absolute URL")
	}
	if u.Scheme == "https" || u.Scheme == "http" && Loopback(u.Host) {
		return nil
	}
	return fmt.Errorf("it must be https, or http on loopback, not %s", u.Scheme)
}

// Loopback reports whether host, with or without a port, is this machine.
func Loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
