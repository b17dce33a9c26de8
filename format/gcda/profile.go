package gcda

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// Losses counts what [Profile] could not use.
type Losses struct {
	Functions int // functions whose counters do not match their notes
	Lines     int // lines of code that are in no function of the notes, such as in inline functions of headers
}

// Profile converts counters to a sample profile, with the notes of the same compile. The count of a
// line is that of its most frequent block. Code of another function, which GCC inlined before it
// inserted the counters, counts for the lines of that function. Functions that never ran are left
// out.
func Profile(c *Counters, n *Notes) (*profile.Profile, Losses) {
	s := newSources(n)
	var lost Losses
	for counts, err := range n.Counts(c) {
		if err != nil {
			lost.Functions++
			continue
		}
		lost.Lines += s.add(&counts)
	}
	p := profile.New()
	for i := range n.Functions {
		f := &n.Functions[i]
		if code := s.code[f]; code != nil {
			p.AddFunction(p.AddSymbol(p.AddUnit(f.Source), f.Name), code.function())
		}
	}
	return p, lost
}

// sources finds the function to which a source line belongs, and collects the counts of lines by
// function.
type sources struct {
	files map[string][]*Function // functions by path of their source file, in the order of their first lines
	code  map[*Function]*lineCounts
}

// A lineCounts contains the counts of a function's lines.
type lineCounts struct {
	head  uint64
	lines map[uint32]uint64 // counts by line offset from the first line of the function
}

func newSources(n *Notes) *sources {
	s := &sources{map[string][]*Function{}, map[*Function]*lineCounts{}}
	for i := range n.Functions {
		if f := &n.Functions[i]; !f.Artificial {
			s.files[f.Source] = append(s.files[f.Source], f)
		}
	}
	for _, functions := range s.files {
		slices.SortStableFunc(functions, func(a, b *Function) int { return cmp.Compare(a.Start.Line, b.Start.Line) })
	}
	return s
}

// find returns the function that contains a line of a source file, or nil if there is none. The
// line has code in function f. If the line is within f, find returns f. Otherwise the code was
// inlined, and find returns the function from which it comes.
func (s *sources) find(f *Function, file string, line uint32) *Function {
	if file == f.Source && f.Start.Line <= line && line <= f.End.Line {
		return f
	}
	functions := s.files[file]
	after, _ := slices.BinarySearchFunc(functions, line, func(f *Function, line uint32) int {
		if f.Start.Line <= line {
			return -1
		}
		return 1
	})
	if after > 0 && line <= functions[after-1].End.Line {
		return functions[after-1]
	}
	return nil
}

// add adds the counts of a function's blocks to the lines of these blocks. A line may belong to
// another function, from which it was inlined. lost is the number of lines that belong to no
// function.
func (s *sources) add(c *Counts) (lost int) {
	f := c.Function
	blocks := f.BlockCounts(c.Arcs)
	if slices.Max(append(blocks, 0)) <= 0 {
		return 0
	}
	type place struct {
		f    *Function
		line uint32
	}
	most := map[place]uint64{}
	for _, l := range f.Lines {
		n := uint64(max(blocks[l.Block], 0))
		for _, line := range l.Lines {
			if of := s.find(f, l.File, line); of != nil {
				at := place{of, line - of.Start.Line}
				most[at] = max(most[at], n)
			} else {
				lost++
			}
		}
	}
	s.of(f).head = uint64(max(blocks[0], 0))
	for at, n := range most {
		code := s.of(at.f)
		code.lines[at.line] = saturating.Add(code.lines[at.line], n)
	}
	return lost
}

// of returns the counts of the lines of a function. If there are none yet, it adds empty ones.
func (s *sources) of(f *Function) *lineCounts {
	if s.code[f] == nil {
		s.code[f] = &lineCounts{lines: map[uint32]uint64{}}
	}
	return s.code[f]
}

func (c *lineCounts) function() profile.Function {
	var body profile.Body
	for line, n := range c.lines {
		body.Count(line, 0, n)
	}
	return profile.Function{HeadCount: c.head, Records: body.Records()}
}
