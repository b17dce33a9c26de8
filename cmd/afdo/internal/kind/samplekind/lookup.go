package samplekind

import (
	"errors"
	"fmt"
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
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
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

// find returns a profile that contains only the wanted functions.
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
			return nil, from.inlined(o, err)
		}
		p, err = collect(src, name, rename)
		if err == nil && p.NumFunctions() == 0 || errors.Is(err, afdo.ErrNotFound) {
			return nil, unlisted(name)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, k.resolve(p)
}

// unlisted returns the error for a function that a read of the whole file has found, but a lookup
// has not.
func unlisted(name string) error {
	return fmt.Errorf(`function %q: %w: its function offsets do not list this function, which the file has: run "afdo check"`, name, afdo.ErrMalformed)
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

// inlined returns the error for a symbol without a function. If the symbol means a function that is
// only inlined in others, the error names them.
func (o *opened) inlined(l *kind.LookupOptions, missing error) error {
	p, err := o.whole()
	if err != nil || !errors.Is(missing, afdo.ErrNotFound) {
		return missing
	}
	name, err := meantInlined(p, l.Symbol)
	if errors.Is(err, afdo.ErrNotFound) {
		return missing
	}
	if err != nil {
		return err
	}
	var outer []string
	for n, in := range inlinedIn(p) {
		if n == name && (len(outer) == 0 || outer[len(outer)-1] != in) {
			outer = append(outer, human.Name(in))
		}
	}
	return fmt.Errorf("function %q: it has no body of its own; it is inlined in%s", l.Symbol, listed(outer, int(l.Number)))
}

// meantInlined returns the name of the inlined function that a symbol means, or the symbol if there
// is none.
func meantInlined(p *sampleprof.Profile, symbol string) (string, error) {
	for name := range inlinedIn(p) {
		if name == symbol {
			return name, nil
		}
	}
	return find.Meant("inlined function", symbol, func(yield func(string, error) bool) {
		for name := range inlinedIn(p) {
			if !yield(name, nil) {
				return
			}
		}
	})
}

// inlinedIn yields the names of all inlined functions, each with the function that contains it.
func inlinedIn(p *sampleprof.Profile) iter.Seq2[string, string] {
	return func(yield func(name, outer string) bool) {
		for f := range p.Functions() {
			for _, r := range f.Records {
				if r.Kind != sampleprof.KindInlined {
					continue
				}
				if n := p.Name(r.Name); !n.Hashed && !yield(n.Text, p.Name(f.Name).Text) {
					return
				}
			}
		}
	}
}

// listed returns the names, one per line. Unless most is 0, it returns at most that many.
func listed(names []string, most int) string {
	if most == 0 {
		most = len(names)
	}
	list := ""
	for _, name := range names[:min(len(names), most)] {
		list += "\n  " + name
	}
	if len(names) > most {
		list += fmt.Sprintf("\n  %s more", human.Number(len(names)-most))
	}
	return list
}
