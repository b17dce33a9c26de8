package sampleprof

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// A Source is a profile of which functions are looked up and added to another: a [Reader] or a
// [Profile].
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

// Function is [Reader.Function] for a profile in memory. The function must not be changed.
func (p *Profile) Function(name string) (*Function, error) {
	if !p.ContextSensitive {
		return p.first(name, func(f *Function) bool { return p.called(f.Name, name) })
	}
	frames, ok := parseContext(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return p.first(name, func(f *Function) bool { return ok && p.inContext(f, frames) })
}

// FunctionByGUID is [Reader.FunctionByGUID] for a profile in memory. The function must not be
// changed.
func (p *Profile) FunctionByGUID(guid uint64) (*Function, error) {
	return p.first(fmt.Sprintf("%#x", guid), func(f *Function) bool {
		return len(f.Context) <= 1 && p.Name(f.Name).GUID() == guid
	})
}

// Contexts is [Reader.Contexts] for a profile in memory: in the order in which [WriteExtBinary] has
// contexts. The functions must not be changed.
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

// first returns the first function that is wanted.
func (p *Profile) first(name string, wanted func(*Function) bool) (*Function, error) {
	for f := range p.Functions() {
		if wanted(f) {
			return f, nil
		}
	}
	return nil, missing(name)
}

// missing is the error of a function that is not there.
func missing(name string) error {
	return fmt.Errorf("sampleprof: function %q: %w", name, fault.ErrNotFound)
}

// called tells whether a name is that of a text.
func (p *Profile) called(ref NameRef, text string) bool {
	n := p.Name(ref)
	return n.Text == text && !n.Hashed || n.Hashed && n.MD5 == GUID(text)
}

// inContext tells whether a function is in a context.
func (p *Profile) inContext(f *Function, context []textFrame) bool {
	return slices.EqualFunc(f.Context, context, func(have Frame, want textFrame) bool {
		return p.called(have.Name, want.name) && have.Line == want.line && have.Discriminator == want.discriminator
	})
}
