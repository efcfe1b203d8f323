package remote

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
)

// trace is a W3C trace context, empty where the caller sent none that is valid.
type trace struct{ traceID, spanID string }

// parseTrace reads a traceparent: version, trace id, span id and flags in hex.
func parseTrace(s string) trace {
	parts := strings.Split(s, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 ||
		!isHex(parts[0], 2) || !isHex(parts[1], 32) || !isHex(parts[2], 16) || !isHex(parts[3], 2) ||
		strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return trace{}
	}
	return trace{parts[1], parts[2]}
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// requestID returns the id that a proxy gave the request, if it can stand in a
// log, else a new one.
func requestID(r *http.Request, fresh func() string) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 64 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-") != "" {
		return fresh()
	}
	return id
}

// logged is what every line about a request carries.
type logged struct {
	visit *visit
	trace trace
}

type loggedKey struct{}

// withLogged puts the request that a message came with into its context. What
// the message says of its trace is nearer than what its HTTP request says.
func withLogged(ctx context.Context, v *visit, meta map[string]any) context.Context {
	l := logged{v, v.trace}
	if s, ok := meta["traceparent"].(string); ok {
		if t := parseTrace(s); t != (trace{}) {
			l.trace = t
		}
	}
	return context.WithValue(ctx, loggedKey{}, l)
}

// LogHandler adds request id, trace and principal to every line that is logged
// with the context of a request.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if l, ok := ctx.Value(loggedKey{}).(logged); ok {
		r.AddAttrs(slog.String("request_id", l.visit.id))
		if l.trace != (trace{}) {
			r.AddAttrs(slog.String("trace_id", l.trace.traceID), slog.String("span_id", l.trace.spanID))
		}
		if p := l.visit.caller.Principal; p.Kind != "" {
			r.AddAttrs(slog.Group("principal", "kind", p.Kind, "issuer", p.Issuer, "tenant", p.Tenant, "subject", p.Subject))
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(a []slog.Attr) slog.Handler { return logHandler{h.Handler.WithAttrs(a)} }

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
