package fabric

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	readRetries = 2               // after the first try
	maxWait     = 5 * time.Second // a Retry-After beyond it is not waited for
	dialTimeout = 10 * time.Second
)

// readClient carries what may be repeated: reads, searches, prices.
func (a *API) readClient() *retryablehttp.Client {
	var t http.RoundTripper = &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        a.tls,
		TLSHandshakeTimeout:    dialTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if a.o.Transport != nil {
		t = a.o.Transport
	}
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: t, CheckRedirect: noRedirect},
		RetryMax:     readRetries,
		RetryWaitMin: 100 * time.Millisecond,
		RetryWaitMax: maxWait,
		CheckRetry:   checkRetry,
		Backoff:      backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// noRedirect makes a redirect an answer like any other: it may lead elsewhere
// with the credentials, and drop the query that makes a dry run one.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// checkRetry repeats a read on connection errors, 429 and 5xx, where there is
// still time to.
func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return !isCertificate(err), nil
	}
	return transient(resp.StatusCode) && worthWaiting(ctx, retryAfter(resp.Header)), nil
}

func transient(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// worthWaiting reports whether a pause of d is neither unreasonable nor longer
// than what is left.
func worthWaiting(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return d <= maxWait && (!ok || time.Until(deadline) > d)
}

func backoff(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
	wait := least << min(attempt, 10)
	if resp != nil {
		wait = max(wait, retryAfter(resp.Header))
	}
	return min(wait, most)
}

// retryAfter returns what the header asks for, in seconds or as a date; 0 where
// it asks for nothing.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		return time.Duration(min(n, 24*3600)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func isCertificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &host)
}
