package broker

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is text that must not be printed. Every way in which Go prints a value
// (fmt, JSON, text, slog) gives "[redacted]"; only Reveal gives the text. The
// zero value is no secret at all.
type Secret struct{ s string }

// NewSecret wraps s.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal returns the text. Call it only where the secret is used.
func (s Secret) Reveal() string { return s.s }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.s == "" }

// Format implements fmt.Formatter, so that no verb prints the field.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText implements encoding.TextMarshaler, which encoding/json uses too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
