package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers says which packages of ours each package may import. It is the table of
// the design: a package that is not in it has no place yet.
var layers = map[string][]string{
	"pricing":                       {},
	"broker":                        {"pricing"},
	"broker/seal":                   {"broker"},
	"broker/ledger":                 {"broker"},
	"broker/ledger/ledgertest":      {"broker", "pricing"}, // tests in a package of their own
	"broker/ledger/pgledger":        {"broker"},
	"broker/ledger/pgledger/pgtest": {},
	"broker/audit":                  {"broker"},
	"broker/metrics":                {"broker"},
	"fabric":                        {"broker", "pricing"},
	"fabric/fabricsim":              {},
	"elicit":                        {"broker", "pricing"},
	"elicit/form":                   {"broker", "broker/seal", "elicit"},
	"elicit/page":                   {"broker", "broker/seal", "elicit"},
	"elicit/terminal":               {"broker", "elicit"},
	"toolsets":                      {"broker", "pricing"},
	"toolsets/reads":                {"toolsets", "broker", "pricing", "fabric"},
	"toolsets/mutate":               {"toolsets", "broker", "pricing", "elicit", "elicit/form"},
	"toolsets/gate":                 {"toolsets", "broker", "pricing", "elicit", "elicit/form"},
	"toolsets/remote":               {"broker", "toolsets"},
}

// core are the packages that know no protocol, no network and no database.
var core = []string{"pricing", "broker", "broker/seal", "broker/ledger", "broker/audit", "elicit"}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Imports    []string // direct
	Deps       []string // all, indirect ones too
}

const module = "fabricbroker/"

func listPackages(t *testing.T) map[string]listed {
	t.Helper()
	// -e: whether everything compiles is another test's business.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

func TestCoreReachesNoProtocol(t *testing.T) {
	packages := listPackages(t)
	for _, name := range core {
		p, ok := packages[name]
		if !ok {
			t.Errorf("there is no package %s", name)
		}
		for _, d := range p.Deps {
			// Exactly: google/uuid pulls database/sql/driver, which is harmless.
			bad := d == "net/http" || d == "database/sql" ||
				strings.HasPrefix(d, "github.com/modelcontextprotocol/") || strings.HasPrefix(d, "github.com/prometheus/")
			if bad {
				t.Errorf("%s reaches %s", name, d)
			}
		}
	}
}

func TestPackagesImportWhatTheirLayerMay(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages", len(packages))
	}
	for name, p := range packages {
		if strings.HasPrefix(name, "cmd/") {
			continue // wiring: may import everything, and nothing may import it
		}
		may, known := layers[name]
		if !known {
			t.Errorf("%s is in no layer", name)
		}
		for _, i := range p.Imports {
			ours, is := strings.CutPrefix(i, module)
			if is && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s; it may import %v", name, ours, may)
			}
		}
	}
}
