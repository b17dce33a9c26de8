package create

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A walker simulates a processor that runs a program's code. It chooses the targets of conditional
// and indirect branches at random, and writes samples as perf script would print them.
type walker struct {
	t         *testing.T
	f         *symbolize.File
	code      *decoder
	random    *rand.Rand
	functions []symbolize.Symbol
	bias      uint64 // from the linker's addresses to those of the process

	at       uint64
	returns  []uint64
	branches []codeBranch // the newest last
	out      bytes.Buffer
}

// outside is an address of the C library.
const outside = 0x7ffff7a00000

func newWalker(t *testing.T, f *symbolize.File, path string) *walker {
	t.Helper()
	w := &walker{t: t, f: f, code: newDecoder(f.ELF()), random: rand.New(rand.NewPCG(3, 4))}
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.High > s.Low && !strings.Contains(s.Names[0], ".") && !strings.HasPrefix(s.Names[0], "_start") {
			w.functions = append(w.functions, s)
		}
	}
	if f.ELF().Type == 3 { // ET_DYN
		w.bias = 0x555555554000
	}
	for _, p := range f.ELF().Progs {
		if p.Type == 1 && p.Flags&1 != 0 {
			skip := p.Vaddr & 0xfff
			fmt.Fprintf(&w.out, "PERF_RECORD_MMAP2 42/42: [0x%x(0x%x) @ 0x%x 08:01 7 0]: r-xp %s\n", p.Vaddr-skip+w.bias, p.Memsz+skip, p.Off-skip, path)
		}
	}
	return w
}

// walk runs instructions until the given number of branches was taken.
func (w *walker) walk(branches int) {
	for i := 0; i < branches; {
		before := len(w.branches)
		if w.at == 0 || len(w.returns) > 40 || w.random.IntN(5000) == 0 {
			w.at, w.returns, w.branches = w.functions[w.random.IntN(len(w.functions))].Low, nil, nil
			w.branches = append(w.branches, codeBranch{outside - w.bias, w.at})
		} else {
			w.step()
		}
		if len(w.branches) > before {
			if i++; w.random.IntN(9) == 0 {
				w.sample()
			}
		}
	}
}

func (w *walker) branch(to uint64) {
	w.branches = append(w.branches, codeBranch{w.at, to})
	w.at = to
}

// step runs an instruction.
func (w *walker) step() {
	in := w.code.next(w.code.at(w.at))
	next := w.at + in.Size
	_, inFunction, err := w.f.Symbol(w.at)
	require.NoError(w.t, err)
	switch {
	case in.Size == 0, in.Leaves && !in.Jumps && !in.Returns:
		w.at = 0
	case in.Calls:
		if s, _, _ := w.f.Symbol(w.at); next >= s.High { // the callee does not return
			w.at = 0
			return
		}
		w.returns = append(w.returns, next)
		code := w.code.at(w.at)
		if code[0] == 0xe8 {
			w.branch(next + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:])))))
		} else {
			w.branch(w.functions[w.random.IntN(len(w.functions))].Low)
		}
	case in.Returns || in.Jumps && in.By == 0 && !inFunction:
		if !in.Returns { // of the procedure linkage table
			w.branch(outside - w.bias)
		}
		if len(w.returns) == 0 {
			w.at = 0
			return
		}
		w.branch(w.returns[len(w.returns)-1])
		w.returns = w.returns[:len(w.returns)-1]
	case in.Jumps && in.By == 0: // by a table
		w.at = 0
	case in.Jumps && (in.Leaves || w.random.IntN(2) == 0):
		w.branch(next + uint64(in.By))
	default:
		w.at = next
	}
}

// sample writes a sample at the current address.
func (w *walker) sample() {
	fmt.Fprintf(&w.out, "\t%16x\n", w.at+w.bias)
	for _, r := range slices.Backward(w.returns) {
		fmt.Fprintf(&w.out, "\t%16x\n", r+w.bias)
	}
	for _, b := range slices.Backward(w.branches[max(0, len(w.branches)-32):]) {
		fmt.Fprintf(&w.out, " 0x%x/0x%x/P/-/-/0 ", b.from+w.bias, b.to+w.bias)
	}
	fmt.Fprint(&w.out, "\n\n")
}

// contextFacts returns the counts, targets, totals and checksums of a context-sensitive profile.
// The keys are texts that name the context and the kind of number.
func contextFacts(p *sampleprof.Profile) map[string]uint64 {
	facts := make(map[string]uint64)
	for f := range p.Functions() {
		var at []string
		for i, frame := range f.Context {
			name := p.Name(frame.Name).Text
			if i < len(f.Context)-1 {
				name += ":" + locationText(uint32(frame.Line), frame.Discriminator)
			}
			at = append(at, name)
		}
		name := strings.Join(at, " @ ")
		facts[name+" total"], facts[name+" head"] = f.Total, f.HeadCount
		for _, r := range f.Records {
			key := name + " " + locationText(uint32(r.Line), r.Discriminator)
			switch r.Kind {
			case sampleprof.KindCount:
				facts[key] = r.Count
			case sampleprof.KindTarget:
				facts[key+" calls "+p.Name(r.Name).Text] = r.Count
			case sampleprof.KindChecksum:
				facts[name+" checksum"] = r.Count
			case sampleprof.KindAttributes:
				facts[name+" attributes"] = r.Count
			}
		}
	}
	return facts
}

// ContextProfile makes the same profile from the text of perf script as llvm-profgen without its
// pre-inliner: the same contexts, counts, totals, targets, head counts and checksums. Only the mark
// of inlined contexts may differ: if a call is inlined in some copies of the caller, ContextProfile
// marks its context, and llvm-profgen does so by chance. AFDO_BINARY may name another program.
func TestContextsAgreeWithProfgen(t *testing.T) {
	profgen := testenv.Tool(t, "llvm-profgen-22")
	paths := probedPrograms(t, "-fno-omit-frame-pointer")
	for _, path := range paths {
		f, b := program{path: path}.open(t)
		w := newWalker(t, f, path)
		w.walk(testenv.Rounds(1_000, 10_000, 50_000))
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "in"), w.out.Bytes(), 0o600))
		run(t, dir, profgen, "--binary="+path, "--perfscript=in", "--format=text", "--output=out",
			"--csspgo-preinliner=0", "--gen-cs-nested-profile=0", "--csprof-merge-cold-context=0", "--trim-cold-profile=0")
		out, err := os.Open(filepath.Join(dir, "out"))
		require.NoError(t, err)
		theirs, err := sampleprof.ParseText(out)
		out.Close()
		require.NoError(t, err)
		require.True(t, theirs.ContextSensitive)

		set, _, err := samples.Read(bytes.NewReader(w.out.Bytes()), b, samples.Options{Contexts: true})
		require.NoError(t, err)
		ours, _, err := ContextProfile(f, set, Options{})
		require.NoError(t, err)
		want, got := contextFacts(theirs), contextFacts(ours)
		require.Greater(t, len(want), 20)
		different, mixed := 0, 0
		for _, key := range slices.Sorted(maps.Keys(union(want, got))) {
			w, in := want[key]
			g, inOurs := got[key]
			switch {
			case w == g && in == inOurs:
			case strings.HasSuffix(key, " attributes") && !in:
				mixed++
			default:
				if different++; different < 10 {
					t.Errorf("%s: %s: %d (%t), by llvm-profgen %d (%t)", path, key, g, inOurs, w, in)
				}
			}
		}
		assert.Less(t, mixed*1000, len(want))
		t.Logf("%s: %d facts of %d functions in contexts, %d differ; %d are called and inlined at one call", path, len(want), theirs.NumFunctions(), different, mixed)
	}
}

// Contexts begin with a function that occurs only on call stacks, as main does if it only called
// the program's loop once.
func TestContextsOfCallers(t *testing.T) {
	p := compile(t, testenv.Tool(t, "clang-22"), "prog.c", goesCold, goesColdFlags...)
	f, b := p.open(t)
	code := newDecoder(f.ELF())
	var begin, call, back, to uint64
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] != "main" && s.Names[0] != "work" {
			continue
		}
		for at := s.Low; at < s.High; {
			in := code.next(code.at(at))
			require.NotZero(t, in.Size)
			next := at + in.Size
			switch {
			case s.Names[0] == "main" && in.Calls && call == 0:
				call = next - 1
			case s.Names[0] == "work" && in.Jumps && in.By < 0:
				back, to = at, next+uint64(in.By)
			}
			at = next
		}
		if s.Names[0] == "work" {
			begin = s.Low
		}
	}
	require.Greater(t, to, begin)
	offset := func(addr uint64) uint64 {
		o, ok := b.Layout.Offset(addr)
		require.True(t, ok)
		return o
	}
	loop := samples.Branch{From: offset(back), To: offset(to)}
	set := new(samples.Set)
	set.Ranges.Add(samples.Range{Begin: loop.To, End: loop.From}, 100)
	set.AddTrace(samples.Trace{At: loop.To, Calls: []uint64{samples.Elsewhere, offset(call)}, Branches: []samples.Branch{loop, loop}}, 100)
	made, _, err := ContextProfile(f, set, Options{})
	require.NoError(t, err)
	names := slices.Collect(maps.Keys(contextFacts(made)))
	assert.True(t, slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "main:") && strings.HasSuffix(name, " @ work total")
	}), "%q", names)
}

// Clang accepts a context-sensitive profile and generates other code with it.
func TestClangTakesContexts(t *testing.T) {
	testenv.NeedSweep(t)
	clang := testenv.Tool(t, "clang-22")
	p := compile(t, clang, "prog.c", goesCold, "-O2", "-fpseudo-probe-for-profiling", "-fno-inline", "-fno-omit-frame-pointer")
	f, b := p.open(t)
	w := newWalker(t, f, p.path)
	w.walk(2000)
	set, _, err := samples.Read(&w.out, b, samples.Options{Contexts: true})
	require.NoError(t, err)
	made, _, err := ContextProfile(f, set, Options{})
	require.NoError(t, err)
	path := filepath.Join(p.dir, "made.ext")
	var out bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&out, made, sampleprof.WriteOptions{}))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	build := func(flags ...string) []byte {
		run(t, p.dir, clang, append([]string{"-O2", "-fpseudo-probe-for-profiling", "-c", "prog.c", "-o", "prog.o"}, flags...)...)
		code, err := os.ReadFile(filepath.Join(p.dir, "prog.o"))
		require.NoError(t, err)
		return code
	}
	assert.NotEqual(t, build(), build("-fprofile-sample-use="+path, "-Werror=backend-plugin"))
}

// ContextProfile returns an error for samples without call stack or branch stack, and for programs
// without probes.
func TestNoContexts(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	at := offsetOf(t, f, b, "leaf")
	set := new(samples.Set)
	set.Addresses.Add(at, 100)
	_, _, err := ContextProfile(f, set, Options{})
	require.ErrorIs(t, err, ErrNoContexts)
	for _, trace := range []samples.Trace{
		{At: at, Branches: []samples.Branch{{From: at, To: at}}},
		{At: at + 1<<40, Calls: []uint64{0, at, samples.Elsewhere}, Branches: []samples.Branch{{From: samples.Elsewhere, To: 5}, {From: at, To: 0}}},
	} {
		set.AddTrace(trace, 1<<63)
		set.AddTrace(trace, 1<<63)
	}
	_, _, err = ContextProfile(f, set, Options{})
	require.ErrorIs(t, err, ErrNoProbes)
}

// A missing sequence of tail calls is added to a context only if it is the only possible one.
func TestTailCalls(t *testing.T) {
	tails := &tailCalls{
		callees: map[uint64][]string{1: {"a"}, 2: {"a", "c"}, 3: {"loop"}},
		jumps:   map[string][]uint64{"a": {10}, "b": {11, 12}, "c": {13}, "loop": {14, 15}},
		targets: map[uint64][]string{10: {"b"}, 11: {"x"}, 12: {"a"}, 13: {"x"}, 14: {"loop"}, 15: {"y"}},
		known:   make(map[[2]string]jumpPaths),
	}
	assert.Equal(t, []uint64{10, 11}, tails.between(1, "x"))
	assert.Empty(t, tails.between(2, "x"), "two ways")
	assert.Empty(t, tails.between(1, "a"), "called")
	assert.Empty(t, tails.between(1, "y"), "no way")
	assert.Equal(t, []uint64{15}, tails.between(3, "y"))
	assert.Empty(t, tails.between(9, "x"), "never seen to call")
}

func TestWithoutRecursion(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "aa": "a", "aab": "ab", "abab": "ab", "xababab": "xab", "ababa": "aba", "aabaab": "ab", "abcabcd": "abcd", "abba": "aba",
	} {
		assert.Equal(t, want, string(withoutRecursion([]byte(in))), in)
	}
}

// FuzzUnwind: for any recording, no context has more samples than the recording, all addresses in
// contexts are in the binary, and the result is always the same.
func FuzzUnwind(f *testing.F) {
	p := compile(f, testenv.Tool(f, "gcc"), "prog.c", stacked, "-g", "-O1", "-fno-omit-frame-pointer")
	file, _ := p.open(f)
	low, high := uint64(math.MaxUint64), uint64(0)
	for s, err := range file.Symbols() {
		require.NoError(f, err)
		if s.Names[0] == "main" || s.Names[0] == "leaf" {
			low, high = min(low, s.Low), max(high, s.High)
		}
	}
	skip := uint64(0) // from file offsets to addresses
	for _, segment := range file.ELF().Progs {
		if segment.Flags&1 != 0 && segment.Vaddr <= low && low < segment.Vaddr+segment.Filesz {
			skip = segment.Vaddr - segment.Off
		}
	}
	f.Add([]byte{})
	f.Add([]byte("\x01\x02\x10\x20\x30\x40\x50\x60\x70\x80"))
	f.Add(bytes.Repeat([]byte("\x05\x03\x11\x07"), 30))
	f.Fuzz(func(t *testing.T, data []byte) {
		take := func() uint64 {
			if len(data) == 0 {
				return samples.Elsewhere
			}
			b := data[0]
			data = data[1:]
			if b == 255 {
				return samples.Elsewhere
			}
			return low - skip + uint64(b)%(high-low)
		}
		set, all := new(samples.Set), uint64(0)
		for len(data) > 0 {
			trace := samples.Trace{At: take()}
			for range take() % 5 {
				trace.Calls = append(trace.Calls, take())
			}
			for range 1 + take()%9 {
				trace.Branches = append(trace.Branches, samples.Branch{From: take(), To: take()})
			}
			set.AddTrace(trace, 3)
			all += 3
		}
		once, err := unwind(file, set)
		require.NoError(t, err)
		for _, c := range once.contexts {
			require.NotEmpty(t, len(c.ranges)+len(c.branches))
			for r, n := range c.ranges {
				require.LessOrEqual(t, n, 9*all)
				require.LessOrEqual(t, r.begin, r.end)
				require.False(t, once.code.crosses(r.begin, r.end))
			}
			for _, call := range c.calls {
				isUnknown := call == 0 // what returned does not return behind a call
				require.True(t, isUnknown || once.code.next(once.code.at(call)).Calls, "%x", call)
			}
		}
		again, err := unwind(file, set)
		require.NoError(t, err)
		require.Equal(t, once.contexts, again.contexts)
	})
}
