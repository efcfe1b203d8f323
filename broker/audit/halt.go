package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"fabricbroker/broker"
)

// Halt is the operator's stop switch: while the file named halt is in the state
// directory, no dry run and no create is sent by any of its processes. The file
// holds the reason; an operator may make it by hand.
type Halt struct{ d *Dir }

var _ broker.Halt = (*Halt)(nil)

// maxReason is how much of a reason is kept.
const maxReason = 4 << 10

const noReason = "no reason was given"

// Halted implements broker.Halt. An error means that nobody knows, which is no
// permission.
func (h *Halt) Halted(context.Context) (string, error) {
	if err := h.d.there(); err != nil {
		return "", unavailable("read the stop switch", notSwitched, err)
	}
	b, err := h.d.read(haltFile, maxReason)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", unavailable("read the stop switch", notSwitched, err)
	}
	return reason(string(b)), nil
}

// Set implements broker.Halt. The switch is on disk when it returns. An earlier
// reason is replaced; where there is no room for a reason, an empty file halts
// too.
func (h *Halt) Set(_ context.Context, why string) error {
	if err := h.d.there(); err != nil {
		return unavailable("set the stop switch", notSwitched, err)
	}
	h.d.setting.Lock()
	defer h.d.setting.Unlock()
	if err := h.d.replace(".", haltFile, haltSuffix, []byte(reason(why)+"\n")); err != nil {
		if bare := h.touch(); bare != nil {
			return unavailable("set the stop switch", notSwitched, errors.Join(err, bare))
		}
	}
	return nil
}

func (h *Halt) touch() error {
	f, err := h.d.root.OpenFile(haltFile, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), h.d.sync("."))
}

// Clear takes the switch back, durably. It is fine when nothing was halted.
func (h *Halt) Clear(context.Context) error {
	if err := h.d.there(); err != nil {
		return unavailable("clear the stop switch", notSwitched, err)
	}
	if err := h.d.root.Remove(haltFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable("clear the stop switch", notSwitched, err)
	}
	if err := h.d.sync("."); err != nil {
		return unavailable("clear the stop switch", notSwitched, err)
	}
	return nil
}

// reason is never empty, has one line and fits.
func reason(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return noReason
	}
	return strings.ToValidUTF8(s[:min(len(s), maxReason-1)], "")
}
