#!/usr/bin/env bash
# Writes VERSION.pb of each VERSION.json here, with the types that OpenTelemetry has published of
# that version of its protocol. Fields have other numbers from one to the next.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# write VERSION MODULE PACKAGE
write() {
	mkdir "$work/$1"
	cd "$work/$1"
	cat >main.go <<EOF
package main

import (
	"io"
	"log"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	profiles "$3"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var data profiles.ProfilesData
	if err := protojson.Unmarshal(text, &data); err != nil {
		log.Fatal(err)
	}
	message, err := proto.MarshalOptions{Deterministic: true}.Marshal(&data)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(message); err != nil {
		log.Fatal(err)
	}
}
EOF
	go mod init write
	go mod edit -require="$2"
	go mod tidy
	go run . <"$here/$1.json" >"$here/$1.pb"
}

proto=go.opentelemetry.io/proto/otlp
write 1.3 $proto@v1.3.1 $proto/profiles/v1experimental
write 1.5 $proto@v1.5.0 $proto/profiles/v1development
write 1.6 $proto@v1.6.0 $proto/profiles/v1development
write 1.7 $proto@v1.7.0 $proto/profiles/v1development
write 1.8 $proto/profiles/v1development@v0.1.0 $proto/profiles/v1development
write 1.9 $proto/profiles/v1development@v0.2.0 $proto/profiles/v1development
write 1.10 $proto/profiles/v1development@v0.3.0 $proto/profiles/v1development
write 1.11 $proto/profiles/v1development@v0.4.0 $proto/profiles/v1development
