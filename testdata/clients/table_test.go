package clients

import "testing"

func checkTable(t *testing.T, saw map[string]result) {}
