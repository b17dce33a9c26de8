module github.com/go-afdo/afdo/contrib/release

go 1.25.0

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/google/uuid v1.6.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/mod v0.33.0
)

require golang.org/x/text v0.14.0 // indirect
