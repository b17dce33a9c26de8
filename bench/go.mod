module github.com/go-afdo/afdo/bench

go 1.25.0

replace github.com/go-afdo/afdo => ../

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/go-afdo/afdo v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20260727155853-b88d891fe743 // indirect
)
