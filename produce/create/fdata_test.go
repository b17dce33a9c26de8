package create

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// walked returns the ranges and branches of random walks through functions of a program. Each walk
// begins at the start of a function and takes jumps at random.
func walked(t *testing.T, f *symbolize.File, functions ...string) *samples.Set {
	t.Helper()
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	offset := func(addr uint64) uint64 {
		at, ok := layout.Offset(addr)
		require.True(t, ok)
		return at
	}
	set := new(samples.Set)
	code := newDecoder(f.ELF())
	random := rand.New(rand.NewPCG(1, 2))
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if !slices.Contains(functions, s.Names[0]) {
			continue
		}
		for n := range uint64(40) {
			set.Entries.Add(offset(s.Low), n)
			begin := s.Low
			for at := begin; at < s.High; {
				in := code.next(code.at(at))
				next := at + in.Size
				to := next + uint64(in.By)
				switch {
				case in.Jumps && in.By != 0 && to >= s.Low && to < s.High && (in.Leaves || random.IntN(3) == 0):
					set.Ranges.Add(samples.Range{Begin: offset(begin), End: offset(at)}, n+1)
					set.Branches.Add(samples.Branch{From: offset(at), To: offset(to)}, n+1)
					begin, next = to, to
				case in.Leaves || in.Size == 0 || random.IntN(200) == 0:
					set.Ranges.Add(samples.Range{Begin: offset(begin), End: offset(at)}, n+1)
					next = s.High
				}
				at = next
			}
		}
	}
	return set
}

// WriteFdata writes the same branches and fall-throughs as perf2bolt does for a recording by
// addresses, and llvm-bolt accepts the file.
func TestBOLT(t *testing.T) {
	perf2bolt, bolt := testenv.Tool(t, "perf2bolt-22"), testenv.Tool(t, "llvm-bolt-22")
	for _, pie := range []string{"-pie", "-no-pie"}[:testenv.Rounds(1, 2)] {
		p := compile(t, testenv.Tool(t, "gcc"), "prog.c", pieced, "-O1", "-g", "-Wl,-q", pie)
		f, b := p.open(t)
		sets := map[string]*samples.Set{"branches": walked(t, f, "work", "both", "main")}
		if testenv.Sweep() {
			exact, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
			require.NoError(t, err)
			sets["addresses"] = exact
		}
		for name, set := range sets {
			var addresses, symbols bytes.Buffer
			require.NoError(t, set.WritePreAggregated(&addresses, b))
			require.NoError(t, WriteFdata(&symbols, f, set))
			require.NoError(t, os.WriteFile(filepath.Join(p.dir, "in"), addresses.Bytes(), 0o600))
			args := []string{"--pa", "-p", "in", "prog", "-o", "out.fdata"}
			if name == "addresses" {
				args = append(args, "--basic-events")
			}
			said := run(t, p.dir, perf2bolt, args...)
			assert.NotContains(t, said, "BOLT-WARNING")
			want, err := os.ReadFile(filepath.Join(p.dir, "out.fdata"))
			require.NoError(t, err)
			assert.Equal(t, lines(string(want)), lines(symbols.String()), "%s %s", name, pie)
			assert.Greater(t, symbols.Len(), 200)

			require.NoError(t, os.WriteFile(filepath.Join(p.dir, "own.fdata"), symbols.Bytes(), 0o600))
			said = run(t, p.dir, bolt, "prog", "-data", "own.fdata", "-o", "prog.bolt")
			assert.Regexp(t, `BOLT-INFO: [1-9]\d* out of \d+ functions in the binary \(.*\) have non-empty execution profile`, said)
			assert.NotRegexp(t, `have invalid \(possibly stale\) profile`, said)

			// It is read as it was written.
			back, _, err := samples.Read(bytes.NewReader(addresses.Bytes()), b, samples.Options{})
			require.NoError(t, err)
			var again bytes.Buffer
			require.NoError(t, back.WritePreAggregated(&again, b))
			assert.Equal(t, addresses.String(), again.String())
		}
	}
}

// If no sample is in a function of the symbol table, nothing is written that looks like a profile.
func TestFdataOfNothing(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", pieced, "-O1", "-g")
	f, _ := p.open(t)
	set := new(samples.Set)
	set.Addresses.Add(0, 7)
	require.ErrorIs(t, WriteFdata(io.Discard, f, set), ErrNoCode)
	set.Ranges.Add(samples.Range{Begin: 0, End: 4}, 7)
	require.ErrorIs(t, WriteFdata(io.Discard, f, set), ErrNoCode)
}

// Names are escaped as perf2bolt escapes them. Those that BOLT could not read back are refused.
func TestNamesInFdata(t *testing.T) {
	objcopy := testenv.Tool(t, "objcopy")
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", pieced, "-O1", "-g")
	for name, written := range map[string]string{`a b\c`: `1 a\ b\\c 0`, "main\n1 x 2 1 y 3 0 999": "", "": ""} {
		run(t, p.dir, objcopy, "--redefine-sym", "work="+name, "prog", "renamed")
		f, err := symbolize.Open(filepath.Join(p.dir, "renamed"))
		require.NoError(t, err)
		defer f.Close()
		var text bytes.Buffer
		err = WriteFdata(&text, f, walked(t, f, name))
		require.Equal(t, written == "", errors.Is(err, afdo.ErrUnrepresentable), "%q: %v", name, err)
		require.Contains(t, text.String(), written)
	}
}

// lines returns the sorted lines of a text, without those about functions of the C library that
// have no size in the symbol table. BOLT guesses their size.
func lines(text string) []string {
	return slices.DeleteFunc(slices.Sorted(strings.Lines(text)), func(line string) bool { return strings.Contains(line, "_") && line[0] == '1' })
}

// A profile can be made for a program that llvm-bolt rewrote only if its debug info was updated.
func TestAfterBOLT(t *testing.T) {
	bolt, objcopy := testenv.Tool(t, "llvm-bolt-22"), testenv.Tool(t, "objcopy")
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", pieced, "-O1", "-g", "-Wl,-q")
	run(t, p.dir, bolt, "prog", "-o", "updated", "--update-debug-sections")
	run(t, p.dir, objcopy, "--only-keep-debug", "prog", "prog.debug")
	run(t, p.dir, objcopy, "--strip-debug", "--add-gnu-debuglink=prog.debug", "prog")
	run(t, p.dir, bolt, "prog", "-o", "linked")
	for name, wrong := range map[string]bool{"prog": false, "updated": false, "linked": true} {
		f, err := symbolize.Open(filepath.Join(p.dir, name))
		require.NoError(t, err)
		defer f.Close()
		_, _, err = Profile(t.Context(), f, walked(t, f, "work", "both", "main"), Options{})
		if !wrong {
			assert.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, symbolize.ErrUnsupported, name)
		assert.ErrorContains(t, err, "record the program that llvm-bolt read, or run llvm-bolt with --update-debug-sections")
	}
}
