package rebase

import (
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// errProbes is returned for a profile of pseudo-probes, whose records have no lines.
var errProbes = errors.New("rebase: the profile is of pseudo-probes, which have no lines")

// Sample is like [Profile] for a sample profile of LLVM. It subtracts the samples of dropped lines
// from the totals. It drops a calling context if the line of one of its calls no longer exists.
// LLVM's formats do not store fingerprints of source lines, so the error is [ErrNoSources] if old
// is nil.
func Sample(p *sampleprof.Profile, old, new *Sources) (*sampleprof.Profile, *Report, error) {
	if p.Probes {
		return nil, nil, errProbes
	}
	if old == nil {
		return nil, nil, ErrNoSources
	}
	uses := make([]use, p.NumNames())
	for n := range uses {
		uses[n].symbol = p.Name(sampleprof.NameRef(n)).Text
	}
	places := samplePlaces(p)
	gather(uses, places)
	plan := makePlan(uses, old, new)
	plan.renameInlines(new.inlineRenames(symbolsOf(uses)))
	report, err := plan.report(places)
	if err != nil {
		return nil, report, err
	}
	r := sampleRebase{plan: plan, from: p, to: &sampleprof.Profile{
		ContextSensitive: p.ContextSensitive, FS: p.FS, Partial: p.Partial, PreInlined: p.PreInlined, SymbolList: slices.Clone(p.SymbolList),
	}}
	for f := range p.Functions() {
		r.function(f)
	}
	return r.to, report, nil
}

// samplePlaces iterates over the records of a sample profile, including records of calls in
// contexts.
func samplePlaces(p *sampleprof.Profile) iter.Seq[place] {
	return func(yield func(place) bool) {
		for f := range p.Functions() {
			for i := 1; i < len(f.Context); i++ {
				caller := &f.Context[i-1]
				if !yield(place{int(caller.Name), wire.Offset(uint32(caller.Line)), int(f.Context[i].Name), 0}) {
					return
				}
			}
			if !placesOfBody(f, yield) {
				return
			}
		}
	}
}

// placesOfBody passes the records of a function to yield, each with the innermost function that
// contains it, which may be inlined. It returns false if yield does.
func placesOfBody(f *sampleprof.Function, yield func(place) bool) bool {
	open := []openSample{{end: len(f.Records), name: f.Name}}
	for i := range f.Records {
		for open[len(open)-1].end == i {
			open = open[:len(open)-1]
		}
		r := &f.Records[i]
		at := place{int(open[len(open)-1].name), wire.Offset(uint32(r.Line)), none, 0}
		switch r.Kind {
		case sampleprof.KindCount:
			at.count = r.Count
		case sampleprof.KindTarget:
			at.callee = int(r.Name)
		case sampleprof.KindInlined:
			at.callee = int(r.Name)
			open = append(open, openSample{end: i + 1 + int(r.Span), name: r.Name})
		case sampleprof.KindChecksum, sampleprof.KindAttributes:
			continue
		}
		if !yield(at) {
			return false
		}
	}
	return true
}

// An openSample is the body of a function or of an inlined function whose records are being read.
type openSample struct {
	end  int // index after its last record
	name sampleprof.NameRef
	head int // index of its KindInlined record in the new records, or none
}

// A sampleRebase makes a sample profile for the new sources from the recorded one. It copies each
// function under its name in the new sources, and moves the function's records to their new lines.
type sampleRebase struct {
	*plan
	from, to *sampleprof.Profile
}

// name adds the new name of the function n to the new profile and returns the reference to this
// name.
func (r *sampleRebase) name(n sampleprof.NameRef) sampleprof.NameRef {
	name := r.from.Name(n)
	if !name.Hashed {
		name.Text = r.changes[n].name
	}
	return r.to.AddName(name)
}

// function adds function f with its moved records to the new profile. It leaves f out if f, or a
// call of its calling context, no longer exists.
func (r *sampleRebase) function(f *sampleprof.Function) {
	if r.changes[f.Name].outcome == Lost {
		return
	}
	g := sampleprof.Function{Name: r.name(f.Name), Total: f.Total, HeadCount: f.HeadCount}
	for i := range f.Context {
		frame := f.Context[i]
		c := r.changes[frame.Name]
		if i+1 < len(f.Context) {
			line, ok := c.sampleLine(frame.Line)
			if !ok || c.outcome == Lost {
				return
			}
			frame.Line = line
		}
		frame.Name = r.name(frame.Name)
		g.Context = append(g.Context, frame)
	}
	var gone uint64
	g.Records, gone = r.records(f)
	g.Total = f.Total - min(f.Total, gone)
	r.to.AddFunction(g)
}

// records returns the records of function f, moved to their new lines. gone is the number of
// samples at lines that no longer exist.
func (r *sampleRebase) records(f *sampleprof.Function) (records []sampleprof.Record, gone uint64) {
	open := []openSample{{end: len(f.Records), name: f.Name, head: none}}
	lose := func(n uint64) {
		gone = saturating.Add(gone, n)
		for _, o := range open[1:] {
			head := &records[o.head]
			head.Count -= min(head.Count, n)
		}
	}
	leave := func(at int) {
		for n := len(open) - 1; n > 0 && open[n].end == at; n-- {
			records[open[n].head].Span = uint32(len(records) - open[n].head - 1)
			open = open[:n]
		}
	}
	for i := 0; i < len(f.Records); i++ {
		leave(i)
		record := f.Records[i]
		line, ok := r.changes[open[len(open)-1].name].sampleLine(record.Line)
		switch {
		case record.Kind == sampleprof.KindChecksum || record.Kind == sampleprof.KindAttributes:
		case record.Kind == sampleprof.KindInlined && (!ok || r.changes[record.Name].outcome == Lost):
			lose(record.Count)
			i += int(record.Span)
			continue
		case !ok:
			if record.Kind == sampleprof.KindCount {
				lose(record.Count)
			}
			continue
		case record.Kind == sampleprof.KindInlined:
			open = append(open, openSample{end: i + 1 + int(record.Span), name: record.Name, head: len(records)})
			fallthrough
		default:
			record.Line = line
		}
		if record.Kind == sampleprof.KindTarget || record.Kind == sampleprof.KindInlined || record.Kind == sampleprof.KindVTable {
			record.Name = r.name(record.Name)
		}
		records = append(records, record)
	}
	leave(len(f.Records))
	return records, gone
}

// sampleLine returns the new line for records at an old line of a function in a sample profile. It
// returns false if the line no longer exists or the new one does not fit the format.
func (c *change) sampleLine(line uint16) (uint16, bool) {
	offset, ok := c.line(wire.Offset(uint32(line)))
	to := wire.Line(offset)
	return uint16(to), ok && to <= math.MaxUint16
}
