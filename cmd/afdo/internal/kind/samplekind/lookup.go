package samplekind

import (
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/llvm/sampleprof"
)

// Lookup prints one function, in all contexts if there are contexts, as text or JSON. Of an
// ExtBinary file it reads no other.
func (k *Kind) Lookup(e *cli.Env, f *input.File, o *kind.LookupOptions) error {
	if o.HasUnit {
		return cli.Usagef("--unit: LLVM sample profiles do not know which function is in which source file")
	}
	p, err := k.find(f, o)
	if err != nil {
		return err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		if o.JSON {
			return writeJSON(w, p, o.Demangle)
		}
		_, err := sampleprof.WriteText(w, p)
		return err
	})
}

// find returns a profile of nothing but what was asked for.
func (k *Kind) find(f *input.File, o *kind.LookupOptions) (*sampleprof.Profile, error) {
	from, err := open(f)
	if err != nil {
		return nil, err
	}
	src := from.source()
	rename := func(n sampleprof.Name) sampleprof.Name {
		if o.Demangle && !o.JSON && !n.Hashed {
			n.Text = demangled.Name(n.Text)
		}
		return n
	}
	p, err := collect(src, o.Symbol, rename)
	if err == nil && p.NumFunctions() == 0 || errors.Is(err, afdo.ErrNotFound) {
		var name string
		if name, err = from.meant(o.Symbol); err != nil {
			return nil, err
		}
		p, err = collect(src, name, rename)
	}
	if err != nil {
		return nil, err
	}
	return p, k.resolve(p)
}

// collect returns a profile of the functions of a symbol.
func collect(src sampleprof.Source, symbol string, rename func(sampleprof.Name) sampleprof.Name) (*sampleprof.Profile, error) {
	p := new(sampleprof.Profile)
	for fn, err := range functions(src, symbol) {
		if err != nil {
			return nil, err
		}
		if err := p.AddFrom(src, fn, rename); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// functions returns the function of a symbol: in one context, if that is what the symbol is, or in
// all. A symbol that begins with "0x" is a GUID.
func functions(src sampleprof.Source, symbol string) iter.Seq2[*sampleprof.Function, error] {
	if digits, ok := strings.CutPrefix(symbol, "0x"); ok {
		if guid, err := strconv.ParseUint(digits, 16, 64); err == nil {
			return func(yield func(*sampleprof.Function, error) bool) { yield(src.FunctionByGUID(guid)) }
		}
	}
	if !strings.HasPrefix(symbol, "[") && !strings.Contains(symbol, " @ ") {
		return src.Contexts(symbol)
	}
	return func(yield func(*sampleprof.Function, error) bool) { yield(src.Function(symbol)) }
}

// meant returns the name of the function that is meant by a name that is not there.
func (o *opened) meant(symbol string) (string, error) {
	p, err := o.whole()
	if err != nil {
		return "", err
	}
	return find.Meant("function", symbol, func(yield func(string, error) bool) {
		for f := range p.Functions() {
			if n := p.Name(f.Name); !n.Hashed && !yield(n.Text, nil) {
				return
			}
		}
	})
}
