package anyprof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// A sampleFile implements fileless for an LLVM sample profile, which it reads lazily.
type sampleFile struct{ r *sampleprof.Reader }

func (s *sampleFile) functions(yield func(*Function, error) bool) {
	eachOf(s.r.Functions(), func(f *sampleprof.Function) *Function {
		return sampleFunction(s.r, f, slices.Clone(f.Records))
	}, yield)
}

// A sampleMemory implements fileless for an LLVM sample profile that was read whole.
type sampleMemory struct{ p *sampleprof.Profile }

func (s *sampleMemory) functions(yield func(*Function, error) bool) {
	for f := range s.p.Functions() {
		if !yield(sampleFunction(s.p, f, f.Records), nil) {
			return
		}
	}
}

// sampleNames returns the names of functions.
type sampleNames interface {
	Name(sampleprof.NameRef) sampleprof.Name
}

func sampleFunction(names sampleNames, f *sampleprof.Function, records []sampleprof.Record) *Function {
	return &Function{
		Name: sampleName(names, f.Name), Context: contextText(names, f.Context), Hash: f.Checksum(), HeadCount: f.HeadCount,
		records: func(yield func(Record, error) bool) { walkSample(names, records, yield) },
	}
}

func sampleName(names sampleNames, ref sampleprof.NameRef) Name {
	n := names.Name(ref)
	if n.Hashed {
		return Name{GUID: n.MD5}
	}
	return Name{Text: strings.Clone(n.Text)}
}

// contextText returns a calling context in its text form.
func contextText(names sampleNames, context []sampleprof.Frame) string {
	var text strings.Builder
	for i, f := range context {
		text.WriteString(names.Name(f.Name).String())
		if i == len(context)-1 {
			break
		}
		text.WriteString(":" + strconv.Itoa(int(f.Line)))
		if f.Discriminator != 0 {
			text.WriteString("." + strconv.FormatUint(uint64(f.Discriminator), 10))
		}
		text.WriteString(" @ ")
	}
	return text.String()
}

func walkSample(names sampleNames, records []sampleprof.Record, yield func(Record, error) bool) {
	var ends []int // ends of the enclosing inlined bodies
	for i, have := range records {
		for len(ends) > 0 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		r := Record{Depth: len(ends), Line: uint32(have.Line), Discriminator: have.Discriminator, Count: have.Count}
		switch have.Kind {
		case sampleprof.KindCount:
			r.Kind = Samples
		case sampleprof.KindTarget:
			r.Kind, r.Name = Call, sampleName(names, have.Name)
		case sampleprof.KindVTable:
			r.Kind, r.Name = Value, sampleName(names, have.Name)
		case sampleprof.KindInlined:
			r.Kind, r.Name, r.Count = Inlined, sampleName(names, have.Name), 0
			ends = append(ends, i+1+int(have.Span))
		default:
			continue // belongs to the function, not to a place
		}
		if !yield(r, nil) {
			return
		}
	}
}
