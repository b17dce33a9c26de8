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
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// Lookup prints a function in all of its calling contexts, as text or JSON. In an ExtBinary file it
// reads no other function.
func (k *Kind) Lookup(e *cli.Env, f *input.File, o *kind.LookupOptions) error {
	if o.HasUnit {
		return cli.Usagef("--unit: LLVM sample profiles do not know which function is in which source file")
	}
	p, err := k.find(f, o)
	if err != nil {
		return err
	}
	return output.Write(cli.Shown(e.Out), cli.Stdio, func(w io.Writer) error {
		if o.JSON {
			return writeJSON(w, p, o.Demangle)
		}
		_, err := sampleprof.WriteText(w, p)
		return err
	})
}

// find returns a profile that contains only the functions that the user has named.
func (k *Kind) find(f *input.File, o *kind.LookupOptions) (*sampleprof.Profile, error) {
	from, err := open(f)
	if err != nil {
		return nil, err
	}
	src := from.Source
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
			return nil, fmt.Errorf(`function %q: %w: its function offsets do not list this function, which the file has: run "afdo check"`, name, afdo.ErrMalformed)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, k.resolve(p)
}

// collect returns a profile that contains only the functions that symbol means, see [functions].
// rename replaces each name of the result, for example by its demangled form.
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

// functions yields the functions of a profile that the user means by a symbol. A name means the
// function's records in all calling contexts. A context, such as "main:3 @ f", means the record of
// this context alone. A symbol that begins with "0x" is a GUID.
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

// meant returns the name of the function that the user means by a symbol, such as a part of a
// demangled name. No function has the symbol as its exact name.
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

// inlined returns the error for a symbol that matches no function of the profile. If it matches a
// function that is only inlined, the error lists the functions into which it is inlined. missing is
// the error for a symbol that is nowhere.
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
	return fmt.Errorf("function %q: it has no body of its own; it is inlined in%s", l.Symbol, listed(outer, l.Number))
}

// meantInlined returns the name of the function that the user means by a symbol, among the
// functions that are inlined somewhere in the profile.
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

// inlinedIn yields the name of each inlined function, with the name of the function into which it
// is inlined.
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

// listed returns names as text with one name on each line. most limits the number of names; 0 means
// no limit.
func listed(names []string, most table.Count) string {
	shown, leftOut := table.First(names, most)
	list := "\n  " + strings.Join(shown, "\n  ")
	if leftOut > 0 {
		list += fmt.Sprintf("\n  %s more", human.Number(leftOut))
	}
	return list
}

// A functionJSON writes functions as JSON. The members are those of `llvm-profdata show --sample
// --show-format=json`, and some more: context, vtables, checksum and attributes.
type functionJSON struct {
	*jsonstream.Writer
	p        *sampleprof.Profile
	demangle bool
	open     []jsonBody
}

// A jsonBody is the body of a function, or of an inlined function, that a [functionJSON] has begun
// to write. It has not yet written the records from next to end.
type jsonBody struct {
	next, end int
	calls     bool // its array "callsites" was begun
}

func writeJSON(w io.Writer, p *sampleprof.Profile, demangle bool) error {
	j := &functionJSON{Writer: jsonstream.New(w), p: p, demangle: demangle}
	j.List("functions")
	for f := range p.Functions() {
		j.function(f)
	}
	return j.FinishList()
}

func (j *functionJSON) name(ref sampleprof.NameRef) {
	name := j.p.Name(ref).String()
	j.Name("name", name)
	if j.demangle {
		j.Name("demangled", demangled.Name(name))
	}
}

func (j *functionJSON) function(f *sampleprof.Function) {
	j.Object("")
	j.name(f.Name)
	if len(f.Context) > 1 {
		j.Array("callers")
		for _, frame := range f.Context[:len(f.Context)-1] {
			j.Object("")
			j.name(frame.Name)
			j.location(uint64(frame.Line), frame.Discriminator)
			j.End()
		}
		j.End()
	}
	j.Uint("total", f.Total)
	j.Uint("head", f.HeadCount)
	j.begin(f.Records, 0, len(f.Records))
	for len(j.open) > 0 {
		top := &j.open[len(j.open)-1]
		if top.next < top.end && f.Records[top.next].Kind == sampleprof.KindInlined {
			j.inlined(f.Records, top)
		} else {
			j.finish(f.Records, top)
		}
	}
}

func (j *functionJSON) location(line uint64, discriminator uint32) {
	j.Uint("line", line)
	if discriminator > 0 {
		j.Uint("discriminator", uint64(discriminator))
	}
}

// begin begins the JSON of the body records[i:end]. It writes the counts at its start. The inlined
// functions in the body follow, and then finish ends the body.
func (j *functionJSON) begin(records []sampleprof.Record, i, end int) {
	if i < end && records[i].Kind == sampleprof.KindCount {
		j.Array("body")
		for i < end && records[i].Kind == sampleprof.KindCount {
			i = j.count(records, i, end)
		}
		j.End()
	}
	j.open = append(j.open, jsonBody{next: i, end: end})
}

// count writes the count at index i with its call targets. It returns the index of the first record
// after them. end is the end of the body.
func (j *functionJSON) count(records []sampleprof.Record, i, end int) int {
	r := &records[i]
	j.Object("")
	j.location(uint64(r.Line), r.Discriminator)
	j.Uint("samples", r.Count)
	if i++; i < end && records[i].Kind == sampleprof.KindTarget {
		j.Array("calls")
		for ; i < end && records[i].Kind == sampleprof.KindTarget; i++ {
			j.Object("")
			j.Name("function", j.p.Name(records[i].Name).String())
			j.Uint("samples", records[i].Count)
			j.End()
		}
		j.End()
	}
	j.End()
	return i
}

// inlined begins the JSON of the next inlined function in the body top. records are those of the
// whole outermost function.
func (j *functionJSON) inlined(records []sampleprof.Record, top *jsonBody) {
	if !top.calls {
		j.Array("callsites")
		top.calls = true
	}
	r := &records[top.next]
	j.Object("")
	j.location(uint64(r.Line), r.Discriminator)
	j.Array("samples")
	j.Object("")
	j.name(r.Name)
	j.Uint("total", r.Count)
	i := top.next + 1
	top.next = i + int(r.Span)
	j.begin(records, i, top.next)
}

// finish writes the records at the end of the body top, such as its checksum, and ends the JSON of
// that body.
func (j *functionJSON) finish(records []sampleprof.Record, top *jsonBody) {
	if top.calls {
		j.End()
	}
	i := top.next
	if i < top.end && records[i].Kind == sampleprof.KindVTable {
		j.Array("vtables")
		for ; i < top.end && records[i].Kind == sampleprof.KindVTable; i++ {
			j.Object("")
			j.location(uint64(records[i].Line), records[i].Discriminator)
			j.Name("type", j.p.Name(records[i].Name).String())
			j.Uint("samples", records[i].Count)
			j.End()
		}
		j.End()
	}
	for ; i < top.end; i++ {
		switch records[i].Kind {
		case sampleprof.KindChecksum:
			j.Uint("checksum", records[i].Count)
		case sampleprof.KindAttributes:
			j.Uint("attributes", records[i].Count)
		}
	}
	j.End()
	j.open = j.open[:len(j.open)-1]
	if len(j.open) > 0 {
		j.End() // samples
		j.End() // the callsite
	}
}
