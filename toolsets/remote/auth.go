package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"fabricbroker/broker"
)

// Caller is whom a bearer token stands for.
type Caller struct {
	Principal broker.Principal
	// Expires is when the token ends; zero where it does not.
	Expires time.Time
}

// Verifier says whose a bearer token is. An error that wraps [ErrInvalidToken]
// refuses the token, with words that its sender may read; any other means that
// it cannot be told now.
type Verifier interface {
	Verify(ctx context.Context, token broker.Secret) (Caller, error)
}

// ErrInvalidToken says that a bearer token is none of ours.
var ErrInvalidToken = errors.New("invalid token")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidToken, fmt.Sprintf(format, args...))
}

// Verifiers asks each in turn. The first that takes the token names its caller;
// one that cannot tell keeps the others from calling it invalid.
type Verifiers []Verifier

// Verify implements Verifier.
func (vs Verifiers) Verify(ctx context.Context, token broker.Secret) (Caller, error) {
	refusal := invalid("no verifier knows it")
	for _, v := range vs {
		c, err := v.Verify(ctx, token)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(refusal, ErrInvalidToken):
			refusal = err
		}
	}
	return Caller{}, refusal
}

// Anonymous is the one principal of a server without authentication.
var Anonymous = broker.Principal{Kind: "static", Tenant: "local", Subject: "anonymous"}

// authenticate returns who calls, or answers the request and returns false.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	if s.o.Verifier == nil {
		return Caller{Principal: Anonymous}, true
	}
	token, err := bearer(r)
	if err != nil {
		s.challenge(w, r, "", err.Error())
		return Caller{}, false
	}
	c, err := s.o.Verifier.Verify(r.Context(), token)
	switch {
	case err == nil && c.Principal != broker.Principal{}:
		return c, true
	case err == nil, errors.Is(err, ErrInvalidToken):
		s.challenge(w, r, "invalid_token", "the bearer token is not valid here")
		if err != nil && s.warnings.Allow() {
			s.log.WarnContext(r.Context(), "bearer token refused", "reason", err.Error(), "from", r.RemoteAddr)
		}
	default:
		s.log.ErrorContext(r.Context(), "bearer tokens cannot be verified", "err", err)
		w.Header().Set("Retry-After", "5")
		http.Error(w, "bearer tokens cannot be verified at the moment", http.StatusServiceUnavailable)
	}
	return Caller{}, false
}

// bearer returns the bearer token of r (RFC 6750 section 2.1: of its header
// only, where no log of addresses sees it).
func bearer(r *http.Request) (broker.Secret, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return broker.Secret{}, errors.New("send one bearer token in the Authorization header")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " ,\t") {
		return broker.Secret{}, errors.New("send a bearer token in the Authorization header")
	}
	return broker.NewSecret(token), nil
}

// challenge answers 401. A request without a token gets no error code: it may
// not have known that one is needed (RFC 6750 section 3.1).
func (s *Server) challenge(w http.ResponseWriter, _ *http.Request, code, text string) {
	params := []string{fmt.Sprintf("resource_metadata=%q", s.metadataURL)}
	if code != "" {
		params = append([]string{fmt.Sprintf("error=%q", code), fmt.Sprintf("error_description=%q", text)}, params...)
	}
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(params, ", "))
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, http.StatusUnauthorized)
}
