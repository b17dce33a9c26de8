package profile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// randomEvidence returns evidence with copies of different names, in the order in which a file
// stores them.
func randomEvidence(r *rand.Rand, copies int) *profile.Evidence {
	e := &profile.Evidence{Fraction: uint8(r.IntN(9))}
	position := func() profile.Position {
		return profile.Position{File: fmt.Sprintf("src/%d.c", r.IntN(3)), Line: r.Uint32() >> r.IntN(32), Column: r.Uint32N(99), Discriminator: r.Uint32N(3)}
	}
	for i := range copies {
		c := profile.CodeCopy{Symbol: fmt.Sprintf("_Z%05d", i), Unit: fmt.Sprintf("%d.c", r.IntN(3))}
		for f := range 1 + r.IntN(5) {
			frame := profile.InlineFrame{Parent: int32(r.IntN(f+1)) - 1, Function: fmt.Sprintf("_Z%05d", r.IntN(copies)), Declared: r.Uint32N(2) * r.Uint32N(99)}
			if f > 0 {
				frame.Parent = int32(r.IntN(f))
				frame.Call = position()
			}
			c.Frames = append(c.Frames, frame)
		}
		for range 1 + r.IntN(6) {
			b := profile.CodeBlock{Count: r.Uint64() >> r.IntN(64), Size: r.Uint32N(30)}
			for range r.IntN(4) {
				b.Places = append(b.Places, profile.Place{Frame: int32(r.IntN(len(c.Frames))), Position: position(), Factor: 1 + r.Uint32N(2)})
			}
			c.Blocks = append(c.Blocks, b)
		}
		for from := range c.Blocks {
			for range r.IntN(3) {
				c.Jumps = append(c.Jumps, profile.CodeJump{From: int32(from), To: int32(r.IntN(len(c.Blocks))), Count: r.Uint64() >> r.IntN(64)})
			}
		}
		for range r.IntN(3) {
			at := profile.Place{Frame: int32(r.IntN(len(c.Frames))), Position: position(), Factor: 1}
			c.AddSize(profile.CallSize{Place: at, Bytes: r.Uint64() >> r.IntN(64), Count: r.Uint64() >> r.IntN(64)})
			c.AddSize(profile.CallSize{Place: at, Bytes: profile.OtherSizes, Count: 1})
		}
		e.Copies = append(e.Copies, c)
	}
	return e
}

// fileOf returns a file with a profile that only has evidence.
func fileOf(t *testing.T, e *profile.Evidence, o builder.Options) []byte {
	p := profile.New()
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f"), profile.Function{HeadCount: 1, Records: []profile.Record{{Kind: profile.KindCount, Count: 7}}})
	p.SetMarks(0, profile.Marks{3, 3, 3})
	p.SetEvidence(e)
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, o))
	return file.Bytes()
}

func TestEvidenceRoundTrip(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 60))
		e := randomEvidence(r, 1+r.IntN(60))
		shuffled := &profile.Evidence{Fraction: e.Fraction, Copies: slices.Clone(e.Copies)}
		r.Shuffle(len(e.Copies), func(i, j int) {
			shuffled.Copies[i], shuffled.Copies[j] = shuffled.Copies[j], shuffled.Copies[i]
		})
		for _, o := range []builder.Options{{}, {Compact: true}, {Index: &index.Options{}}} {
			data := fileOf(t, shuffled, o)
			assert.Equal(t, fileOf(t, e, o), data)
			for problem := range check.V4(data, check.Options{}) {
				require.NoError(t, problem.Err)
			}
			file, err := afdo.OpenBytes(data)
			require.NoError(t, err)
			p, err := profile.Read(file)
			require.NoError(t, err)
			require.Equal(t, e, p.Evidence())
			require.True(t, p.HasMarks())
			requireEvidenceOf(t, file, e)
			o.NoEvidence = true
			file, err = afdo.OpenBytes(fileOf(t, e, o))
			require.NoError(t, err)
			_, err = profile.ReadEvidence(file)
			assert.ErrorIs(t, err, afdo.ErrNotFound)
		}
	}
}

// requireEvidenceOf compares the results of looking up functions with those of searching all
// copies.
func requireEvidenceOf(t *testing.T, file *afdo.Reader, e *profile.Evidence) {
	table, err := profile.ReadEvidence(file)
	require.NoError(t, err)
	for _, names := range [][]string{{"_Z00000"}, {"_Z00003", "_Z00007", "_Z00001"}, {"", "_Z", "zz", "_Z00001a"}} {
		found, err := table.Of(slices.Values(names))
		require.NoError(t, err)
		var want []profile.CodeCopy
		for _, c := range e.Copies {
			if slices.ContainsFunc(c.Frames, func(f profile.InlineFrame) bool { return slices.Contains(names, f.Function) }) {
				want = append(want, c)
			}
		}
		require.Equal(t, want, found.Copies, "%v", names)
	}
}

// A slice may have evidence without copies. It can be read back.
func TestEvidenceOfNothing(t *testing.T) {
	r, err := afdo.OpenBytes(fileOf(t, &profile.Evidence{Fraction: 8}, builder.Options{}))
	require.NoError(t, err)
	table, err := profile.ReadEvidence(r)
	require.NoError(t, err)
	e, err := table.All()
	require.NoError(t, err)
	require.Equal(t, &profile.Evidence{Fraction: 8}, e)
}

// A lookup decompresses no more than the chunks that it needs.
func TestEvidenceIsLazy(t *testing.T) {
	e := randomEvidence(rand.New(rand.NewPCG(1, 60)), 4000)
	for i := range e.Copies {
		e.Copies[i].Frames, e.Copies[i].Sizes = e.Copies[i].Frames[:1], nil
		e.Copies[i].Frames[0].Function = e.Copies[i].Symbol
		for b := range e.Copies[i].Blocks {
			e.Copies[i].Blocks[b].Places = nil
		}
	}
	file, err := afdo.OpenBytes(fileOf(t, e, builder.Options{}))
	require.NoError(t, err)
	table, err := profile.ReadEvidence(file)
	require.NoError(t, err)
	one := testing.AllocsPerRun(1, func() { _, _ = table.Of(slices.Values([]string{"_Z02000"})) })
	all := testing.AllocsPerRun(1, func() { _, _ = table.All() })
	assert.Less(t, 20*one, all)
}

// Merge adds up the counts of equal code and keeps copies of different code apart. The sums have
// binary fractions if one of the profiles has them.
func TestMergeEvidence(t *testing.T) {
	code := func(symbol string, size uint32, counts ...uint64) profile.CodeCopy {
		c := profile.CodeCopy{Symbol: symbol, Frames: []profile.InlineFrame{{Parent: -1, Function: symbol}}}
		for i, n := range counts {
			c.Blocks = append(c.Blocks, profile.CodeBlock{Count: n, Size: size, Places: []profile.Place{{Position: profile.Position{Line: uint32(i)}, Factor: 1}}})
			c.Jumps = append(c.Jumps, profile.CodeJump{From: int32(i), To: 0, Count: n})
			c.AddSize(profile.CallSize{Place: c.Blocks[i].Places[0], Bytes: 8, Count: n})
		}
		return c
	}
	with := func(fraction uint8, copies ...profile.CodeCopy) *profile.Profile {
		p := profile.New()
		p.SetEvidence(&profile.Evidence{Fraction: fraction, Copies: copies})
		return p
	}
	a, b := with(0, code("f", 3, 10, 20), code("g", 1, 1)), with(2, code("f", 3, 4, 8), code("g", 2, 4))
	want := &profile.Evidence{Fraction: 2, Copies: []profile.CodeCopy{code("f", 3, 48, 96), code("g", 1, 4), code("g", 2, 8)}}
	sum := profile.New()
	sum.Merge(a)
	sum.MergeScaled(b, profile.Ratio{Num: 2, Den: 1})
	assert.Equal(t, want, sum.Evidence())
	other := with(2, code("f", 3, 4, 8), code("g", 2, 4))
	other.MergeScaled(b, profile.Ratio{Num: 1, Den: 1})
	other.Merge(a)
	assert.Equal(t, fileOf(t, want, builder.Options{}), fileOf(t, other.Evidence(), builder.Options{}))
	assert.Equal(t, code("f", 3, 10, 20), a.Evidence().Copies[0], "inputs stay")
	kept, _ := sum.KeepFunctions(func(profile.SymbolRef) bool { return false })
	assert.Nil(t, kept.Evidence())
}

// For functions that LeaveOut drops, the evidence contains only the largest count of a block, also
// after writing and reading.
func TestLeaveOutEvidence(t *testing.T) {
	block := func(count uint64, frame int32) profile.CodeBlock {
		return profile.CodeBlock{Count: count, Size: 1, Places: []profile.Place{{Frame: frame, Position: profile.Position{Line: 1}, Factor: 1}}}
	}
	p := profile.New()
	for _, name := range []string{"f", "g", "inlined"} {
		p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), name), profile.Function{HeadCount: 1})
	}
	f := profile.CodeCopy{Symbol: "f", Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, {Function: "inlined"}}, Blocks: []profile.CodeBlock{block(1, 0), block(7, 1)}}
	g := profile.CodeCopy{Symbol: "g", Frames: []profile.InlineFrame{{Parent: -1, Function: "g"}}, Blocks: []profile.CodeBlock{block(3, 0), block(9, 0)}}
	p.SetEvidence(&profile.Evidence{Copies: []profile.CodeCopy{f, g}})
	named := func(p *profile.Profile, name string) func(profile.SymbolRef) bool {
		return func(s profile.SymbolRef) bool { return p.SymbolName(s) == name }
	}
	q, removed := p.LeaveOut(named(p, "g"))
	assert.Equal(t, 1, removed.Functions)
	listed := func(name string, count uint64) profile.CodeCopy {
		return profile.CodeCopy{
			Symbol: profile.LeftOut, Frames: []profile.InlineFrame{{Parent: -1, Function: profile.LeftOut}, {Function: name}},
			Blocks: []profile.CodeBlock{{Count: count, Size: 1, Places: []profile.Place{{Frame: 1, Factor: 1}}}},
		}
	}
	assert.Equal(t, []profile.CodeCopy{f, listed("g", 9)}, q.Evidence().Copies)
	q, _ = q.LeaveOut(named(q, "inlined"))
	assert.Equal(t, []profile.CodeCopy{f, listed("g", 9), listed("inlined", 7)}, q.Evidence().Copies)
	file, err := afdo.OpenBytes(fileOf(t, q.Evidence(), builder.Options{}))
	require.NoError(t, err)
	table, err := profile.ReadEvidence(file)
	require.NoError(t, err)
	of, err := table.Of(slices.Values([]string{profile.LeftOut}))
	require.NoError(t, err)
	assert.ElementsMatch(t, q.Evidence().Copies[1:], of.Copies)
}

func TestCorruptEvidence(t *testing.T) {
	e := randomEvidence(rand.New(rand.NewPCG(5, 60)), 2)
	whole := e.AppendSection(nil)
	file := func(section []byte) *afdo.Reader {
		w := afdo.NewWriter(true)
		w.Add(afdo.SectionSummary, true, make([]byte, 6))
		w.Add(afdo.SectionFileNames, true, []byte{0})
		w.Add(afdo.SectionEvidence, true, section)
		var out bytes.Buffer
		_, err := w.WriteTo(&out)
		require.NoError(t, err)
		r, err := afdo.OpenBytes(out.Bytes())
		require.NoError(t, err)
		return r
	}
	decode := func(section []byte) error {
		table, err := profile.ReadEvidence(file(section))
		if err == nil {
			err = table.Check()
		}
		return err
	}
	require.NoError(t, decode(whole))
	edited := func(at int, b byte) []byte {
		data := slices.Clone(whole)
		data[at] = b
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"magic":          {edited(0, 'b'), afdo.ErrNotFound, "evidence section"},
		"version":        {edited(4, 2), afdo.ErrNotFound, "evidence section"},
		"fraction":       {edited(5, 33), afdo.ErrLimit, "33 bits after the point"},
		"strings":        {edited(6, 0x7f), afdo.ErrCount, ""},
		"short":          {whole[:len(whole)-1], afdo.ErrCount, ""},
		"long":           {append(slices.Clone(whole), 0), afdo.ErrCount, ""},
		"only the magic": {whole[:4], afdo.ErrTruncated, "a one-byte field is missing"},
	} {
		err := decode(c.data)
		assert.ErrorIs(t, err, c.want, name)
		assert.ErrorContains(t, err, c.text, name)
	}
	sizes := func(list ...profile.CallSize) []byte {
		c := profile.CodeCopy{Frames: []profile.InlineFrame{{Parent: -1}}, Sizes: list}
		return (&profile.Evidence{Copies: []profile.CodeCopy{c}}).AppendSection(nil)
	}
	one, other := profile.CallSize{Bytes: 1, Count: 1}, profile.CallSize{Bytes: profile.OtherSizes, Count: 1}
	require.NoError(t, decode(sizes(one, other)))
	assert.ErrorContains(t, decode(sizes(other, one)), "size 1 of 2 is out of order")
	assert.ErrorContains(t, decode(sizes(one, one)), "size 1 of 2 is out of order")
	none := bytes.Replace(sizes(), []byte{8, 0, 0, 0, 1, 0, 0, 0, 0}, []byte{9, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 1)
	none = bytes.Replace(none, []byte{1, 9, 9}, []byte{1, 10, 10}, 1) // the chunk's copies and sizes
	assert.ErrorContains(t, decode(none), "no sizes")
	for at := range whole { // no panic, and an error that names the section
		for _, b := range []byte{0, 0xff, whole[at] + 1} {
			if err := decode(edited(at, b)); err != nil {
				assert.True(t, strings.Contains(err.Error(), "evidence"), "%v", err)
			}
		}
	}
}

func FuzzStoredEvidence(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(randomEvidence(rand.New(rand.NewPCG(seed, 60)), 1+4*int(seed)).AppendSection(nil))
	}
	f.Fuzz(func(t *testing.T, section []byte) {
		w := afdo.NewWriter(true)
		w.Add(afdo.SectionSummary, true, make([]byte, 6))
		w.Add(afdo.SectionFileNames, true, []byte{0})
		w.Add(afdo.SectionEvidence, true, section)
		var out bytes.Buffer
		if _, err := w.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		r, err := afdo.OpenBytes(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		table, err := profile.ReadEvidence(r)
		if err != nil {
			return
		}
		e, err := table.All()
		if err != nil {
			return
		}
		again := e.AppendSection(nil)
		w = afdo.NewWriter(true)
		w.Add(afdo.SectionSummary, true, make([]byte, 6))
		w.Add(afdo.SectionFileNames, true, []byte{0})
		w.Add(afdo.SectionEvidence, true, again)
		out.Reset()
		_, _ = w.WriteTo(&out)
		if r, err = afdo.OpenBytes(out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if table, err = profile.ReadEvidence(r); err != nil {
			t.Fatal(err)
		}
		if err := table.Check(); err != nil {
			t.Fatal(err)
		}
		e, _ = table.All()
		if !bytes.Equal(again, e.AppendSection(nil)) {
			t.Fatal("the evidence changes when it is written again")
		}
	})
}
