package fabric

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestSchemas(t *testing.T) {
	for _, tt := range []struct {
		name   string
		schema map[string]any
		most   int
	}{
		{"schema-spec.json", SpecSchema(), 7500},
		{"schema-price.json", PriceSchema(), 2200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.schema)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > tt.most {
				t.Errorf("%d bytes, want at most %d: every host pays for them in every conversation", len(b), tt.most)
			}
			for _, word := range []string{"oneOf", "anyOf", "allOf", "$ref"} {
				if bytes.Contains(b, []byte(`"`+word+`"`)) {
					t.Errorf("has %s, which not every host understands", word)
				}
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, b, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, append(indented.Bytes(), '\n'))
		})
	}
}
