package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// secretNames are the variables that have no flag. Each may also be given as
// NAME_FILE.
var secretNames = []string{
	"EQUINIX_API_CLIENTSECRET", "EQUINIX_SECRET_KEY", "EQUINIX_API_TOKEN",
	"EQUINIX_MCP_CONFIRM_SECRET", "EQUINIX_MCP_LEDGER_DSN",
}

// clearEmpty makes empty variables unset, but for PREVIEW, which any value but
// false turns on, the empty one included.
func clearEmpty() {
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value != "" || !strings.HasPrefix(name, "EQUINIX_"):
		case name == "EQUINIX_MCP_PREVIEW":
			_ = os.Setenv(name, "true")
		default:
			_ = os.Unsetenv(name)
		}
	}
}

// checkNames refuses an unknown EQUINIX_MCP_ variable: a typo in a safeguard
// must not go live.
func checkNames() error {
	known := knownNames()
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "EQUINIX_MCP_") && !slices.Contains(known, name) {
			return fmt.Errorf("unknown variable %s: did you mean %s?", name, nearest(name, known))
		}
	}
	return nil
}

// knownNames are all variables that the program reads.
func knownNames() []string {
	var names []string
	for _, s := range secretNames {
		names = append(names, s, s+"_FILE")
	}
	for _, command := range reflect.VisibleFields(reflect.TypeFor[cli]()) {
		for _, f := range reflect.VisibleFields(command.Type) {
			if env := f.Tag.Get("env"); env != "" {
				names = append(names, strings.Split(env, ",")...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int {
		return levenshtein.Distance(name, a, nil) - levenshtein.Distance(name, b, nil)
	})
}
