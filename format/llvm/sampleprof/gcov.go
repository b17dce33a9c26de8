package sampleprof

import (
	"math"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// baseDiscriminator masks the bits of a flow-sensitive discriminator that the compiler front end
// sets.
const baseDiscriminator = 0xff

// ToGCOV converts the profile to the model of package profile, which GCC's formats store. GCC and
// clang number discriminators differently, so the result is for reports, comparisons and sums, not
// for compiling with GCC.
//
// LLVM's formats do not record source files. The function file returns the source path of a
// function, or "" if unknown. If file is nil, all paths are unknown. Calling contexts become bodies
// inlined into their outermost function. The returned Losses count what the model cannot hold.
//
// If base is set, discriminators are reduced to their low 8 bits, which the front end sets, and
// counts at the same place are added. Otherwise all 32 bits are kept, although writers of GCC's
// formats reject discriminators of more than 16 bits, which flow-sensitive profiles have.
//
// A probe-based profile, or a profile with MD5s instead of names (see [Profile.Resolve]), gives an
// error that matches afdo.ErrUnrepresentable.
func (p *Profile) ToGCOV(base bool, file func(name string) string) (*profile.Profile, Losses, error) {
	losses := Losses{SymbolList: len(p.SymbolList), PreInlined: p.PreInlined}
	losses.addFlags(p)
	switch {
	case p.Probes:
		return nil, losses, unrepresentable("probes: locations are their numbers, not lines")
	case p.names.hashed > 0:
		return nil, losses, unrepresentable("%d of %d names are known by their MD5 only", p.names.hashed, len(p.names.list))
	}
	c := toGCOV{p: p, base: base, file: file, q: profile.New(), losses: &losses}
	for i := range p.functions {
		c.function(&p.functions[i])
	}
	return c.q, losses, nil
}

type toGCOV struct {
	p      *Profile
	base   bool
	file   func(name string) string
	q      *profile.Profile
	body   profile.Body
	sums   []uint64 // sums[i] is the sum of the counts in the first i records
	ends   []int
	losses *Losses
}

func (c *toGCOV) symbol(ref NameRef) profile.SymbolRef {
	name, file := c.p.Name(ref).Text, profile.UnknownUnit
	if c.file != nil {
		file = c.q.AddUnit(c.file(name))
	}
	return c.q.AddSymbol(file, name)
}

func (c *toGCOV) function(f *Function) {
	c.body.Reset()
	outermost, head := f.Name, f.HeadCount
	if len(f.Context) > 1 {
		outermost, head = f.Context[0].Name, 0
		c.losses.Contexts++
		for i, frame := range f.Context[:len(f.Context)-1] {
			c.body.Enter(uint32(frame.Line), frame.Discriminator, c.symbol(f.Context[i+1].Name))
		}
	}
	c.countTotals(f)
	c.records(f)
	for range max(len(f.Context)-1, 0) {
		c.body.Leave()
	}
	c.q.AddFunction(c.symbol(outermost), profile.Function{HeadCount: head, Records: c.body.Records()})
}

// countTotals compares the stored total of a function, and of each function inlined in it, with the
// sum of its counts. It adds those that differ to the losses.
func (c *toGCOV) countTotals(f *Function) {
	c.sums = append(c.sums[:0], 0)
	sum := uint64(0)
	for i := range f.Records {
		if f.Records[i].Kind == KindCount {
			sum += f.Records[i].Count
		}
		c.sums = append(c.sums, sum)
	}
	if f.Total != sum {
		c.losses.Totals++
	}
	for i := range f.Records {
		if r := &f.Records[i]; r.Kind == KindInlined && r.Count != c.sums[i+r.span()]-c.sums[i] {
			c.losses.Totals++
		}
	}
}

func (c *toGCOV) records(f *Function) {
	c.ends = c.ends[:0]
	for i := range f.Records {
		for len(c.ends) > 0 && c.ends[len(c.ends)-1] == i {
			c.ends = c.ends[:len(c.ends)-1]
			c.body.Leave()
		}
		r := &f.Records[i]
		discriminator := r.Discriminator
		if c.base {
			discriminator &= baseDiscriminator
			if discriminator != r.Discriminator && r.Kind != KindTarget {
				c.losses.Discriminators++
			}
		}
		switch r.Kind {
		case KindCount:
			c.body.Count(uint32(r.Line), discriminator, r.Count)
		case KindTarget:
			c.body.Call(uint32(r.Line), discriminator, c.symbol(r.Name), r.Count)
		case KindInlined:
			c.body.Enter(uint32(r.Line), discriminator, c.symbol(r.Name))
			c.ends = append(c.ends, i+r.span())
		case KindVTable:
			c.losses.VTables++
		case KindAttributes:
			c.losses.Attributes++
		}
	}
	for range c.ends {
		c.body.Leave()
	}
}

// FromGCOV converts a profile of GCC's formats to a sample profile. Totals become the sums of the
// counts. Source files and timestamps are dropped, and functions with the same name in several
// files are combined; the returned Losses count these. Line offsets of more than 16 bits are
// reduced modulo 2^16, as LLVM does in lookups, or dropped if they have no samples.
func FromGCOV(q *profile.Profile) (*Profile, Losses) {
	p := new(Profile)
	losses := Losses{}
	c := fromGCOV{p: p, q: q}
	for s, f := range q.Functions() {
		if f.Timestamp != 0 {
			losses.Timestamps++
		}
		if q.UnitPath(q.SymbolUnit(s)) != "" {
			losses.Units++
		}
		name := c.name(s)
		if p.find(name, nil) != nil {
			losses.Symbols++
		}
		g := Function{Name: name, HeadCount: f.HeadCount}
		g.Records, g.Total = c.records(c.folded(f.Records, &losses))
		p.AddFunction(g)
	}
	return p, losses
}

type fromGCOV struct {
	p    *Profile
	q    *profile.Profile
	open []gcovBody
	body profile.Body
}

// A gcovBody is an inlined body of a GCOV profile whose records are being converted.
type gcovBody struct {
	head, end int    // index of its KindInlined record in the result, and of the end of its records in the source
	outer     uint64 // sum of the counts of the enclosing body before this one
}

func (c *fromGCOV) name(s profile.SymbolRef) NameRef {
	return c.p.AddName(Name{Text: c.q.SymbolName(s)})
}

// folded returns the records of a function with their line offsets reduced to 16 bits. If a line
// offset needs more bits and the record has no samples, the record is dropped. losses gets the
// number of reduced and dropped line offsets.
func (c *fromGCOV) folded(from []profile.Record, losses *Losses) []profile.Record {
	if !slices.ContainsFunc(from, func(r profile.Record) bool { return r.Line > math.MaxUint16 }) {
		return from
	}
	c.body.Reset()
	c.body.AddRecords(from, func(r *profile.Record) bool {
		line, keep := r.Line16()
		switch {
		case !keep:
			losses.SilentLines++
		case line != r.Line:
			losses.FoldedLines++
		}
		r.Line = line
		return keep
	})
	return c.body.Records()
}

// records converts the records of a function and of its inlined bodies. It returns the converted
// records and the sum of all counts.
func (c *fromGCOV) records(from []profile.Record) (records []Record, total uint64) {
	var sum adder
	c.open = c.open[:0]
	leave := func(i int) (left bool) {
		for n := len(c.open) - 1; n >= 0 && c.open[n].end == i; n-- {
			b := c.open[n]
			records[b.head].Count = total
			records[b.head].Span = uint32(len(records) - b.head - 1)
			total = sum.add(b.outer, total)
			c.open = c.open[:n]
			left = true
		}
		return left
	}
	for i := range from {
		left := leave(i) // the latest record is of another body
		f := &from[i]
		r := Record{Line: uint16(f.Line), Discriminator: f.Discriminator, Count: f.Count}
		switch f.Kind {
		case profile.KindCount:
			total = sum.add(total, f.Count)
		case profile.KindCall:
			if n := len(records); left || n == 0 || records[n-1].Kind > KindTarget || records[n-1].where() != r.where() {
				records = append(records, Record{Line: r.Line, Discriminator: r.Discriminator})
			}
			r.Kind, r.Name = KindTarget, c.name(f.Callee)
		case profile.KindInlined:
			r.Kind, r.Name = KindInlined, c.name(f.Callee)
			c.open = append(c.open, gcovBody{head: len(records), end: i + 1 + int(f.Count), outer: total})
			total = 0
		}
		records = append(records, r)
	}
	leave(len(from))
	return records, total
}
