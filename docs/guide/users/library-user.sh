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
// Hot prints the samples or the counters of each function of the profiles that it is given.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/profile"
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
	if instrumented, ok := p.Model().(*instrprof.Reader); ok {
		return hotCounters(instrumented)
	}
	whole, err := p.GCOV()
	if err != nil {
		return err
	}
	for symbol, f := range whole.Functions() {
		var samples uint64
		for _, r := range f.Records {
			if r.Kind == profile.KindCount {
				samples += r.Count
			}
		}
		fmt.Println(p.Format(), samples, whole.UnitPath(whole.SymbolUnit(symbol)), whole.SymbolName(symbol))
	}
	return nil
}

func hotCounters(r *instrprof.Reader) error {
	for f, err := range r.Records() {
		if err != nil {
			return err
		}
		var sum uint64
		for count := range f.Counters().All() {
			sum += count
		}
		fmt.Println("profdata", sum, "", f.Name())
	}
	return nil
}
END
go build -mod=mod -o hot .
./hot "$clone/testdata/shop.compact.afdo" "$clone/testdata/shop.v2.afdo" "$clone/format/llvm/instrprof/testdata/zoo/ir.profdata"
