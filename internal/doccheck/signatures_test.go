package doccheck

import (
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestSignatures checks that other modules can call the public functions: no exported function,
// method or field has a type of an internal package, unless a public package has a name for that
// type.
func TestSignatures(t *testing.T) {
	testenv.NeedSweep(t) // it reads the sources of all packages that the module needs
	from := importer.ForCompiler(token.NewFileSet(), "source", nil)
	var packages []*types.Package
	named := make(map[*types.TypeName]bool)
	for folder := range publicPackages(t) {
		if isIn(folder, testFolders) {
			continue
		}
		p, err := from.Import(strings.TrimSuffix(module+"/"+strings.TrimPrefix(folder, "."), "/"))
		require.NoError(t, err)
		packages = append(packages, p)
		for _, name := range p.Scope().Names() {
			if o, ok := p.Scope().Lookup(name).(*types.TypeName); ok && o.Exported() && o.IsAlias() {
				if to, ok := types.Unalias(o.Type()).(*types.Named); ok {
					named[to.Obj()] = true
				}
			}
		}
	}
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			for _, part := range partsOf(o) {
				assert.Empty(t, hiddenIn(part.Type(), named), "%s: %s of %s has a type that no other module can name", p.Path(), part.Name(), name)
			}
		}
	}
}

// partsOf returns an object and, if it is a type, its exported methods and fields.
func partsOf(o types.Object) []types.Object {
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !isType || !ok {
		return []types.Object{o}
	}
	var parts []types.Object
	for m := range named.Methods() {
		parts = append(parts, m)
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			parts = append(parts, f)
		}
	case *types.Interface:
		for m := range u.ExplicitMethods() {
			parts = append(parts, m)
		}
	}
	exported := parts[:0]
	for _, part := range parts {
		if part.Exported() {
			exported = append(exported, part)
		}
	}
	return exported
}

// hiddenIn returns the name of a type of an internal package that occurs in the type t, or "" if
// there is none.
func hiddenIn(t types.Type, named map[*types.TypeName]bool) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		if o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), module) && strings.Contains(o.Pkg().Path(), "/internal/") && !named[o] {
			return o.Pkg().Path() + "." + o.Name()
		}
		for arg := range t.TypeArgs().Types() {
			if hidden := hiddenIn(arg, named); hidden != "" {
				return hidden
			}
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if hidden := hiddenIn(v.Type(), named); hidden != "" {
					return hidden
				}
			}
		}
	case *types.Map:
		if hidden := hiddenIn(t.Key(), named); hidden != "" {
			return hidden
		}
		return hiddenIn(t.Elem(), named)
	case interface{ Elem() types.Type }:
		return hiddenIn(t.Elem(), named)
	}
	return ""
}
