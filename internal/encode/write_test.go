package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func TestWriteSaysWhatTheProfileSays(t *testing.T) {
	seeds := uint64(testenv.Rounds(10, 600))
	bothModes(t, func(t *testing.T, o Options) {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 1))
			truth := draw(t, r)
			p := model(r, truth)
			data := write(t, p, o)
			f := decode(t, data, o)
			got, err := f.Canonical()
			require.NoError(t, err)
			require.Equal(t, truth, got, "seed %d", seed)
			require.Equal(t, truth.Summarize(), f.Summary, "seed %d", seed)

			back, err := profile.Read(open(t, data))
			require.NoError(t, err)
			require.NoError(t, profile.Compare(p, back), "seed %d", seed)
		}
	})
}

func TestWriteDoesNotDependOnOrder(t *testing.T) {
	bothModes(t, func(t *testing.T, o Options) {
		for seed := range uint64(testenv.Rounds(10, 300)) {
			r := rand.New(rand.NewPCG(seed, 2))
			truth := draw(t, r)
			want := write(t, model(r, truth), o)
			for range 3 {
				require.True(t, bytes.Equal(want, write(t, model(r, truth), o)), "seed %d", seed)
			}
		}
	})
}

// The files of one profile in normal and in compact mode differ only in the encoding of integers.
func TestWriteTwins(t *testing.T) {
	for seed := range uint64(testenv.Rounds(10, 100)) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := model(r, draw(t, r))
		var files [2]*naive.File
		for i, o := range []Options{{}, {Compact: true}} {
			files[i] = decode(t, write(t, p, o), o)
			files[i].Compact = false
			for j, s := range files[i].Sections {
				files[i].Sections[j] = naive.Section{Type: s.Type}
			}
		}
		require.Equal(t, files[0], files[1], "seed %d", seed)
	}
}

func TestWriteNothing(t *testing.T) {
	bothModes(t, func(t *testing.T, o Options) {
		f := decode(t, write(t, profile.New(), o), o)
		require.Len(t, f.Units, 1, "the unknown-file unit is always there")
		assert.Empty(t, f.Units[0].Path)
		assert.Empty(t, f.Units[0].Symbols)
		assert.Len(t, f.Sections, 4)
	})
}

func TestWriteKeepsUnitsWithoutSymbols(t *testing.T) {
	p := profile.New()
	for _, path := range []string{"z", "a", "m"} {
		p.AddUnit(path)
	}
	p.AddSymbol(p.AddUnit("m"), "f")
	f := decode(t, write(t, p, Options{}), Options{})
	var paths []string
	for _, u := range f.Units {
		paths = append(paths, u.Path)
	}
	assert.Equal(t, []string{"", "a", "m", "z"}, paths)
}

func TestWriteKeepsTheSummary(t *testing.T) {
	bothModes(t, func(t *testing.T, o Options) {
		want := naive.Summary{
			TotalCount: math.MaxUint64, MaxCount: 1 << 40, MaxFnCount: 3, NumCounts: 4, NumFunctions: 5,
			Entries: []naive.Entry{{Cutoff: 7, MinCount: 8, NumCounts: 9}, {Cutoff: math.MaxUint32, MinCount: math.MaxUint64, NumCounts: 0}},
		}
		p := profile.New()
		p.AddFunction(p.AddSymbol(profile.UnknownUnit, "f"), profile.Function{HeadCount: 1})
		p.Summary = modelSummary(want)
		assert.Equal(t, want, decode(t, write(t, p, o), o).Summary)
	})
}

// one returns a profile with one function in unit a.cc. fill adds its records.
func one(fill func(p *profile.Profile, b *profile.Body)) *profile.Profile {
	p := profile.New()
	s := p.AddSymbol(p.AddUnit("a.cc"), "outer")
	var b profile.Body
	fill(p, &b)
	p.AddFunction(s, profile.Function{HeadCount: 1, Records: b.Records()})
	return p
}

func TestWriteRefuses(t *testing.T) {
	path := func(path string) *profile.Profile {
		p := profile.New()
		p.AddUnit(path)
		return p
	}
	record := func(add func(b *profile.Body)) *profile.Profile {
		return one(func(p *profile.Profile, b *profile.Body) { add(b) })
	}
	nested := func(add func(b *profile.Body)) *profile.Profile {
		return one(func(p *profile.Profile, b *profile.Body) {
			inner := p.AddSymbol(profile.UnknownUnit, "inner")
			b.Enter(1, 0, inner)
			b.Enter(2, 0, inner)
			add(b)
			b.Leave()
			b.Count(5, 0, 1)
			b.Leave()
		})
	}
	const where = `unit "a.cc", symbol "outer": `
	for _, test := range []struct {
		name string
		p    *profile.Profile
		want string
	}{
		{"NUL in a path", path("a\x00b"), `unit "a\x00b": `},
		{"line", record(func(b *profile.Body) { b.Count(1<<24, 0, 1) }), where + "the format cannot hold it: line offset 16777216 "},
		{"line of a call", record(func(b *profile.Body) { b.Call(math.MaxUint32, 0, 0, 1) }), where + "the format cannot hold it: line offset 4294967295 "},
		{"line of an inlined function", record(func(b *profile.Body) { b.Enter(1<<24, 0, 0); b.Leave() }), where + "the format cannot hold it: line offset 16777216 "},
		{"line in a body", nested(func(b *profile.Body) { b.Count(1<<24, 0, 0) }), where + "the format cannot hold it: line offset 16777216 "},
		{"discriminator", record(func(b *profile.Body) { b.Count(3, 1<<16, 1) }), where + "the format cannot hold it: line offset 3: discriminator 65536 "},
		{"discriminator in a body", nested(func(b *profile.Body) { b.Call(3, 1<<20, 0, 1) }), where + "the format cannot hold it: line offset 3: discriminator 1048576 "},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, o Options) {
				var b bytes.Buffer
				err := Write(&b, test.p, o)
				require.ErrorIs(t, err, afdo.ErrUnrepresentable)
				assert.ErrorContains(t, err, test.want)
				assert.Zero(t, b.Len(), "nothing is written")
			})
		})
	}
}

func TestWriteTakesTheLargest(t *testing.T) {
	p := one(func(p *profile.Profile, b *profile.Body) {
		s := p.AddSymbol(profile.UnknownUnit, "f")
		b.Count(1<<24-1, 1<<16-1, math.MaxUint64)
		b.Call(1<<24-1, 1<<16-1, s, math.MaxUint64)
		b.Enter(1<<24-1, 1<<16-1, s)
		b.Leave()
	})
	bothModes(t, func(t *testing.T, o Options) {
		f := decode(t, write(t, p, o), o)
		ls := f.Units[1].Symbols[0].Locations
		require.Len(t, ls, 3)
		for _, l := range ls {
			assert.EqualValues(t, 1<<24-1, l.Line)
			assert.EqualValues(t, 1<<16-1, l.Disc)
		}
		assert.EqualValues(t, uint64(math.MaxUint64), ls[0].Count)
		assert.EqualValues(t, uint64(math.MaxUint64), ls[1].Targets[0].Count)
	})
}

// The limits on the numbers of symbols and sections are checked without a profile, because a test
// cannot create one of that size.
func TestTotals(t *testing.T) {
	const most = math.MaxUint32
	assert.NoError(t, checkTotals(1, most, 0))
	assert.ErrorIs(t, checkTotals(1, most+1, 0), afdo.ErrUnrepresentable)
	assert.NoError(t, checkTotals(1, most, most-4), "the last section has the index 0xFFFFFFFE")
	assert.ErrorIs(t, checkTotals(1, most, most-3), afdo.ErrUnrepresentable)
	assert.ErrorIs(t, checkTotals(most/2, 0, 0), afdo.ErrUnrepresentable)

	assert.NoError(t, checkPathLen(most-1))
	assert.ErrorIs(t, checkPathLen(most), afdo.ErrUnrepresentable, "the NUL counts")
	assert.NoError(t, checkNumber("locations", most))
	assert.ErrorIs(t, checkNumber("locations", most+1), afdo.ErrUnrepresentable)
}

// Write returns an error, and does not panic, for records that no Body would make.
func TestWriteRecordsThatAreNotCanonical(t *testing.T) {
	for name, records := range map[string][]profile.Record{
		"a body beyond the function":    {{Kind: profile.KindInlined, Count: 1}},
		"a body beyond all bounds":      {{Kind: profile.KindInlined, Count: math.MaxUint64}, {}},
		"a body beyond the one outside": {{Kind: profile.KindInlined, Count: 1}, {Kind: profile.KindInlined, Count: 1}, {Line: 2}},
		"a kind that is none":           {{Kind: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			p := profile.New()
			p.AddFunction(p.AddSymbol(profile.UnknownUnit, "f"), profile.Function{Records: records})
			var b bytes.Buffer
			err := Write(&b, p, Options{})
			require.ErrorIs(t, err, errNotCanonical)
			assert.ErrorContains(t, err, `unit "", symbol "f": `)
			assert.NotErrorIs(t, err, afdo.ErrUnrepresentable)
			assert.Zero(t, b.Len())
		})
	}
}

type failingWriter struct{ after int }

var errFull = errors.New("no space left")

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.after {
		return w.after, errFull
	}
	w.after -= len(b)
	return len(b), nil
}

func TestWriteReturnsErrorsOfTheWriter(t *testing.T) {
	p := one(func(p *profile.Profile, b *profile.Body) { b.Count(1, 0, 1) })
	size := len(write(t, p, Options{}))
	for after := range size {
		err := Write(&failingWriter{after}, p, Options{})
		require.ErrorIs(t, err, errFull)
		require.NotErrorIs(t, err, afdo.ErrUnrepresentable)
	}
	require.NoError(t, Write(&failingWriter{size}, p, Options{}))
}

// In a compact file, the length of the header depends on the offsets in it, and these depend on the
// length of the header (format note 3). Files whose headers are about as long as the bounds at
// which varints grow are read back correctly.
func TestHeaderLengths(t *testing.T) {
	o := Options{Compact: true}
	for _, test := range []struct{ from, to, bound int }{
		{1, 60, 1 << 7},
		{4078, 4094, 1 << 14},
	} {
		lengths := map[bool]int{}
		for n := test.from; n < test.to; n += testenv.Rounds(7, 1) {
			p := profile.New()
			for i := range n {
				s := p.AddSymbol(p.AddUnit("u"), fmt.Sprint(i))
				p.AddFunction(s, profile.Function{HeadCount: uint64(i + 1)})
			}
			f := decode(t, write(t, p, o), o)
			length := int(f.Sections[0].Offset)
			lengths[length < test.bound]++
			for _, s := range f.Units[1].Symbols {
				require.Equal(t, s.Name, fmt.Sprint(s.Head-1), "%d functions", n)
			}
		}
		assert.Len(t, lengths, 2, "headers both below %d bytes and not", test.bound)
	}
}

// What Write allocates follows the file and the symbols, not the functions or records.
func TestWriteAllocations(t *testing.T) {
	p := profile.New()
	var b profile.Body
	for i := range testenv.Rounds(1000, 4000) {
		s := p.AddSymbol(p.AddUnit(fmt.Sprint(i%40)), strings.Repeat("n", i%50)+fmt.Sprint(i))
		b.Reset()
		for line := range uint32(40) {
			b.Count(line, 0, 1<<20)
			b.Call(line, 1, s, 1)
			b.Enter(line, 2, s)
			b.Count(line, 0, 1)
			b.Leave()
		}
		p.AddFunction(s, profile.Function{HeadCount: 1, Records: b.Records()})
	}
	p.Summary = p.Summarize()
	bothModes(t, func(t *testing.T, o Options) {
		var out bytes.Buffer
		out.Write(write(t, p, o))
		size := out.Len()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out.Reset()
		require.NoError(t, Write(&out, p, o))
		runtime.ReadMemStats(&after)
		assert.Less(t, after.Mallocs-before.Mallocs, uint64(300+150*runtime.GOMAXPROCS(0)), "none by symbol")
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*size+100*p.NumSymbols()))
	})
}
