package fabric

import (
	"strings"

	"fabricbroker/broker"
)

const (
	maxErrors  = 64  // of one answer; published ones have up to 35
	maxErrText = 500 // bytes of one text of it
)

// decodeErrors reads every form of error that was seen: the documented array,
// one object, additionalInfo as an object, codes outside of the EQ pattern, the
// log-in's own object and a gateway's. It returns nil where nothing in body is
// an error with a code or a message. hide masks secrets in a text.
func decodeErrors(body []byte, hide func(string) string) []broker.UpstreamError {
	v, err := decodeJSON(body)
	if err != nil {
		return nil
	}
	var out []broker.UpstreamError
	for _, e := range list(v) {
		o, _ := e.(map[string]any)
		for _, inner := range []string{"errors", "error", "fault"} {
			switch in := o[inner].(type) {
			case []any:
				for _, e := range in {
					out = append(out, errorsOf(object(e), hide)...)
				}
			case map[string]any:
				out = append(out, errorsOf(in, hide)...)
			}
		}
		out = append(out, errorsOf(o, hide)...)
	}
	return out[:min(len(out), maxErrors)]
}

// errorsOf returns one error per property that o names, or one.
func errorsOf(o map[string]any, hide func(string) string) []broker.UpstreamError {
	first := func(o map[string]any, limit int, keys ...string) string { return firstOfKeys(o, hide, limit, keys) }
	e := broker.UpstreamError{
		Code:          first(o, 64, "errorCode", "error_code", "code", "errorcode"),
		Message:       first(o, maxErrText, "errorMessage", "error_message", "message", "faultstring", "error_description", "errorTitle", "error_title", "error", "developerMessage", "developer_message"),
		Details:       first(o, maxErrText, "details", "developerMessage", "developer_message", "moreInfo"),
		Property:      first(o, 200, "property"),
		CorrelationID: first(o, 100, "correlationId", "correlation_id"),
	}
	if e.Code == "" {
		e.Code = clean(hide(text(at(o, "detail", "errorcode"))), 64)
	}
	if e.Code == "" && e.Message == "" {
		return nil
	}
	if e.Details == e.Message {
		e.Details = ""
	}
	var out []broker.UpstreamError
	for _, info := range list(o["additionalInfo"]) {
		i := object(info)
		property, reason := first(i, 200, "property"), first(i, maxErrText, "reason")
		if property == "" && reason == "" {
			continue
		}
		one := e
		if property != "" {
			one.Property = property
		}
		if reason != "" && reason != one.Details {
			one.Details = strings.TrimPrefix(one.Details+"; "+reason, "; ")
		}
		if out = append(out, one); len(out) == maxErrors {
			break
		}
	}
	if out == nil {
		out = append(out, e)
	}
	return out
}

// firstOfKeys is the first text that is there. Secrets are hidden before it is
// cut: the rest of one that crosses the cut would not be found any more.
func firstOfKeys(o map[string]any, hide func(string) string, limit int, keys []string) string {
	for _, k := range keys {
		if s := clean(hide(text(o[k])), limit); s != "" {
			return s
		}
	}
	return ""
}
