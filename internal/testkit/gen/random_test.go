package gen

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// equal fails with a readable difference if want and got differ, but is fast if they are equal.
func equal(t *testing.T, want, got any, format string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		require.Equalf(t, want, got, format, args...)
		require.FailNowf(t, "not deeply equal", format, args...)
	}
}

func each(files int, o Options, do func(seed uint64, g *generator, data []byte, truth *naive.File)) {
	for seed := range uint64(files) {
		g := &generator{r: rand.New(rand.NewPCG(seed, 4)), o: o.withDefaults(), seen: map[string]int{}}
		data, truth := g.file()
		do(seed, g, data, truth)
	}
}

func TestRandomDecodesToItsTruth(t *testing.T) {
	loose := All()
	loose.Dangling, loose.DeadEnds, loose.TrueSummary = true, true, true
	many := All()
	many.Units, many.Symbols, many.Records = 40, 40, 3
	for _, run := range []struct {
		name  string
		files int
		o     Options
	}{
		{"all", testenv.Rounds(300, 3000), All()},
		{"loose", testenv.Rounds(100, 500), loose},
		{"many symbols", 20, many},
		{"plain", testenv.Rounds(50, 300), Options{}},
		{"compact", testenv.Rounds(50, 300), Options{Compact: true}},
	} {
		t.Run(run.name, func(t *testing.T) {
			each(run.files, run.o, func(seed uint64, _ *generator, data []byte, truth *naive.File) {
				got, err := naive.Decode(data)
				require.NoErrorf(t, err, "seed %d", seed)
				equal(t, truth, got, "seed %d", seed)
			})
		})
	}
}

func TestRandomIsDeterministic(t *testing.T) {
	for seed := range uint64(20) {
		a, _ := Random(rand.New(rand.NewPCG(seed, 4)), All())
		b, _ := Random(rand.New(rand.NewPCG(seed, 4)), All())
		require.Equal(t, a, b)
	}
}

// TestEverySwitchWorks checks that every field of Options changes the generated files.
func TestEverySwitchWorks(t *testing.T) {
	switches := reflect.TypeFor[Options]()
	for i := range switches.NumField() {
		if switches.Field(i).Type.Kind() != reflect.Bool {
			continue
		}
		t.Run(switches.Field(i).Name, func(t *testing.T) {
			on := Options{Compact: true, Odd: switches.Field(i).Name == "DeadEnds"} // OverLong needs Compact, DeadEnds Odd
			off := on
			reflect.ValueOf(&on).Elem().Field(i).SetBool(true)
			reflect.ValueOf(&off).Elem().Field(i).SetBool(false)
			differ := func(seed uint64) bool {
				a, _ := Random(rand.New(rand.NewPCG(seed, 4)), on)
				b, _ := Random(rand.New(rand.NewPCG(seed, 4)), off)
				return !bytes.Equal(a, b)
			}
			seed := uint64(0)
			for seed < 400 && !differ(seed) {
				seed++
			}
			require.Less(t, seed, uint64(400))
		})
	}
}

// TestRandomMakesEveryShape checks that Random generates every shape, because tests that use it
// would otherwise test too little.
func TestRandomMakesEveryShape(t *testing.T) {
	seen := map[string]int{}
	see := func(shape string, is bool) {
		if _, ok := seen[shape]; !ok {
			seen[shape] = 0
		}
		if is {
			seen[shape]++
		}
	}
	for _, shape := range []string{
		"duplicate record", "empty edge label", "empty name", "empty range anywhere", "explicit discriminator 0", "gap",
		"more children than a node holds", "name longer than a label", "name with NUL", "over-long varints",
		"path with another's suffix", "single-child non-terminal", "children with one first byte", "table out of order",
	} {
		see(shape, false)
	}
	each(testenv.Rounds(1000, 3000), All(), func(_ uint64, g *generator, data []byte, truth *naive.File) {
		for shape, n := range g.seen {
			seen[shape] += n
		}
		see("reserved header bits", data[8]&0x7f != 0)
		seeSections(see, truth)
		seeUnits(see, truth)
		see("summary without entries", truth.Summary.Entries == nil)
		see("summary with entries", truth.Summary.Entries != nil)
		for _, u := range truth.Units {
			for _, s := range u.Symbols {
				seeSymbol(see, &s)
			}
		}
	})
	for shape, n := range seen {
		require.GreaterOrEqual(t, n, 5, shape)
	}
}

func seeSections(see func(string, bool), f *naive.File) {
	for i, s := range f.Sections {
		see("header compact, section not", f.Compact && !s.Compact)
		see("section compact, header not", !f.Compact && s.Compact)
		see("section type 0", s.Type == 0)
		see("section type 6", s.Type == 6)
		see("section type 127", s.Type == 127)
		see("section of one byte", s.Size == 1)
		see("trailing bytes", s.Trailing > 0)
		see("summary behind units", s.Type == naive.SummaryInfo && i > 3)
		see("file names first", s.Type == naive.FileNames && i == 0)
		see("file names behind units", s.Type == naive.FileNames && i > 3)
	}
}

func seeUnits(see func(string, bool), f *naive.File) {
	unknown, symbols := false, 0
	for i, u := range f.Units {
		unknown = unknown || u.Path == ""
		symbols += len(u.Symbols)
		see("unknown-file unit in front", u.Path == "" && i == 0 && len(f.Units) > 2)
		see("unknown-file unit with symbols", u.Path == "" && len(u.Symbols) > 0)
		see("path that is no UTF-8", strings.ToValidUTF8(u.Path, "") != u.Path)
		see("unit without symbols", u.Symbols == nil && u.Path != "")
		see("range with room but no symbols", u.Symbols == nil && u.End > u.Start)
		see("last ID in use", u.End == math.MaxUint32 && u.End > u.Start)
		see("ranges out of order", i > 0 && u.Start < f.Units[i-1].Start)
		see("unused strings", len(u.Strings) > len(u.Symbols))
		for j, s := range u.Symbols {
			see("ID 0", s.ID == 0)
			see("range from 1", u.Start == 1)
			see("gap in front of an ID", s.ID > u.Start && j == 0)
			see("IDs out of order", j > 0 && s.ID < u.Symbols[j-1].ID)
			see("string indices out of order", j > 0 && s.StringIndex < u.Symbols[j-1].StringIndex)
			see("name that is prefix of another", j > 0 && strings.HasPrefix(s.Name, u.Symbols[j-1].Name))
			see("name that is no UTF-8", strings.ToValidUTF8(s.Name, "") != s.Name)
		}
		for _, other := range f.Units {
			see("suffix at a slash", strings.HasSuffix(other.Path, "/"+u.Path) && u.Path != "")
			see("suffix elsewhere", len(other.Path) > len(u.Path) && strings.HasSuffix(other.Path, u.Path) &&
				!strings.HasSuffix(other.Path, "/"+u.Path) && u.Path != "")
		}
	}
	see("no unknown-file unit", !unknown)
	see("no units", f.Units == nil)
	see("no symbols", f.Units != nil && symbols == 0)
}

func seeSymbol(see func(string, bool), s *naive.Symbol) {
	see("symbol without info", !s.HasInfo)
	see("info without locations", s.HasInfo && s.Locations == nil)
	see("info of unknown records alone", s.Locations == nil && s.Skipped > 0)
	see("info that says nothing", s.HasInfo && s.Head == 0 && s.Timestamp == 0 && s.NumLocations == 0)
	depth := seeBody(see, s.Locations)
	see("50 deep", depth >= 50)
	see("unknown records in nested bodies", s.NumLocations == uint32(len(s.Locations)) && s.Skipped > 0)
}

func seeBody(see func(string, bool), ls []naive.Location) (depth int) {
	for i, l := range ls {
		see("ZERO", l.Type == naive.Zero)
		see("NORMAL", l.Type == naive.Normal)
		see("NORMAL of 0", l.Type == naive.Normal && l.Count == 0)
		see("NORMAL of 2^32-1", l.Type == naive.Normal && l.Count == math.MaxUint32)
		see("WIDE", l.Type == naive.Wide)
		see("WIDE of 0", l.Type == naive.Wide && l.Count == 0)
		see("WIDE of 2^32", l.Type == naive.Wide && l.Count == 1<<32)
		see("WIDE of 2^64-1", l.Type == naive.Wide && l.Count == math.MaxUint64)
		see("CALLED_FN", l.Type == naive.CalledFn)
		see("CALLED_FNS of 0", l.Type == naive.CalledFns && l.Targets == nil)
		see("CALLED_FNS of 1", l.Type == naive.CalledFns && len(l.Targets) == 1)
		see("CALLED_FNS of many", l.Type == naive.CalledFns && len(l.Targets) == 200)
		see("INLINED_FN without records", l.Type == naive.InlinedFn && l.NumLocations == 0)
		see("INLINED_FN with records", l.Type == naive.InlinedFn && l.Locations != nil)
		see("INLINED_FN with unknown records", l.Type == naive.InlinedFn && int(l.NumLocations) > len(l.Locations))
		see("line 2^24-1", l.Line == 1<<24-1)
		see("discriminator", l.Disc > 0)
		see("discriminator above 2^15", l.Disc > 1<<15)
		see("lines out of order", i > 0 && l.Line < ls[i-1].Line)
		depth = max(depth, 1+seeBody(see, l.Locations))
	}
	return depth
}

// TestPlainFilesArePlain checks that the zero Options generate none of the odd shapes.
func TestPlainFilesArePlain(t *testing.T) {
	each(300, Options{}, func(seed uint64, g *generator, data []byte, truth *naive.File) {
		require.Emptyf(t, g.seen, "seed %d", seed)
		require.Zero(t, data[8])
		next := uint32(0)
		end := truth.Sections[0].Offset
		for _, s := range truth.Sections {
			require.Equal(t, end, s.Offset)
			require.False(t, s.Compact)
			require.Zero(t, s.Trailing)
			end += s.Size
		}
		require.Len(t, data, int(end))
		require.Empty(t, truth.Units[len(truth.Units)-1].Path)
		for _, u := range truth.Units {
			require.Equal(t, next, u.Start)
			require.Len(t, u.Strings, len(u.Symbols))
			for _, s := range u.Symbols {
				require.Equal(t, next, s.ID)
				next++
				require.Zero(t, s.Skipped)
				requirePlainBody(t, s.Locations)
			}
			require.Equal(t, next, u.End)
		}
	})
}

func requirePlainBody(t *testing.T, ls []naive.Location) {
	kind := func(l naive.Location) int {
		x := record{loc: l}
		return x.kind()
	}
	for i, l := range ls {
		if kind(l) == 0 {
			require.Equal(t, Count(l.Line, l.Disc, l.Count), l)
		}
		if l.Type == naive.CalledFns {
			require.Greater(t, len(l.Targets), 1)
		}
		require.Less(t, l.Line, uint32(1<<16))
		if i > 0 {
			p := ls[i-1]
			a := [4]uint32{p.Line, p.Disc, uint32(kind(p)), p.Callee}
			b := [4]uint32{l.Line, l.Disc, uint32(kind(l)), l.Callee}
			require.Negative(t, bytes.Compare(bigEndian(a), bigEndian(b)))
		}
		requirePlainBody(t, l.Locations)
	}
}

func bigEndian(words [4]uint32) []byte {
	e := &Enc{}
	for _, w := range words {
		e.U32(w)
	}
	return e.Buf
}

// TestEncodeKeepsTheMeaning checks that a file decodes to the same profile after it was encoded
// again in the plain layout.
func TestEncodeKeepsTheMeaning(t *testing.T) {
	each(200, All(), func(seed uint64, _ *generator, _ []byte, truth *naive.File) {
		want, err := truth.Canonical()
		require.NoError(t, err)
		for _, compact := range []bool{false, true} {
			f, err := naive.Decode(Encode(truth, compact))
			require.NoErrorf(t, err, "seed %d", seed)
			got, err := f.Canonical()
			require.NoError(t, err)
			equal(t, want, got, "seed %d", seed)
			require.Equal(t, truth.Summary, f.Summary)
			require.Equal(t, truth.Summarize(), f.Summarize())
		}
	})
}
