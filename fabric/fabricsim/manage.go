package fabricsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Manage returns the management API, to be served on another address than the
// simulator itself:
//
//	GET    /history        every request so far
//	GET    /assets?kind=K  every asset, or those of a kind, in neutral form
//	POST   /assets         one asset or a list, in neutral form
//	POST   /reset          Reset
//	POST   /faults         one fault or a list
//	DELETE /faults         ClearFaults
//
// It asks for no credentials.
func (s *Sim) Manage() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /history", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, http.StatusOK, s.History())
	})
	mux.HandleFunc("GET /assets", func(w http.ResponseWriter, r *http.Request) {
		tell(w, http.StatusOK, s.Assets(r.URL.Query().Get("kind")))
	})
	mux.HandleFunc("POST /assets", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = s.PutJSON(body)
		}
		tellOutcome(w, err)
	})
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		tellOutcome(w, nil)
	})
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		faults, err := readFaults(r.Body)
		if err == nil {
			for _, f := range faults {
				s.Fail(f)
			}
		}
		tellOutcome(w, err)
	})
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		tellOutcome(w, nil)
	})
	return mux
}

// readFaults refuses unknown fields: a misspelt match would match everything.
func readFaults(r io.Reader) ([]Fault, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '{' {
		body = append(append([]byte{'['}, trimmed...), ']')
	}
	var faults []Fault
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&faults); err != nil {
		return nil, err
	}
	for _, f := range faults {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

func tell(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func tellOutcome(w http.ResponseWriter, err error) {
	if err != nil {
		tell(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	tell(w, http.StatusOK, map[string]bool{"ok": true})
}
