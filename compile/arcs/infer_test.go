package arcs

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// counted returns evidence for testdata/f.c, as if the function was called once with n = 100. Every
// second i is odd, 30 characters are 'a' or 'b', and the argument of sq is above 10 in all but the
// first calls.
func counted() *profile.Evidence {
	at := func(line, column uint32) profile.Place {
		return profile.Place{Position: profile.Position{File: "/src/a.c", Line: line, Column: column}}
	}
	block := func(count uint64, places ...profile.Place) profile.CodeBlock {
		return profile.CodeBlock{Count: count, Size: 4, Places: places}
	}
	return &profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "f", Unit: "/src/a.c", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}},
		Blocks: []profile.CodeBlock{
			block(1, at(4, 7)),
			block(100, at(6, 41), at(6, 54), at(6, 64), at(6, 62)),
			block(101, at(6, 21)),
			block(30, at(6, 93)),
			block(74, at(3, 51)),
			block(6, at(3, 62)),
			block(1, at(7, 3)),
			block(0, at(7, 31), at(7, 60), at(7, 79)),
		},
	}}}
}

func withEvidence(e *profile.Evidence) *profile.Profile {
	p := profile.New()
	p.SetEvidence(e)
	return p
}

func TestInfer(t *testing.T) {
	for _, version := range []string{"12", "14", "16"} {
		notes := readNotes(t, version)
		c, report, err := Infer(notes, bytes.NewReader(read(t, "gcc"+version+".profile")), withEvidence(counted()), Options{})
		require.NoError(t, err)
		require.Equal(t, &Report{Functions: 1, Inferred: 1, Counted: report.Counted, Owned: report.Counted - 1, Blocks: 17, Guessed: report.Guessed, Evidence: report.Evidence, Moved: 2}, report)
		require.Len(t, c.Functions, 1)
		f := &notes.Functions[0]
		arcs, err := f.Expand(c.Functions[0].Counters[0].Values)
		require.NoError(t, err)
		blocks := f.BlockCounts(arcs)
		count := func(n ...int) (sum float64) {
			for _, n := range n {
				sum += float64(blocks[n]) / 1024
			}
			return sum
		}
		const floor = 0.1
		require.InDelta(t, 1, count(0), floor)
		require.InDelta(t, 100, count(3), floor)
		require.InDelta(t, 101, count(13), floor)
		require.InDelta(t, 30, count(8), floor+2)
		require.InDelta(t, 80, count(4, 8), floor+4)
		require.InDelta(t, 6, count(6, 10), floor+1)
		require.InDelta(t, 0, count(15, 16, 17), floor)
		data, err := gcda.WriteCounters(c)
		require.NoError(t, err)
		require.NotEmpty(t, data)
	}
}

// A function that was left out of the profile gets GCC's guesses, scaled to the largest count that
// the profile lists for it. Without counters, GCC would assume that the function never runs.
func TestLeftOut(t *testing.T) {
	e := counted()
	p := withEvidence(e)
	p.AddSymbol(p.AddUnit("/src/a.c"), "f")
	other := e.Copies[0]
	other.Symbol, other.Frames = "other", []profile.InlineFrame{{Parent: -1, Function: "other"}}
	e.Copies = append(e.Copies, other)
	p.AddFunction(p.AddSymbol(p.AddUnit("/src/a.c"), "other"), profile.Function{HeadCount: 1})
	p, _ = p.LeaveOut(func(s profile.SymbolRef) bool { return p.SymbolName(s) == "f" })
	notes := readNotes(t, "12")
	c, _, err := Infer(notes, bytes.NewReader(read(t, "gcc12.profile")), p, Options{})
	require.NoError(t, err)
	require.Len(t, c.Functions, 1)
	guessed, _, err := Infer(notes, bytes.NewReader(read(t, "gcc12.profile")), profile.New(), Options{})
	require.NoError(t, err)
	got, want := c.Functions[0].Counters[0].Values, guessed.Functions[0].Counters[0].Values
	require.InDelta(t, 101, float64(slices.Max(got))/1024, 5)
	for i := range got {
		require.InDelta(t, float64(want[i])*float64(slices.Max(got))/float64(slices.Max(want)), float64(got[i]), 2*1024)
	}
}

// Code that did not run in the recording gets a small count, because GCC compiles code with a count
// of 0 as code that never runs. If the evidence is samples, functions without any get such counts,
// too.
func TestFloor(t *testing.T) {
	for _, fraction := range []uint8{0, 8} {
		notes, e := readNotes(t, "12"), counted()
		e.Fraction = fraction
		for i := range e.Copies[0].Blocks { // the loop is left at once
			e.Copies[0].Blocks[i].Count = map[uint64]uint64{1: 1, 101: 1}[e.Copies[0].Blocks[i].Count]
		}
		for _, name := range []string{"f", "other"} {
			e.Copies[0].Frames[0].Function = name
			c, _, err := Infer(notes, bytes.NewReader(read(t, "gcc12.profile")), withEvidence(e), Options{})
			require.NoError(t, err)
			require.Equal(t, name == "other" && fraction == 0, c.Functions[0].Counters[0].Zeros > 0, "%s %d", name, fraction)
			if c.Functions[0].Counters[0].Zeros == 0 {
				arcs, err := notes.Functions[0].Expand(c.Functions[0].Counters[0].Values)
				require.NoError(t, err)
				require.Positive(t, notes.Functions[0].BlockCounts(arcs)[3])
			}
		}
	}
}

// Counts that are too large for a .gcda file, as in a profile of a long run or of many machines,
// are divided until they fit.
func TestInferLargeCounts(t *testing.T) {
	for _, shift := range []int{0, 10, 20, 26, 30, 40, 57} {
		for _, fraction := range []uint8{0, 8} {
			notes, e := readNotes(t, "12"), counted()
			e.Fraction = fraction
			for i := range e.Copies[0].Blocks {
				e.Copies[0].Blocks[i].Count <<= shift
			}
			c, _, err := Infer(notes, bytes.NewReader(read(t, "gcc12.profile")), withEvidence(e), Options{})
			require.NoError(t, err)
			_, err = gcda.WriteCounters(c)
			require.NoError(t, err)
			arcs, err := notes.Functions[0].Expand(c.Functions[0].Counters[0].Values)
			require.NoError(t, err)
			require.GreaterOrEqual(t, slices.Min(arcs), int64(0))
			blocks := notes.Functions[0].BlockCounts(arcs)
			require.InDelta(t, 101.0/30, float64(blocks[13])/float64(blocks[8]), 0.5, "%d %d", shift, fraction)
			require.InDelta(t, float64(c.Summaries[0].SumMax), float64(blocks[13]), 0.1*float64(blocks[13]))
		}
	}
}

func TestInferRejectsAnotherDump(t *testing.T) {
	_, _, err := Infer(readNotes(t, "12"), bytes.NewReader([]byte("nothing\n")), withEvidence(counted()), Options{})
	require.Equal(t, errDump, err)
}
