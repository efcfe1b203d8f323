package fabricsim

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	tokenPath = "/oauth2/v1/token" //nolint:gosec // a path, not a credential
	maxBad    = 5
)

// logIn speaks the token endpoint's own dialect: JSON only, and failures are a
// 400 with one object whose keys are nowhere else in the API.
func (s *Sim) logIn(c *call) response {
	if c.r.Method != http.MethodPost {
		return loginFailure(http.StatusMethodNotAllowed, "405000", "Method not allowed")
	}
	if !c.isJSON() {
		return loginFailure(http.StatusUnsupportedMediaType, "415000", "Unsupported media type")
	}
	body, err := parseObject(c.body)
	if err != nil {
		return loginFailure(http.StatusBadRequest, "400001", "Malformed request body")
	}
	id := text(body, "client_id")
	if id == "" || text(body, "client_secret") == "" {
		return loginFailure(http.StatusBadRequest, "400002", "client_id and client_secret are required")
	}
	// A missing grant_type means the retired password grant.
	if text(body, "grant_type") != "client_credentials" {
		return loginFailure(http.StatusBadRequest, "400003", "Unsupported grant type")
	}
	if s.badLogs[id] >= maxBad {
		return loginFailure(http.StatusBadRequest, "400005", "Account is locked")
	}
	if subtle.ConstantTimeCompare([]byte(text(body, "client_secret")), []byte(Secret)) == 0 {
		s.badLogs[id]++
		return loginFailure(http.StatusBadRequest, "400004", "Invalid client credentials")
	}
	s.badLogs[id] = 0

	life := s.TokenLife
	if life == 0 {
		life = 3599 * time.Second
	}
	bearer := "sim." + uuid.NewString()
	s.bearers[bearer] = c.now.Add(life)
	return reply(http.StatusOK, doc{
		"access_token":  bearer,
		"token_timeout": strconv.Itoa(int(life / time.Second)), // a string, as the API has it
		"user_name":     id,
		"token_type":    "Bearer",
	})
}

func loginFailure(status int, code, message string) response {
	return reply(status, doc{
		"error_domain": "fabric-sim", "error_title": "Login failure", "error_code": code,
		"developer_message": message, "error_message": message,
	})
}

// authorized knows StaticToken and every bearer token that is still good.
func (s *Sim) authorized(c *call) bool {
	kind, bearer, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return false
	}
	if bearer == StaticToken {
		return true
	}
	expiry, ok := s.bearers[bearer]
	return ok && c.now.Before(expiry)
}
