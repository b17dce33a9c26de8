#!/bin/sh
# The library user: a program of one's own that reads profiles of any format.
#
# It takes Go. Run it anywhere in a clone; it writes to a temporary folder. A program outside of a
# clone says "go get github.com/go-afdo/afdo" instead of what is said of the module here.
set -eu
cd "$(dirname "$0")/../../.."
clone=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$clone/go.sum" .
sed -e 's|^module .*|module example.com/hot|' "$clone/go.mod" > go.mod
go mod edit -require github.com/go-afdo/afdo@v0.0.0 -replace "github.com/go-afdo/afdo=$clone"
cat > main.go <<'END'
// Hot prints the samples of each function of the profiles that it is given.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/format/anyprof"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := hot(context.Background(), path); err != nil {
			log.Fatal(path, ": ", err)
		}
	}
}

func hot(ctx context.Context, path string) error {
	p, err := anyprof.Open(ctx, path)
	if err != nil {
		return err
	}
	defer p.Close()
	for f, err := range p.Functions(ctx) {
		if err != nil {
			return err
		}
		var samples uint64
		for r, err := range f.Records() {
			if err != nil {
				return err
			}
			if r.Kind == anyprof.Samples || r.Kind == anyprof.Counter {
				samples += r.Count
			}
		}
		fmt.Println(p.Format(), samples, f.Unit, f.Text)
	}
	return nil
}
END
go build -mod=mod -o hot .
./hot "$clone/testdata/shop.compact.afdo" "$clone/testdata/shop.v2.afdo" "$clone/format/llvm/instrprof/testdata/zoo/ir.profdata"
