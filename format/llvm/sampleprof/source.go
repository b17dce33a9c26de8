package sampleprof

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Source is a profile in which functions can be looked up and which can be merged into another: a
// [Reader] or a [Profile].
type Source interface {
	Name(ref NameRef) Name
	Function(name string) (*Function, error)
	FunctionByGUID(guid uint64) (*Function, error)
	Contexts(name string) iter.Seq2[*Function, error]

	flags() *Profile                   // a profile with the same properties, such as ContextSensitive and Probes
	symbolList() ([]string, error)     // see [Profile.SymbolList]
	each() iter.Seq2[*Function, error] // all functions; each is valid until the next
	memory() *budget                   // the memory that adding all functions may take
}

func (p *Profile) flags() *Profile               { return p }
func (p *Profile) symbolList() ([]string, error) { return p.SymbolList, nil }
func (p *Profile) memory() *budget               { return &budget{limit: math.MaxInt64} }

func (p *Profile) each() iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for f := range p.Functions() {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func (r *Reader) each() iter.Seq2[*Function, error] { return r.Functions() }

func (r *Reader) memory() *budget {
	b := &budget{limit: r.spent.limit}
	b.spent.Store(r.spent.spent.Load())
	return b
}

// Function works like [Reader.Function], but compares all names of the profile. Profile.find is
// faster if the [NameRef] is known. The caller must not change the function.
func (p *Profile) Function(name string) (*Function, error) {
	if !p.ContextSensitive {
		ref, ok := p.findName(name)
		return p.function(ref, nil, ok, name)
	}
	frames, ok := parseContext(unbracketed(name), p.findName)
	return p.function(0, frames, ok, name)
}

// FunctionByGUID works like [Reader.FunctionByGUID]. It hashes the names of the profile until one
// matches. The caller must not change the function.
func (p *Profile) FunctionByGUID(guid uint64) (*Function, error) {
	i := slices.IndexFunc(p.names.list, func(n Name) bool { return n.GUID() == guid })
	ref, context := NameRef(max(i, 0)), []Frame(nil)
	if p.ContextSensitive {
		context = []Frame{{Name: ref}}
	}
	return p.function(ref, context, i >= 0, fmt.Sprintf("%#x", guid))
}

// function returns the function with the name ref or, if context is not nil, in that context. If
// there is none, or ok is false, it returns an error with text, which is what the user has asked
// for.
func (p *Profile) function(ref NameRef, context []Frame, ok bool, text string) (*Function, error) {
	if f := p.find(ref, context); ok && f != nil {
		return f, nil
	}
	return nil, missing(text)
}

// findName returns the index of a name or of its MD5, and whether the profile has either.
func (p *Profile) findName(text string) (NameRef, bool) {
	for i, n := range p.names.list {
		if n.Text == text && !n.Hashed || n.Hashed && n.MD5 == symname.GUID(text) {
			return NameRef(i), true
		}
	}
	return 0, false
}

// Contexts works like [Reader.Contexts], but searches all functions of the profile. It yields the
// contexts in the order of [WriteExtBinary]. The caller must not change the functions.
func (p *Profile) Contexts(name string) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		var found []*Function
		ref, ok := p.findName(name)
		for f := range p.Functions() {
			if ok && f.Name == ref {
				found = append(found, f)
			}
		}
		if len(found) == 0 {
			yield(nil, missing(name))
			return
		}
		slices.SortFunc(found, func(f, g *Function) int { return compareContexts(f.Context, g.Context, p.compare) })
		for _, f := range found {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// missing returns the error for a function that the profile does not have.
func missing(name string) error {
	return fmt.Errorf("sampleprof: function %q: %w", name, fault.ErrNotFound)
}
