package textfmt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// draw returns a random legal file with a few units, and its content.
func draw(seed uint64, o gen.Options) ([]byte, *naive.File) {
	return gen.Random(rand.New(rand.NewPCG(seed, 20)), o)
}

// everything returns options for all kinds of legal files. If rawNames is false, no name has a
// double quote, so Print accepts the file.
func everything(rawNames bool) gen.Options {
	o := gen.All()
	o.RawNames = rawNames
	o.Duplicates = true
	return o
}

func open(t testing.TB, data []byte) *afdo.Reader {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// corpus opens a real profile, or skips the test if there is none.
func corpus(t testing.TB, name string) *afdo.Reader {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, name))
	require.NoError(t, err)
	return open(t, data)
}

// meaning converts a profile to the model of package naive.
func meaning(p *profile.Profile) *naive.Profile {
	key := func(s profile.SymbolRef) naive.Key {
		return naive.Key{Path: p.UnitPath(p.SymbolUnit(s)), Name: p.SymbolName(s)}
	}
	m := &naive.Profile{Symbols: map[naive.Key]bool{}, Functions: map[naive.Key]*naive.Function{}}
	for s := range p.NumSymbols() {
		m.Symbols[key(profile.SymbolRef(s))] = true
	}
	for s, f := range p.Functions() {
		m.Functions[key(s)] = &naive.Function{Head: f.HeadCount, Timestamp: f.Timestamp, Body: bodyMeaning(f.Records, key)}
	}
	return m
}

func bodyMeaning(records []profile.Record, key func(profile.SymbolRef) naive.Key) *naive.Body {
	b := &naive.Body{
		Counts:  map[naive.Place]uint64{},
		Calls:   map[naive.Place]map[naive.Key]uint64{},
		Inlined: map[naive.Place]map[naive.Key]*naive.Body{},
	}
	for len(records) > 0 {
		r := records[0]
		records = records[1:]
		at := naive.Place{Line: r.Line, Disc: r.Discriminator}
		switch r.Kind {
		case profile.KindCount:
			b.Counts[at] = r.Count
		case profile.KindCall:
			if b.Calls[at] == nil {
				b.Calls[at] = map[naive.Key]uint64{}
			}
			b.Calls[at][key(r.Callee)] = r.Count
		case profile.KindInlined:
			if b.Inlined[at] == nil {
				b.Inlined[at] = map[naive.Key]*naive.Body{}
			}
			b.Inlined[at][key(r.Callee)] = bodyMeaning(records[:r.Count], key)
			records = records[r.Count:]
		}
	}
	return b
}

// hasQuote reports whether a name or path in a file contains a double quote.
func hasQuote(f *naive.File) bool {
	for _, u := range f.Units {
		if strings.Contains(u.Path, `"`) {
			return true
		}
		for _, s := range u.Symbols {
			if strings.Contains(s.Name, `"`) {
				return true
			}
		}
	}
	return false
}

// part returns the file that the text of the chosen symbols describes: these symbols with their
// samples, and the symbols to which they refer without samples.
func part(f *naive.File, chosen func(unit int, s *naive.Symbol) bool) *naive.File {
	inlined, called := map[uint32]bool{}, map[uint32]bool{}
	for i := range f.Units {
		for j := range f.Units[i].Symbols {
			if s := &f.Units[i].Symbols[j]; chosen(i, s) {
				collect(s.Locations, inlined, called)
			}
		}
	}
	p := &naive.File{Summary: f.Summary}
	for i, u := range f.Units {
		symbols := u.Symbols
		u.Symbols = nil
		for _, s := range symbols {
			if !chosen(i, &s) {
				if !inlined[s.ID] && !called[s.ID] {
					continue
				}
				s = naive.Symbol{ID: s.ID, Name: s.Name}
			}
			u.Symbols = append(u.Symbols, s)
		}
		p.Units = append(p.Units, u)
	}
	return p
}

// collect adds the inlined functions and the call targets in a body to two sets.
func collect(locations []naive.Location, inlined, called map[uint32]bool) {
	for _, l := range locations {
		if l.Type == naive.InlinedFn {
			inlined[l.Callee] = true
			collect(l.Locations, inlined, called)
		}
		for _, target := range l.Targets {
			called[target.Callee] = true
		}
	}
}

// A slowPrinter writes the text of a file in the simplest way. Tests compare its output with that
// of Print.
type slowPrinter struct {
	strings.Builder
	file    map[uint32]int // of a symbol ID
	name    map[uint32]string
	inlined map[uint32]bool
}

// slowPrint writes a whole file. The symbols of units for which comesFirst returns true come first.
func slowPrint(f *naive.File, withFile func(u *naive.Unit) bool, comesFirst func(unit int) bool) string {
	p := &slowPrinter{file: map[uint32]int{}, name: map[uint32]string{}, inlined: map[uint32]bool{}}
	var paths []string
	for _, u := range f.Units {
		file := -1
		if u.Path != "" && withFile(&u) {
			file = slices.Index(paths, u.Path)
			if file < 0 {
				file = len(paths)
				paths = append(paths, u.Path)
			}
		}
		for _, s := range u.Symbols {
			p.file[s.ID], p.name[s.ID] = file, s.Name
			collect(s.Locations, p.inlined, map[uint32]bool{})
		}
	}
	p.block("filenames = {", "\n  ", len(paths), func(i int) { fmt.Fprintf(p, "%s%s%s", `"`, paths[i], `"`) })
	p.WriteString("\n}\n\n")
	p.summary(&f.Summary)
	for _, first := range []bool{true, false} {
		for i, u := range f.Units {
			for _, s := range u.Symbols {
				if comesFirst(i) == first && (s.HasInfo || !p.inlined[s.ID]) {
					fmt.Fprintf(p, "\n\"%s\":%d(%d:%d:%d) = ", s.Name, p.file[s.ID], s.ID, s.Head, s.Timestamp)
					p.body(s.Locations, 0)
					p.WriteString("\n")
				}
			}
		}
	}
	return p.String()
}

// block writes a list of n elements with commas between them.
func (p *slowPrinter) block(start, before string, n int, element func(i int)) {
	p.WriteString(start)
	for i := range n {
		if i > 0 {
			p.WriteString(",")
		}
		p.WriteString(before)
		element(i)
	}
}

func (p *slowPrinter) summary(s *naive.Summary) {
	fmt.Fprintf(p, `summary = {
  total_count = %d,
  max_count = %d,
  max_fn_count = %d,
  num_counts = %d,
  num_functions = %d,
  num_detailed_entries = %d,
`, s.TotalCount, s.MaxCount, s.MaxFnCount, s.NumCounts, s.NumFunctions, len(s.Entries))
	p.block("  detailed_entries = {", "\n    ", len(s.Entries), func(i int) {
		e := s.Entries[i]
		fmt.Fprintf(p, "{cutoff = %d, min_count = %d, num_counts = %d}", e.Cutoff, e.MinCount, e.NumCounts)
	})
	p.WriteString("\n  }\n}\n")
}

func (p *slowPrinter) body(locations []naive.Location, depth int) {
	line := func(steps int) string {
		steps += 2 * depth
		if steps > 2*65 { // what stands in 64 bodies
			return "\n"
		}
		return "\n" + strings.Repeat("  ", steps)
	}
	sections := [3][]naive.Location{}
	for i := 0; i < len(locations); i++ {
		l := locations[i]
		switch l.Type {
		case naive.CalledFn, naive.CalledFns:
			if len(l.Targets) == 0 {
				continue
			}
			calls := sections[1]
			if i > 0 && follows(locations[:i], l) {
				last := &calls[len(calls)-1]
				last.Targets = append(slices.Clip(last.Targets), l.Targets...)
				continue
			}
			sections[1] = append(calls, l)
		case naive.InlinedFn:
			sections[2] = append(sections[2], l)
		default:
			sections[0] = append(sections[0], l)
		}
	}
	var used []int
	for kind, section := range sections {
		if len(section) > 0 {
			used = append(used, kind)
		}
	}
	p.block("{", line(1), len(used), func(i int) {
		section := sections[used[i]]
		p.block([]string{"locations", "callsites", "inlined"}[used[i]]+" = {", line(2), len(section), func(j int) {
			p.location(section[j], depth)
		})
		p.WriteString(line(1) + "}")
	})
	if len(used) > 0 {
		p.WriteString(line(0))
	}
	p.WriteString("}")
}

// follows reports whether the location before l is also a call at the same place.
func follows(before []naive.Location, l naive.Location) bool {
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i]
		isCall := b.Type == naive.CalledFn || b.Type == naive.CalledFns
		if isCall && len(b.Targets) == 0 {
			continue // says nothing
		}
		return isCall && b.Line == l.Line && b.Disc == l.Disc
	}
	return false
}

func (p *slowPrinter) location(l naive.Location, depth int) {
	fmt.Fprintf(p, "%d", l.Line)
	if l.Disc != 0 {
		fmt.Fprintf(p, ".%d", l.Disc)
	}
	switch l.Type {
	case naive.CalledFn, naive.CalledFns:
		p.WriteString(" -> {")
		for i, target := range l.Targets {
			if i > 0 {
				p.WriteString(", ")
			}
			fmt.Fprintf(p, "%d = %d", target.Callee, target.Count)
		}
		p.WriteString("}")
	case naive.InlinedFn:
		fmt.Fprintf(p, " = \"%s\":%d(%d) = ", p.name[l.Callee], p.file[l.Callee], l.Callee)
		p.body(l.Locations, depth+1)
	default:
		fmt.Fprintf(p, " = %d", l.Count)
	}
}

func sortByID(symbols []naive.Symbol) {
	slices.SortFunc(symbols, func(a, b naive.Symbol) int { return int(int64(a.ID) - int64(b.ID)) })
}

// equalText compares two long texts and reports the first line that differs.
func equalText(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	wants, gots := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	i := 0
	for i < min(len(wants), len(gots))-1 && wants[i] == gots[i] {
		i++
	}
	require.Equal(t, wants[i], gots[i], "line %d of %d, want %d", i+1, len(gots), len(wants))
}
