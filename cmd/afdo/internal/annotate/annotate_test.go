package annotate_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// file returns a file in which f of a.c inlines g of a.c twice, once within h of b.c.
func file() *naive.File {
	return &naive.File{Units: []naive.Unit{
		{Path: "/src/a.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "f", HasInfo: true, Head: 5, Locations: []naive.Location{
				gen.Count(1, 0, 10), gen.Count(1, 2, 3),
				{Type: naive.CalledFns, Line: 2, Targets: []naive.Target{{Callee: 2, Count: 4}, {Callee: 0, Count: 9}}},
				gen.Inlined(3, 0, 1, gen.Count(0, 0, 7)),
				gen.Inlined(4, 0, 2, gen.Count(0, 0, 100), gen.Inlined(1, 0, 1, gen.Count(0, 0, 20), gen.Count(65535, 0, 1))),
			}},
			{ID: 1, Name: "g"},
		}},
		{Path: "/src/b.c", Start: 2, End: 3, Symbols: []naive.Symbol{{ID: 2, Name: "h"}}},
		{Start: 3, End: 3},
	}}
}

func open(t *testing.T, data []byte) *afdo.Reader {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	return r
}

func listing(t *testing.T, r *afdo.Reader, path string) *annotate.Listing {
	t.Helper()
	u, err := r.UnitBySuffix(path)
	require.NoError(t, err)
	l, err := annotate.Read(u, nil)
	require.NoError(t, err)
	return l
}

func TestRead(t *testing.T) {
	l := listing(t, open(t, gen.Encode(file(), true)), "a.c")
	require.Len(t, l.Functions, 2)
	g, f := l.Functions[0], l.Functions[1]
	assert.Equal(t, "g", g.Symbol.Name())
	assert.Equal(t, uint64(28), g.Samples)
	assert.Equal(t, []annotate.Line{{Offset: -1, Samples: 1, Calls: []annotate.Callee{}, Inlined: []annotate.Callee{}}, {
		Offset: 0, Samples: 27, Calls: []annotate.Callee{}, Inlined: []annotate.Callee{},
	}}, g.Lines)

	assert.Equal(t, "f", f.Symbol.Name())
	assert.Equal(t, uint64(5), f.HeadCount)
	assert.Equal(t, uint64(13), f.Samples, "without what is inlined")
	none := []annotate.Callee{}
	assert.Equal(t, []annotate.Line{
		{Offset: 1, Samples: 13, Calls: none, Inlined: none},
		{Offset: 2, Calls: []annotate.Callee{{Symbol: 0, Count: 9}, {Symbol: 2, Count: 4}}, Inlined: none},
		{Offset: 3, Calls: none, Inlined: []annotate.Callee{{Symbol: 1, Count: 7}}},
		{Offset: 4, Calls: none, Inlined: []annotate.Callee{{Symbol: 2, Count: 121}}},
	}, f.Lines)
}

// TestRecursion checks that a function inlined in itself at one line counts once there.
func TestRecursion(t *testing.T) {
	f := file()
	f.Units[0].Symbols[0].Locations = []naive.Location{
		gen.Inlined(3, 0, 0, gen.Count(1, 0, 2), gen.Inlined(3, 0, 0, gen.Count(1, 0, 5))),
	}
	l := listing(t, open(t, gen.Encode(f, false)), "a.c")
	require.Len(t, l.Functions, 1)
	require.Len(t, l.Functions[0].Lines, 2)
	assert.Equal(t, uint64(7), l.Functions[0].Lines[0].Samples)
	assert.Equal(t, []annotate.Callee{{Symbol: 0, Count: 7}}, l.Functions[0].Lines[1].Inlined)
}

// TestAgreesWithNaive compares the samples of lines with what a plain recursion finds.
func TestAgreesWithNaive(t *testing.T) {
	for seed := range uint64(60) {
		data, truth := gen.Random(rand.New(rand.NewPCG(seed, 1)), gen.Options{})
		r := open(t, data)
		for i, unit := range truth.Units {
			want := make(map[string]uint64)
			for _, s := range unit.Symbols {
				addLines(want, truth.Units[i], s.ID, s.Locations)
			}
			var u *afdo.Unit
			for found, err := range r.Units() {
				require.NoError(t, err)
				if found.Index() == i {
					u = found
				}
			}
			l, err := annotate.Read(u, nil)
			require.NoError(t, err)
			got := make(map[string]uint64)
			for _, f := range l.Functions {
				for _, line := range f.Lines {
					got[fmt.Sprint(f.Symbol.ID(), line.Offset)] = line.Samples
				}
			}
			maps.DeleteFunc(got, func(_ string, n uint64) bool { return n == 0 })
			maps.DeleteFunc(want, func(_ string, n uint64) bool { return n == 0 })
			require.Equal(t, want, got, "seed %d, unit %q", seed, unit.Path)
		}
	}
}

func addLines(lines map[string]uint64, unit naive.Unit, function uint32, records []naive.Location) {
	for _, l := range records {
		if function >= unit.Start && function < unit.End {
			offset := int(l.Line)
			if offset >= 1<<15 && offset < 1<<16 {
				offset -= 1 << 16
			}
			key := fmt.Sprint(function, offset)
			if sum := lines[key] + l.Count; sum < l.Count {
				lines[key] = 1<<64 - 1
			} else {
				lines[key] = sum
			}
		}
		addLines(lines, unit, l.Callee, l.Locations)
	}
}

// TestProgram annotates a program that a compiler has made.
func TestProgram(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	source := strings.Join([]string{
		"#include <stdlib.h>\nvolatile int seen;",
		"static inline int half(int n)",
		"{",
		"  seen = n; return n / 2;",
		"}",
		"int work(int n)",
		"{",
		"  int s = 0;",
		"  while (n > 0) { s += n; n = half(n); }",
		"  return s;",
		"}",
		"int main(int argc, char **argv) { return work(atoi(argv[argc - 1])) & 1; }",
		"",
	}, "\n")
	path, binary := filepath.Join(dir, "tree", "prog.c"), filepath.Join(dir, "prog")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(source), 0o666))
	out, err := exec.Command(gcc, "-O2", "-g", "-o", binary, path).CombinedOutput()
	require.NoError(t, err, "%s", out)

	text := `filenames = { "/build/old/tree/prog.c" }
summary = { total_count = 0, max_count = 0, max_fn_count = 0, num_counts = 0, num_functions = 0,
  num_detailed_entries = 0, detailed_entries = { } }
"work":0(1:3:0) = { locations = { 2 = 3, 3 = 60 }, inlined = { 3 = "half":0(2) = { locations = { 2 = 57 } } } }
"gone":0(3:1:0) = { locations = { 1 = 9 } }
`
	p, err := textfmt.Parse(strings.NewReader(text))
	require.NoError(t, err)
	l := listing(t, encode(t, p), "prog.c")
	require.NoError(t, l.Declare(t.Context(), binary))
	declared := make(map[string]uint32)
	for _, f := range l.Functions {
		declared[f.Symbol.Name()] = f.Declared
	}
	assert.Equal(t, map[string]uint32{"work": 7, "half": 3, "gone": 0}, declared)

	found, err := annotate.FindSource(dir, l.Unit.Path())
	require.NoError(t, err)
	assert.Equal(t, path, found)
	rows, beyond, err := l.Rows(found)
	require.NoError(t, err)
	assert.Zero(t, beyond)
	var printed bytes.Buffer
	printer := annotate.Printer{Out: &printed, Name: func(id afdo.SymbolID) (string, error) {
		s, err := l.Unit.SymbolByID(id)
		return s.Name(), err
	}}
	require.NoError(t, printer.Source(l, "prog.c", rows))
	assert.Equal(t, `prog.c
        Samples   Line  
                   ...  
                     3  static inline int half(int n)
                          | half: entered 0 times
                   ...  
             57      5    seen = n; return n / 2;
                   ...  
                     7  int work(int n)
                          | work: entered 3 times
                   ...  
              3      9    int s = 0;
             60     10    while (n > 0) { s += n; n = half(n); }
                          | inlined half, 57 samples
                   ...  
`, printed.String())

	// Another source of the name is noticed.
	require.NoError(t, os.WriteFile(path, []byte("\n\n\n\n\n\n\nint work;\n"), 0o666))
	_, beyond, err = l.Rows(found)
	require.NoError(t, err)
	assert.Equal(t, 2, beyond)

	// None of the functions is in the binary.
	other := listing(t, open(t, gen.Encode(file(), false)), "a.c")
	require.ErrorIs(t, other.Declare(t.Context(), binary), annotate.ErrNoDeclaration)
}

func TestFindSource(t *testing.T) {
	dir := t.TempDir()
	_, err := annotate.FindSource(dir, "x/a.c")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = annotate.FindSource(dir, "")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = annotate.FindSource("", filepath.Join(dir, "a.c"))
	require.ErrorIs(t, err, os.ErrNotExist)

	// A profile does not choose which files are read: no path leads out of the folder, and without
	// one only what is named like a source is looked at.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "passwords"), []byte("secret\n"), 0o666))
	sources := filepath.Join(dir, "src")
	require.NoError(t, os.Mkdir(sources, 0o777))
	for _, unit := range []string{"../passwords", "a/../../passwords", "/../passwords", filepath.Join(dir, "passwords")} {
		_, err = annotate.FindSource(sources, unit)
		assert.ErrorIs(t, err, os.ErrNotExist, unit)
	}
	_, err = annotate.FindSource("", filepath.Join(dir, "passwords"))
	assert.ErrorContains(t, err, "not named like a source file")
	require.NoError(t, os.WriteFile(filepath.Join(sources, "passwords"), nil, 0o666))
	found, err := annotate.FindSource(sources, "../passwords")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(sources, "passwords"), found)
}

func encode(t *testing.T, p *profile.Profile) *afdo.Reader {
	t.Helper()
	var data bytes.Buffer
	require.NoError(t, builder.Write(&data, p, builder.Options{}))
	return open(t, data.Bytes())
}
