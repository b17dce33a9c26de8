package slice_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// sumsSource is a source whose functions are inlined in functions of other files. Locations are
// counted from the line of the function's name.
const sumsSource = `int sink;
typedef int (*target)(int);
int hot(int x) { for (int i = 0; i < x; i++) sink += i * x; return sink; }
int other(int x) { for (int i = 0; i < x; i++) sink ^= i + x; return sink; }
int calls(target g, int x) {
  return g(x) + 1;
}
int headed(int x) {
  if (x > 3)
    sink += x;
  return x;
}
static int inner(int x) {
  for (int i = 0; i < x; i++)
    if (sink & i) sink += i * 3; else sink ^= x + i;
  return sink * x;
}
int outer(int x) {
  return inner(x) + 2;
}
int again(int x) { return inner(x + 1) - outer(x); }
`

// A sums builds a profile in which functions of sumsSource are inlined in functions of other files.
type sums struct {
	p    *profile.Profile
	body profile.Body
}

func (s *sums) symbol(path, name string) profile.SymbolRef {
	return s.p.AddSymbol(s.p.AddUnit(path), name)
}

// inline adds a function of another file, the caller, in which a function of sumsSource is inlined.
func (s *sums) inline(path, caller string, timestamp uint64, callee string, inside func(b *profile.Body)) {
	s.body.Reset()
	s.body.Enter(1, 0, s.symbol("/src/sums.c", callee))
	inside(&s.body)
	s.body.Leave()
	s.p.AddFunction(s.symbol(path, caller), profile.Function{Timestamp: timestamp, Records: s.body.Records()})
}

// TestCodeSums has profiles in which a function is inlined in several callers, and GCC 16 renames
// or removes something when it visits one of them. The code must be the same with a slice as with
// the whole profile.
func TestCodeSums(t *testing.T) {
	testenv.NeedSweep(t)
	testenv.Optional(t, "gcc-16")
	p := &program{dir: t.TempDir(), compiler: needCompiler(t, "gcc-16")}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "sums.c"), []byte(sumsSource), 0o666))
	none := p.assembly(t, "sums.c", "-O2", nil)
	for name, add := range map[string]func(s *sums){
		"clones among targets": func(s *sums) {
			for _, caller := range []string{"a", "b"} {
				s.inline("/other.c", caller, 0, "calls", func(b *profile.Body) {
					b.Count(1, 0, 110_000)
					b.Call(1, 0, s.symbol("/src/sums.c", "hot.part.0"), 60_000)
					b.Call(1, 0, s.symbol("/src/sums.c", "other"), 50_000)
				})
			}
		},
		"a head count without samples": func(s *sums) {
			s.p.AddFunction(s.symbol("/src/sums.c", "headed"), profile.Function{HeadCount: 3})
			for _, caller := range []string{"a", "b", "c"} {
				s.inline("/other.c", caller, 0, "headed", func(b *profile.Body) {
					b.Enter(7, 0, s.symbol("/src/sums.c", "inner"))
					b.Count(1, 0, 5)
					b.Leave()
				})
			}
		},
		"the earliest body is not the first": func(s *sums) {
			leaf := func(b *profile.Body) {
				b.Count(1, 0, 1)
				b.Enter(1, 0, s.symbol("/src/sums.c", "inner"))
				b.Count(1, 0, 10)
				b.Leave()
			}
			s.inline("/other.c", "a", 9, "outer", leaf)
			s.inline("/other.c", "b", 8, "outer", func(b *profile.Body) {
				b.Count(1, 0, 1)
				b.Enter(1, 0, s.symbol("/src/sums.c", "inner"))
				b.Count(1, 0, 1)
				b.Enter(2, 0, s.symbol("/other.c", "gone"))
				b.Count(1, 0, 500_000)
				b.Leave()
				b.Leave()
			})
			s.inline("/other.c", "c", 1, "outer", leaf)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sums{p: profile.New()}
			add(s)
			s.p.Summary = &afdo.Summary{MaxCount: 500_000, Entries: []afdo.SummaryEntry{{Cutoff: 990_000, MinCount: 1_000}}}
			with := p.assembly(t, "sums.c", "-O2", s.p)
			assert.False(t, with == none, "the profile changes nothing")
			part := p.slice(t, slice.FromProfile(s.p), "sums.c")
			assert.True(t, with == p.assembly(t, "sums.c", "-O2", part), "other code with the slice")
		})
	}
}
