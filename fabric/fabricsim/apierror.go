package fabricsim

import (
	"fmt"
	"net/http"
)

// apiError is one entry of the API's error array.
type apiError struct {
	Code        string      `json:"errorCode"`
	Message     string      `json:"errorMessage"`
	Correlation string      `json:"correlationId,omitempty"`
	Details     string      `json:"details,omitempty"`
	Info        []errorInfo `json:"additionalInfo,omitempty"`
}

type errorInfo struct {
	Property string `json:"property,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func plain(code, message string) apiError { return apiError{Code: code, Message: message} }

func on(code, message, property string) apiError {
	return apiError{Code: code, Message: message, Info: []errorInfo{{Property: property}}}
}

// invalid is the API's word for everything that has no code of its own, or none
// that is documented.
func invalid(property, details string) apiError {
	e := on("EQ-3142501", "Invalid input", property)
	e.Details = details
	return e
}

// refuse answers with an error array.
func (c *call) refuse(status int, errs ...apiError) response {
	for i := range errs {
		errs[i].Correlation = c.correlation
	}
	return reply(status, errs)
}

func (c *call) badRequest(errs ...apiError) response { return c.refuse(http.StatusBadRequest, errs...) }

func (c *call) unauthorized(code, message string) response {
	return c.refuse(http.StatusUnauthorized, plain(code, message))
}

func (c *call) forbidden() response {
	e := plain("EQ-3045003", "Operation not allowed")
	e.Details = "Operation not allowed for current user"
	return c.refuse(http.StatusForbidden, e)
}

func (c *call) wrongMethod() response {
	e := plain("EQ-3142569", "Method not supported, Please check the URL passed")
	e.Details = "Method:" + c.r.Method
	return c.refuse(http.StatusMethodNotAllowed, e)
}

func (c *call) wrongMedia() response {
	return c.refuse(http.StatusUnsupportedMediaType, apiError{
		Code:    "EQ-3040016",
		Message: "Unsupported media type, please check the request's Content-Type or Content-Encoding",
		Info:    []errorInfo{{Property: "contentType", Reason: "The payload format is in an unsupported format"}},
	})
}

func (c *call) noUUID() response {
	e := plain("EQ-3045811", "uuid not found")
	e.Details = "uuid not found"
	return c.refuse(http.StatusNotFound, e)
}

// noPath is what a gateway says: an object, not an array.
func (c *call) noPath() response {
	return reply(http.StatusNotFound, doc{
		"timestamp": stamp(c.now), "status": http.StatusNotFound, "error": "Not Found", "path": c.r.URL.Path,
	})
}

// issues collects everything that is wrong with a request: the API reports
// several errors at once.
type issues []apiError

func (l *issues) add(e apiError) { *l = append(*l, e) }

func (l *issues) invalid(property, format string, args ...any) {
	l.add(invalid(property, fmt.Sprintf(format, args...)))
}
