package slice_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/testkit/train"
	"github.com/go-afdo/afdo/profile"
)

// needCompiler returns a compiler that reads profiles. It skips the test if the compiler is not
// installed.
func needCompiler(t testing.TB, name string) *toolchain.Compiler {
	c, err := toolchain.Find(t.Context(), command.Parse([]string{testenv.Tool(t, name)}, t.TempDir()), nil)
	if err != nil {
		testenv.Missing(t, "%v", err)
	}
	return c
}

// A program is one of the programs in testdata, built and profiled in a folder of its own.
type program struct {
	dir      string
	sources  []string
	compiler *toolchain.Compiler
	binary   string
}

func buildProgram(t testing.TB, folder, compiler string) *program {
	p := &program{dir: t.TempDir(), compiler: needCompiler(t, compiler)}
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", folder))))
	require.NoError(t, fs.WalkDir(os.DirFS(p.dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".c" || filepath.Ext(path) == ".cc" {
			p.sources = append(p.sources, path)
		}
		return err
	}))
	p.binary = filepath.Join(p.dir, "program")
	p.run(t, append([]string{"-O2", "-g", "-o", p.binary}, p.sources...)...)
	return p
}

// run runs the compiler in the program's folder.
func (p *program) run(t testing.TB, args ...string) {
	cmd := exec.Command(p.compiler.Path, args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// assembly returns the assembler code of a source, compiled with the profile prof, or without one
// if prof is nil.
func (p *program) assembly(t testing.TB, source, level string, prof *profile.Profile) string {
	out := filepath.Join(t.TempDir(), "out.s")
	args := []string{level, "-S", "-o", out, source}
	if prof != nil {
		var file bytes.Buffer
		_, err := gcov.Write(&file, prof, gcov.WriteOptions{Version: p.compiler.Reads()})
		require.NoError(t, err)
		path := filepath.Join(filepath.Dir(out), "profile.afdo")
		require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
		args = append(args, "-fauto-profile="+path)
	}
	p.run(t, args...)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(text)
}

// slice selects the slice of a source as afdo exec does.
func (p *program) slice(t testing.TB, whole *slice.Program, source string) *profile.Profile {
	c := command.Parse([]string{p.compiler.Path, "-c", source}, p.dir)
	in, err := inputs.Find(t.Context(), c, p.compiler, nil)
	require.NoError(t, err)
	text, err := in.Text()
	require.NoError(t, err)
	s, err := whole.Select(slice.Request{Text: text, Target: slice.Target(p.compiler.Reads())})
	require.NoError(t, err)
	return s
}

// A scenario is a change that a test makes to a program's profile before it selects slices.
type scenario struct {
	name  string
	train train.Options
	spoil func(p *profile.Profile)
}

// foreign adds samples of functions with the given names in files of another program.
func foreign(names ...string) func(p *profile.Profile) {
	return func(p *profile.Profile) {
		var body profile.Body
		for i, name := range names {
			body.Reset()
			for line := range uint32(40) {
				body.Count(line, 0, uint64(line*line*line)%1009*uint64(i+1))
				body.Enter(line, 0, p.AddSymbol(p.AddUnit("/other/h.h"), "helper"))
				body.Count(1+line%7, 0, uint64(line)*1000)
				body.Leave()
			}
			file := p.AddUnit([]string{"/other/a.c", "/other/draw.cc", ""}[i%3])
			p.AddFunction(p.AddSymbol(file, name), profile.Function{HeadCount: 5, Records: body.Records()})
		}
	}
}

// mention adds symbols without samples to the profile.
func mention(names ...string) func(p *profile.Profile) {
	return func(p *profile.Profile) {
		for _, name := range names {
			p.AddSymbol(p.AddUnit("/other/names.c"), name)
		}
	}
}

// elsewhere adds functions of other files into which the named functions were inlined, as link-time
// optimization does. It also adds files with the same base names as the program's.
func elsewhere(names ...string) func(p *profile.Profile) {
	return func(p *profile.Profile) {
		var body profile.Body
		outer := p.AddSymbol(p.AddUnit("/other/outer.c"), "outer")
		refs := make(map[string]profile.SymbolRef)
		for s := range p.NumSymbols() {
			refs[p.SymbolName(profile.SymbolRef(s))] = profile.SymbolRef(s)
		}
		for i, name := range names {
			body.Reset()
			body.Count(3, 0, 5)
			for line := range uint32(12) {
				body.Enter(line, 0, outer)
				body.Count(1, 0, 77)
				body.Enter(line%3, 0, refs[name])
				for inner := range uint32(30) {
					body.Count(inner, 0, uint64(inner*inner)*uint64(100+i))
				}
				body.Enter(4, 0, refs[names[0]])
				body.Count(2, 0, 12345)
				body.Leave()
				body.Leave()
				body.Leave()
			}
			caller := p.AddSymbol(p.AddUnit("/other/far.c"), "far_"+name)
			p.AddFunction(caller, profile.Function{HeadCount: 9, Timestamp: uint64(i), Records: body.Records()})
		}
		for _, path := range []string{"/aaa/walk.c", "/zzz/walk.c", "/zzz/draw.cc"} {
			p.AddFunction(p.AddSymbol(p.AddUnit(path), "in"+path), profile.Function{HeadCount: 1})
		}
	}
}

// TestCodeC compiles a C program with the machine's own compiler. The code must be the same with a
// slice as with the whole profile, to which another program was added. It must differ from the code
// without a profile.
func TestCodeC(t *testing.T) {
	testCode(t, "c", "gcc", []scenario{
		{name: "plain"},
		{name: "indirect", train: train.Options{Seed: 1, Indirect: []string{"third", "common", "rare", "walk"}}},
		{
			name:  "names of others",
			train: train.Options{Seed: 2, Cold: []string{"helper", "common", "report"}, Indirect: []string{"rare"}},
			spoil: foreign("helper", "common", "report", "find", "mix", "third.part.0", "third"),
		},
		{
			name:  "suffixes",
			train: train.Options{Seed: 3},
			spoil: mention("walk.part.0", "grow.part.1", "main.constprop.0", "rare.isra.0", "helper.lto_priv.0"),
		},
		{
			name:  "inlined elsewhere",
			train: train.Options{Seed: 4},
			spoil: elsewhere("find", "insert", "helper", "walk", "report", "mix", "rare"),
		},
	})
}

func TestCodeCxx(t *testing.T) {
	testenv.NeedSweep(t)
	testCode(t, "cxx", "g++", []scenario{
		{name: "plain", train: train.Options{Indirect: []string{"_ZNK12_GLOBAL__N_13Box4areaEl", "_ZNK12_GLOBAL__N_14Ring4areaEl"}}},
		{
			name:  "names of others",
			train: train.Options{Seed: 2, Cold: []string{"_ZN12_GLOBAL__N_1", "_ZL", "_Z4makel", "main"}},
			spoil: foreign("operator()", "helper", "_ZN12_GLOBAL__N_16helperEl", "_ZL5splitRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
				"split", "area", "clamp_to<long int>", "stroke", "Box", "at", "main", "each<main(int, char**)::<lambda(int&)> >"),
		},
		{
			name:  "names that end a search",
			train: train.Options{Seed: 5, Cold: []string{"_ZN4Grid", "_Z4makel", "_ZL5split", "_ZN12_GLOBAL__N_13Box", "_ZN12_GLOBAL__N_14Ring"}},
			spoil: func(p *profile.Profile) {
				mention("_ZN4GridIlEC2El", "_ZN4GridIlEC1El", "_ZN4GridIiEC2El", "_ZN4GridIiEC1El", "_ZN4GridIlED2Ev", "_ZN4GridIlED1Ev", "_Z4makel",
					"_ZL5splitRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "_ZN12_GLOBAL__N_13BoxC2Ell", "_ZN12_GLOBAL__N_13BoxC1Ell")(p)
				foreign("_ZN4GridIlEC4El", "_ZN4GridIiEC4El", "_ZN4GridIlED4Ev", "make", "split", "_ZN12_GLOBAL__N_13BoxC4Ell", "_ZN12_GLOBAL__N_14RingC4El")(p)
			},
		},
		{
			name:  "suffixes",
			train: train.Options{Seed: 3},
			spoil: mention("_Z4makel.part.0", "_ZNK12_GLOBAL__N_14Ring4areaEl.constprop.0", "main.isra.0",
				"_Z4drawRKSt6vectorISt10unique_ptrI5ShapeSt14default_deleteIS1_EESaIS4_EEl.part.3"),
		},
		{
			name:  "inlined elsewhere",
			train: train.Options{Seed: 4},
			spoil: elsewhere("helper", "main", "_Z4makel", "_Z7measureR4GridIlEl", "operator()"),
		},
	})
}

// TestCodeOdd has functions whose names are spelled in unusual ways.
func TestCodeOdd(t *testing.T) {
	t.Run("c", func(t *testing.T) { testCodeOf(t, "odd-c", "gcc", []scenario{{name: "plain"}}) })
	t.Run("c++", func(t *testing.T) {
		testenv.NeedSweep(t)
		testCodeOf(t, "odd-cxx", "g++", []scenario{{name: "plain"}})
	})
}

// testCode compiles the program in a folder with slices, with the whole profile and without one,
// and compares the code. It does so with the given compiler, and with GCC 16 if that is installed.
func testCode(t *testing.T, folder, compiler string, scenarios []scenario) {
	for _, name := range []string{compiler, compiler + "-16"}[:testenv.Rounds(1, 2)] {
		t.Run(name, func(t *testing.T) {
			testenv.Optional(t, name)
			testCodeOf(t, folder, name, scenarios)
		})
	}
}

func testCodeOf(t *testing.T, folder, compiler string, scenarios []scenario) {
	p := buildProgram(t, folder, compiler)
	levels := testenv.Some([]string{"-O2", "-O3"}, 1) // TestCodeRandom uses both
	if !testenv.Sweep() {
		scenarios, levels = scenarios[:1], levels[:1]
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			whole := profile.New()
			require.NoError(t, train.Add(whole, p.binary, sc.train))
			if sc.spoil != nil {
				sc.spoil(whole)
			}
			whole.Merge(synth.Profile(synth.Options{Seed: 1, Units: testenv.Rounds(30, 130), Functions: testenv.Rounds(800, 5_000)})) // 2 MB in a sweep
			whole.Summary = whole.Summarize()
			sliced := slice.FromProfile(whole)
			used := false
			for _, source := range p.sources[:testenv.Rounds(1, len(p.sources))] {
				part := p.slice(t, sliced, source)
				assert.Less(t, part.NumFunctions(), whole.NumFunctions()/10)
				for _, level := range levels {
					with := p.assembly(t, source, level, whole)
					assert.True(t, with == p.assembly(t, source, level, part), "%s %s makes other code with its slice", source, level)
					used = used || with != p.assembly(t, source, level, nil)
				}
			}
			assert.True(t, used, "the profile changes nothing")
		})
	}
}

// TestCodeRandom makes random changes to the profile of the C program.
func TestCodeRandom(t *testing.T) {
	testenv.NeedSweep(t)
	p := buildProgram(t, "c", "gcc")
	trained := profile.New()
	require.NoError(t, train.Add(trained, p.binary, train.Options{}))
	names := []string{"nothing"}
	for s := range trained.NumSymbols() {
		names = append(names, trained.SymbolName(profile.SymbolRef(s)))
	}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		some := func(suffixes ...string) (some []string) {
			for range r.IntN(7) {
				some = append(some, names[r.IntN(len(names))]+suffixes[r.IntN(len(suffixes))])
			}
			return some
		}
		whole := profile.New()
		require.NoError(t, train.Add(whole, p.binary, train.Options{Seed: seed, Cold: some(""), Indirect: some("")}))
		foreign(some("", "", ".part.0", ".cold")...)(whole)
		mention(some("", ".constprop.0", ".isra.0", ".lto_priv.1")...)(whole)
		if inlined := some(""); len(inlined) > 0 {
			mention(inlined...)(whole)
			elsewhere(inlined...)(whole)
		}
		whole.Merge(synth.Profile(synth.Options{Seed: 1, Units: 20, Functions: 300}))
		whole.Summary = whole.Summarize()
		sliced := slice.FromProfile(whole)
		for _, source := range p.sources {
			level := []string{"-O2", "-O3"}[r.IntN(2)]
			part := p.slice(t, sliced, source)
			assert.True(t, p.assembly(t, source, level, whole) == p.assembly(t, source, level, part), "seed %d, %s %s", seed, source, level)
		}
	}
}
