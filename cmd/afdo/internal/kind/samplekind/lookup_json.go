package samplekind

import (
	"io"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// A functionJSON writes functions with the members that `llvm-profdata
// show --sample --show-format=json` gives them, and some more: context,
// vtables, checksum and attributes.
type functionJSON struct {
	*jsonstream.Writer
	p        *sampleprof.Profile
	demangle bool
	open     []jsonBody
}

// A jsonBody is a body that is being written.
type jsonBody struct {
	next, end int
	calls     bool // its array of callsites is open
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

// begin writes the counts of a body.
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

// count writes a count and its targets, and returns where the next one is.
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

// inlined begins the next inlined body.
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

// finish writes what ends a body, and closes it.
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
