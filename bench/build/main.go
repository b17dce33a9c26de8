// Build writes a profile as a new collection might produce it, which differs from the old one in
// only a few units. The script run.sh measures what such a change costs a build.
//
//	build IN.v4 OUT.v4 PATH...
//
// Each function of a unit whose path ends with one of the PATHs gets one more call.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: build IN.v4 OUT.v4 PATH...")
		os.Exit(2)
	}
	if err := refresh(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func refresh(in, out string, paths []string) error {
	r, err := afdo.Open(in)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := profile.Read(r)
	if err != nil {
		return err
	}
	changed := 0
	for s := range p.Functions() {
		for _, path := range paths {
			if strings.HasSuffix(p.UnitPath(p.SymbolUnit(s)), path) {
				p.AddFunction(s, profile.Function{HeadCount: 1})
				changed++
			}
		}
	}
	if changed == 0 {
		return fmt.Errorf("%s has no functions of %s", in, strings.Join(paths, ", "))
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := builder.Write(f, p, builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}}); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
