package driver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/testkit/train"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

// A clangSite is a folder with a program that clang compiles through the launcher.
type clangSite struct {
	*testing.T
	dir, clang string
	cache      *Cache
	sources    []string
}

// newClangSite copies one of the programs in package slice's testdata to a new folder.
func newClangSite(t *testing.T, program string) *clangSite {
	clang := testenv.Tool(t, "clang++-22")
	s := &clangSite{T: t, dir: t.TempDir(), clang: clang}
	if program == "c" {
		s.clang = strings.Replace(clang, "++", "", 1)
	}
	t.Setenv("AFDO_CACHE_DIR", t.TempDir())
	var err error
	s.cache, err = OpenCache()
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS(filepath.Join("../slice/testdata", program))))
	names, err := filepath.Glob(filepath.Join(s.dir, "*.c*"))
	require.NoError(t, err)
	for _, name := range names {
		s.sources = append(s.sources, filepath.Base(name))
	}
	return s
}

func (s *clangSite) path(name string) string { return filepath.Join(s.dir, name) }

func (s *clangSite) run(args ...string) string {
	s.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	require.NoError(s, err, "%q: %s", args, out)
	return string(out)
}

// fails runs a command that must fail, and returns the output.
func (s *clangSite) fails(args ...string) string {
	s.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	require.Error(s, err, "%q", args)
	return string(out)
}

// compile compiles a source and returns the output: assembler for -S, text of the bitcode for
// -flto.
func (s *clangSite) compile(args ...string) string {
	s.Helper()
	s.run(append(slices.Clone(args), "-o", "out")...)
	data, err := os.ReadFile(s.path("out"))
	require.NoError(s, err)
	return string(data)
}

// sliced compiles a source with the slice that the launcher makes. The slice has the exact summary,
// so that the bitcode can be compared with that of the whole profile.
func (s *clangSite) sliced(profile string, args ...string) (object string, plan *Plan) {
	s.Helper()
	l := Launcher{Profile: profile, ExactSummary: true, Cache: s.cache, Warn: func(text string) { s.Log(text) }}
	plan, err := l.Prepare(s.Context(), append(slices.Clone(args), "-o", "out"), s.dir)
	require.NoError(s, err)
	s.run(plan.Argv...)
	data, err := os.ReadFile(s.path("out"))
	require.NoError(s, err)
	return string(data), plan
}

// trained returns a profile that has samples of the program, with random changes, among samples of
// another program.
func (s *clangSite) trained(rng *rand.Rand) *profile.Profile {
	s.run(append([]string{s.clang, "-O2", "-g", "-fdebug-info-for-profiling", "-shared", "-fPIC", "-o", "trained"}, s.sources...)...)
	p := profile.New()
	require.NoError(s, train.Add(p, s.path("trained"), train.Options{Seed: rng.Uint64()}))
	spoil(p, rng)
	p.Merge(synth.Profile(synth.Options{Seed: rng.Uint64(), Units: 30, Functions: 1_000}))
	return p
}

// spoil adds random calls and inlined bodies to a profile. They are of functions of the program and
// of other functions.
func spoil(p *profile.Profile, rng *rand.Rand) {
	var symbols []profile.SymbolRef
	for i := range p.NumSymbols() {
		symbols = append(symbols, profile.SymbolRef(i))
	}
	for i := range 5 {
		symbols = append(symbols, p.AddSymbol(p.AddUnit("/other.cc"), fmt.Sprintf("_Z8foreign%dv", i)))
	}
	any := func() profile.SymbolRef { return symbols[rng.IntN(len(symbols))] }
	var body profile.Body
	for range 40 {
		body.Reset()
		for range 10 {
			line := rng.Uint32N(12)
			body.Count(line, 0, rng.Uint64N(100_000))
			body.Call(line, 0, any(), rng.Uint64N(50_000))
			if rng.IntN(2) == 0 {
				body.Enter(line, 0, any())
				body.Count(rng.Uint32N(5), 0, rng.Uint64N(100_000))
				body.Leave()
			}
		}
		p.AddFunction(any(), profile.Function{HeadCount: rng.Uint64N(1000), Records: body.Records()})
	}
}

// inContexts converts inlined bodies of a profile to functions with a calling context.
func inContexts(s *clangSite, p *sampleprof.Profile) *sampleprof.Profile {
	var text bytes.Buffer
	for f := range p.Functions() {
		writeContexts(&text, p, fmt.Sprint(p.Name(f.Name)), f.Total, f.HeadCount, f.Records)
	}
	q, err := sampleprof.ParseText(&text)
	require.NoError(s, err)
	return q
}

func writeContexts(w *bytes.Buffer, p *sampleprof.Profile, context string, total, head uint64, records []sampleprof.Record) {
	fmt.Fprintf(w, "[%s]:%d:%d\n", context, total, head)
	i := 0
	for ; i < len(records) && records[i].Kind != sampleprof.KindInlined; i++ {
		if r := records[i]; r.Kind == sampleprof.KindTarget {
			fmt.Fprintf(w, " %s:%d", p.Name(r.Name), r.Count)
		} else if r.Kind == sampleprof.KindCount {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, " %d.%d: %d", r.Line, r.Discriminator, r.Count)
		}
	}
	fmt.Fprintln(w)
	for ; i < len(records) && records[i].Kind == sampleprof.KindInlined; i++ {
		r := records[i]
		inner := fmt.Sprintf("%s:%d.%d @ %s", context, r.Line, r.Discriminator, p.Name(r.Name))
		writeContexts(w, p, inner, r.Count, r.Count/2, records[i+1:i+1+int(r.Span)])
		i += int(r.Span)
	}
}

// levels are the compiler flags with which the programs are compiled.
var levels = [][]string{
	{"-O2", "-c"},
	{"-O3", "-c", "-g"},
	{"-O2", "-c", "-flto=thin"},
	{"-Os", "-c", "-fprofile-sample-accurate"},
}

// Clang makes the same object with a slice as with the whole profile: plain, with a symbol list,
// and context-sensitive.
func TestClangSlices(t *testing.T) {
	rounds, programs := 1, []string{"c"}
	sweep := testenv.Sweep()
	if sweep {
		rounds, programs = testenv.Rounds(1, 1, 2), []string{"c", "cxx"} // each level has its turn in two rounds
	}
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			s := newClangSite(t, program)
			if !sweep {
				s.sources = []string{"walk.c"}
			}
			rng := rand.New(rand.NewPCG(7, uint64(len(program))))
			for round := range rounds {
				plain, _ := sampleprof.FromGCOV(s.trained(rng))
				plain.SymbolList = nil
				s.compare(inContexts(s, plain), levels[(round+1)%len(levels)])
				if !sweep {
					continue
				}
				s.compare(plain, levels[round%len(levels)])
				for f := range plain.Functions() {
					if f.Name%3 == 0 {
						plain.SymbolList = append(plain.SymbolList, fmt.Sprint(plain.Name(f.Name)))
					}
				}
				plain.SymbolList = append(plain.SymbolList, "main", "foreign", "helper")
				s.compare(plain, levels[(round+2)%len(levels)])
			}
		})
	}
}

// Clang makes the same object with a slice of a version 4 profile as with the same profile in
// ExtBinary.
func TestClangSlicesOfGCOV(t *testing.T) {
	testenv.NeedSweep(t)
	for _, program := range []string{"c", "cxx"} {
		t.Run(program, func(t *testing.T) {
			s := newClangSite(t, program)
			p := s.trained(rand.New(rand.NewPCG(8, uint64(len(program)))))
			p.Summary = p.Summarize()
			converted, whole := s.path("converted.afdo"), s.path("whole.afdo")
			data, err := clangprofile.Encode(p)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(converted, data, 0o666))
			var file bytes.Buffer
			require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
			require.NoError(t, os.WriteFile(whole, file.Bytes(), 0o666))
			for _, source := range s.sources {
				args := []string{s.clang, "-O2", "-c", "-gmlt", "-fdebug-info-for-profiling", source}
				want := s.compile(append(slices.Clone(args), "-fprofile-sample-use="+converted)...)
				got, plan := s.sliced(whole, args...)
				require.Equal(t, OutcomeSliced, plan.Outcome, source)
				assert.True(t, want == got, source)
				assert.NotEqual(t, s.compile(args...), got, source)
				_, plan = s.sliced(whole, args...)
				require.Equal(t, OutcomeUpToDate, plan.Outcome, source)
				require.NoError(t, os.Remove(s.path("out.exec.afdo")))
			}
		})
	}
}

// If sources were edited, the slice for clang has the counts at the new lines.
func TestClangSlicesAreRebased(t *testing.T) {
	s := newClangSite(t, "c")
	const text = `int work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += i * 5;
		else
			sum -= n / (i + 1);
	}
	return sum;
}
`
	source := s.path("work.c")
	p := profile.New()
	unit := p.AddUnit(source)
	var body profile.Body
	body.Count(4, 0, 900)
	body.Count(5, 0, 17)
	p.AddFunction(p.AddSymbol(unit, "work"), profile.Function{HeadCount: 3, Records: body.Records()})
	var old rebase.Sources
	old.AddFile(source, []byte(text))
	_, known := old.Remember(p, func(_, symbol string) (rebase.Declaration, bool) {
		return rebase.Declaration{Symbol: symbol, File: source, Line: 1}, true
	})
	require.Equal(t, 1, known)
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{}))
	whole := s.path("whole.afdo")
	require.NoError(t, os.WriteFile(whole, file.Bytes(), 0o666))
	edited := strings.Replace(text, "\tint sum", "\tint twice = 2 * n;\n\tn += twice & 1;\n\tint sum", 1)
	for _, c := range []struct {
		text     string
		noRebase bool
		want     map[uint16]uint64
	}{
		{text, false, map[uint16]uint64{4: 900, 5: 17}},
		{edited, false, map[uint16]uint64{6: 900, 7: 17}},
		{edited, true, map[uint16]uint64{4: 900, 5: 17}},
	} {
		require.NoError(t, os.WriteFile(source, []byte(c.text), 0o666))
		l := Launcher{Profile: whole, Cache: s.cache, NoRebase: c.noRebase}
		plan, err := l.Prepare(t.Context(), []string{s.clang, "-O2", "-c", "-w", "work.c", "-o", "work.o"}, s.dir)
		require.NoError(t, err)
		require.Equal(t, OutcomeSliced, plan.Outcome)
		s.run(plan.Argv...)
		slice, err := sampleprof.Open(s.path("work.o.afdo"))
		require.NoError(t, err)
		q, err := sampleprof.Read(slice)
		require.NoError(t, err)
		counts := make(map[uint16]uint64)
		for f := range q.Functions() {
			for _, r := range f.Records {
				counts[r.Line] += r.Count
			}
		}
		assert.Equal(t, c.want, counts)
		require.NoError(t, slice.Close())
	}
}

// Clang makes the same object with a slice of an instrumentation profile as with the whole profile.
// The program is instrumented in three ways: -fprofile-generate, -fcs-profile-generate and
// -fprofile-instr-generate.
func TestClangCountedSlices(t *testing.T) {
	testenv.NeedSweep(t)
	for _, program := range testenv.Some([]string{"cxx", "c"}, 1) {
		for kind, flags := range map[string][]string{
			"IR":        {"-fprofile-generate"},
			"front end": {"-fprofile-instr-generate"},
			"context":   {"-fprofile-use=plain.profdata", "-fcs-profile-generate"},
		} {
			t.Run(program+" "+kind, func(t *testing.T) {
				s := newClangSite(t, program)
				if kind == "context" {
					s.count("plain.profdata", "-fprofile-generate")
				}
				s.count("whole.profdata", flags...)
				if kind == "context" { // clang wants both in one file
					s.run("llvm-profdata-22", "merge", "-o", "both.profdata", "plain.profdata", "whole.profdata")
					require.NoError(t, os.Rename(s.path("both.profdata"), s.path("whole.profdata")))
				}
				s.compareObjects(s.path("whole.profdata"), "-fprofile-use=", []string{"-O2", "-c"})
			})
		}
	}
}

// count builds the program with instrumentation, runs it, and writes an instrumentation profile to
// a file.
func (s *clangSite) count(profile string, flags ...string) {
	s.Helper()
	s.run(slices.Concat([]string{s.clang, "-O2", "-o", "counts"}, flags, s.sources)...)
	s.Setenv("LLVM_PROFILE_FILE", s.path("raw"))
	s.run("./counts", "3")
	s.run("llvm-profdata-22", "merge", "-o", profile, "raw")
	noise := instrprof.Profile{}
	f, err := instrprof.Open(s.path(profile))
	require.NoError(s, err)
	defer f.Close()
	require.NoError(s, noise.AddIndexed(f, 1, nil))
	for i := range 2_000 {
		r, err := instrprof.NewRecord(fmt.Sprintf("_ZN7foreign5f%04dEv", i), 1, []uint64{uint64(i), 5}, nil, instrprof.ValueSites{})
		require.NoError(s, err)
		require.NoError(s, noise.Add(r, 1))
	}
	var file bytes.Buffer
	require.NoError(s, noise.WriteIndexed(&file, instrprof.IndexedOptions{}))
	require.NoError(s, os.WriteFile(s.path(profile), file.Bytes(), 0o666))
}

// compare compares the objects that clang makes with a whole profile and with slices of it.
func (s *clangSite) compare(p *sampleprof.Profile, level []string) {
	s.Helper()
	whole := s.path("whole.afdo")
	var file bytes.Buffer
	require.NoError(s, sampleprof.WriteExtBinary(&file, p, sampleprof.WriteOptions{}))
	require.NoError(s, os.WriteFile(whole, file.Bytes(), 0o666))
	s.compareObjects(whole, "-fprofile-sample-use=", slices.Concat(level, []string{"-gmlt", "-fdebug-info-for-profiling"}))
}

// compareObjects compares the objects that clang makes with the profile at a path and with slices
// of it.
func (s *clangSite) compareObjects(whole, option string, level []string) {
	s.Helper()
	info, err := os.Stat(whole)
	require.NoError(s, err)
	changed := false
	for _, source := range s.sources {
		args := slices.Concat([]string{s.clang}, level, []string{source})
		want := s.compile(append(slices.Clone(args), option+whole)...)
		got, plan := s.sliced(whole, args...)
		require.Equal(s, OutcomeSliced, plan.Outcome, source)
		assert.True(s, want == got, "%s %v", source, level)
		changed = changed || want != s.compile(args...)
		slice, err := os.Stat(s.path("out.exec.afdo"))
		require.NoError(s, err)
		assert.Less(s, slice.Size(), info.Size()/2, source)
		_, plan = s.sliced(whole, args...)
		require.Equal(s, OutcomeUpToDate, plan.Outcome, source)
		require.NoError(s, os.Remove(s.path("out.exec.afdo")))
	}
	assert.True(s, changed, "the profile has no effect")
}
