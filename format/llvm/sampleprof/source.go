package sampleprof

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A Source is a profile in which functions can be looked up and which can be merged into another: a
// [Reader] or a [Profile].
type Source interface {
	Name(ref NameRef) Name
	Function(name string) (*Function, error)
	FunctionByGUID(guid uint64) (*Function, error)
	Contexts(name string) iter.Seq2[*Function, error]

	flags() *Profile
	numNames() int
	mergeInto(p *Profile, weight profile.Ratio) (dropped int, err error)
}

func (p *Profile) flags() *Profile { return p }
func (p *Profile) numNames() int   { return p.NumNames() }
func (r *Reader) numNames() int    { return r.names.len() }

// Function works like [Reader.Function], but searches all functions of the profile. Profile.find
// is faster if the [NameRef] is known. The caller must not change the function.
func (p *Profile) Function(name string) (*Function, error) {
	if !p.ContextSensitive {
		return p.first(name, func(f *Function) bool { return p.called(f.Name, name) })
	}
	frames, ok := parseContext(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return p.first(name, func(f *Function) bool { return ok && p.inContext(f, frames) })
}

// FunctionByGUID works like [Reader.FunctionByGUID]. It hashes the names of the functions until one
// matches. The caller must not change the function.
func (p *Profile) FunctionByGUID(guid uint64) (*Function, error) {
	return p.first(fmt.Sprintf("%#x", guid), func(f *Function) bool {
		return len(f.Context) <= 1 && p.Name(f.Name).GUID() == guid
	})
}

// Contexts works like [Reader.Contexts], but searches all functions of the profile. It yields the
// contexts in the order of [WriteExtBinary]. The caller must not change the functions.
func (p *Profile) Contexts(name string) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		var found []*Function
		for f := range p.Functions() {
			if p.called(f.Name, name) {
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

// first returns the first function for which wanted returns true, or an error with name if there is
// none.
func (p *Profile) first(name string, wanted func(*Function) bool) (*Function, error) {
	for f := range p.Functions() {
		if wanted(f) {
			return f, nil
		}
	}
	return nil, missing(name)
}

// missing returns the error for a function that does not exist.
func missing(name string) error {
	return fmt.Errorf("sampleprof: function %q: %w", name, fault.ErrNotFound)
}

// called reports whether the name with index ref is text or, if only its MD5 is known, has the MD5
// of text.
func (p *Profile) called(ref NameRef, text string) bool {
	n := p.Name(ref)
	return n.Text == text && !n.Hashed || n.Hashed && n.MD5 == symname.GUID(text)
}

// inContext reports whether f has the given context.
func (p *Profile) inContext(f *Function, context []textFrame) bool {
	return slices.EqualFunc(f.Context, context, func(have Frame, want textFrame) bool {
		return p.called(have.Name, want.name) && have.Line == want.line && have.Discriminator == want.discriminator
	})
}
