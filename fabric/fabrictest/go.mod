module fabricbroker/fabric/fabrictest

go 1.26.0

replace fabricbroker => ../..

require (
	fabricbroker v0.0.0
	github.com/getkin/kin-openapi v0.153.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	gopkg.in/validator.v2 v2.0.1 // indirect
)

require (
	github.com/equinix/equinix-sdk-go v0.66.0
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/gowebpki/jcs v1.0.2 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
