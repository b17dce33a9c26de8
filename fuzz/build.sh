#!/bin/bash -eu
# Builds the fuzz targets in the container of OSS-Fuzz or ClusterFuzzLite, which
# sets SRC and OUT and has compile_native_go_fuzzer_v2. It changes the copy of
# the repository there: never run it in a clone of yours.
set -o pipefail
cd "$SRC/afdo"

# What the targets are linked with. The commit is the one that the container's tools are made of: see
# infra/base-images/base-builder/install_go.sh in google/oss-fuzz.
GOFLAGS=-mod=mod go get github.com/AdamKorcz/go-118-fuzz-build/testing@fc5dc53b9db8a38c394c53d6e439a1410cf8fc19

# Test files become ordinary ones of their package, and those of an external
# test package would be a second package in the folder.
go list -tags gofuzz -f '{{range .XTestGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | xargs -r rm

go run ./fuzz/seeds "$OUT"
go run ./fuzz/seeds -list | while read -r package target; do
	compile_native_go_fuzzer_v2 "$(go list "$package")" "$target" "$target"
done
