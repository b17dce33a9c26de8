package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/produce"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/opcode"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const createdProgram = `#include <stdlib.h>
static inline int half(int x) {
  return x / 2;
}
__attribute__((noinline)) static int loop(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += half(i) ^ n;
  return s;
}
int main(int argc, char **argv) {
  return loop(argc * 100) & 1;
}
`

// editedProgram is createdProgram with two lines inserted.
var editedProgram = strings.Replace(createdProgram, "  int s = 0;\n", "  int s = 0;\n\n  if (n < 0) abort();\n", 1)

// compiled caches the programs of compileC by source and flags, so that each is compiled once.
var compiled sync.Map

// compileC returns the path of a compiled program, beside its source prog.c. Tests share the
// folder, so none may change its files.
func compileC(t *testing.T, source string, flags ...string) string {
	t.Helper()
	cc := testenv.Tool(t, "gcc")
	once, _ := compiled.LoadOrStore(fmt.Sprintf("%q", append([]string{source}, flags...)), sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "afdo-test-")
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, "prog"), compileIn(dir, cc, source, flags)
	}))
	program, err := once.(func() (string, error))()
	require.NoError(t, err)
	return program
}

// removeCompiled removes the programs of compileC.
func removeCompiled() {
	for _, once := range compiled.Range {
		if program, _ := once.(func() (string, error))(); program != "" {
			os.RemoveAll(filepath.Dir(program))
		}
	}
}

// compileOwn is compileC for a test that changes the files in the folder.
func compileOwn(t *testing.T, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, compileIn(dir, testenv.Tool(t, "gcc"), source, flags))
	return filepath.Join(dir, "prog")
}

func compileIn(dir, cc, source string, flags []string) error {
	if err := os.WriteFile(filepath.Join(dir, "prog.c"), []byte(source), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(cc, append([]string{"-O2", "prog.c", "-o", "prog"}, flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// instructions returns the addresses of the instructions of a function.
func instructions(t *testing.T, f *elf.File, low, high uint64) (all []uint64) {
	t.Helper()
	for _, section := range f.Sections {
		if section.Flags&elf.SHF_EXECINSTR == 0 || low < section.Addr || high > section.Addr+section.Size {
			continue
		}
		code := make([]byte, high-low)
		_, err := section.ReadAt(code, int64(low-section.Addr))
		require.NoError(t, err)
		for at := uint64(0); at < high-low; {
			all = append(all, low+at)
			in := opcode.ARM64(code[at:])
			if f.Machine == elf.EM_X86_64 {
				in = opcode.X86(code[at:], 64)
			}
			at += max(1, in.Size)
		}
	}
	return all
}

// sampled returns the path of address samples of a program: every instruction of a function ran
// count times, and the function was called from somewhere calls times.
func sampled(t *testing.T, program, function string, count, calls uint64) string {
	t.Helper()
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	layout, err := samples.NewLayout(f)
	require.NoError(t, err)
	symbols, err := f.Symbols()
	require.NoError(t, err)
	set := new(samples.Set)
	for _, s := range symbols {
		if s.Name != function {
			continue
		}
		for _, a := range instructions(t, f, s.Value, s.Value+s.Size) {
			offset, ok := layout.Offset(a)
			require.True(t, ok)
			set.Addresses.Add(offset, count)
		}
		if start, _ := layout.Offset(s.Value); calls > 0 {
			set.Branches.Add(samples.Branch{From: 0, To: start}, calls)
		}
	}
	var text bytes.Buffer
	require.NoError(t, set.Write(&text))
	return writeFile(t, "samples", text.Bytes())
}

func TestCreate(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 7)
	out := filepath.Join(t.TempDir(), "out")
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "v3", "-o", out)
	assert.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.err, "of them placed; 1 function written, 0 left out\n")
	assert.Empty(t, r.out)

	data, err := os.ReadFile(out)
	require.NoError(t, err)
	p, err := gcov.ParseBytes(data)
	require.NoError(t, err)
	require.Equal(t, 1, p.NumFunctions())
	for s, f := range p.Functions() {
		assert.Equal(t, "loop", p.SymbolName(s))
		assert.Equal(t, filepath.Join(filepath.Dir(program), "prog.c"), p.UnitPath(p.SymbolUnit(s)))
		assert.Equal(t, uint64(7), f.HeadCount)
		lines := make(map[uint32]uint64)
		for _, r := range f.Records {
			lines[r.Line] = r.Count
		}
		assert.Equal(t, uint64(50), lines[2])
	}

	text := mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "text", "--strip-prefix", filepath.Dir(program))
	assert.Contains(t, text, `"prog.c"`)
	text = mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "text", "--map-prefix", filepath.Dir(program)+"=/src")
	assert.Contains(t, text, `"/src/prog.c"`)

	// Two recordings add up, and so do they on the way over text.
	double := filepath.Join(t.TempDir(), "double")
	r = afdoRun("create", "--binary", program, "--profile", in, "--profile", in, "--to", "samples", "-o", double)
	assert.Equal(t, 0, r.status, r.err)
	once := mustCreate(t, "create", "--binary", program, "--profile", double, "--to", "text")
	twice := mustCreate(t, "create", "--binary", program, "--profile", in, "--profile", in, "--to", "text")
	assert.Equal(t, once, twice)
	assert.Contains(t, once, "100")
}

// mustCreate runs the command, which must succeed, and returns its output.
func mustCreate(t *testing.T, args ...string) string {
	t.Helper()
	r := afdoRun(args...)
	require.Equal(t, 0, r.status, r.err)
	return r.out
}

func TestCreateJSON(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 0)
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "v2", "-o", filepath.Join(t.TempDir(), "out"), "--json")
	require.Equal(t, 0, r.status, r.err)
	assert.NotContains(t, r.err, "placed", "what JSON has is not said twice")
	facts := produce.CreateFacts{ProfileFacts: new(produce.ProfileFacts)}
	keepJSON(t, "create", r.out)
	d := json.NewDecoder(strings.NewReader(unversioned(r.out)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&facts))
	assert.Equal(t, 1, facts.Functions)
	assert.Equal(t, "addresses", facts.Counted)
	assert.True(t, facts.EstimatedHeads)
	assert.Equal(t, facts.Samples, facts.Placed)
	assert.InDelta(t, 1, facts.PlacedShare, 0)
	assert.Equal(t, []produce.CreateInput{{File: in, Format: "address samples", Samples: facts.Samples, InBinary: facts.Samples}}, facts.Inputs)
}

// TestCreateAddsUpObjects checks that the samples of other files than the program are added up over
// all recordings.
func TestCreateAddsUpObjects(t *testing.T) {
	f := &produce.CreateFacts{Objects: []samples.Object{}}
	libc := samples.Object{Name: "libc.so", Samples: 5}
	f.Read("1", &samples.Report{Samples: 7, Objects: []samples.Object{libc, {Name: "vdso", Samples: 1}}})
	f.Read("2", &samples.Report{Samples: 9, Objects: []samples.Object{{Name: "prog", Samples: 2, Ours: true}, {Name: "ld.so", Samples: 7}, libc}})
	assert.Equal(t, []samples.Object{{Name: "libc.so", Samples: 10}, {Name: "ld.so", Samples: 7}, {Name: "vdso", Samples: 1}}, f.Objects)
	assert.Equal(t, uint64(16), f.Samples)
}

func TestPathChanges(t *testing.T) {
	for _, c := range []struct{ strip, change, want string }{
		{"", "/build/src=/src", "/src/a.c"},
		{"", "/build/src/=/src//", "/src/a.c"},
		{"", "/build/src=/", "/a.c"},
		{"", "/build/src=", "a.c"},
		{"", "/=/root/", "/root/build/src/a.c"},
		{"", "/build/sr=/src", "/build/src/a.c"},
		{"/", "/other=x", "build/src/a.c"},
		{"/build", "/build/src=/src", "/src/a.c"},
	} {
		p := produce.PathChanges{Maps: []string{c.change}}
		if c.strip != "" {
			p.Strip = []string{c.strip}
		}
		require.NoError(t, p.Check())
		assert.Equal(t, c.want, p.Change()("/build/src/a.c"), c)
	}
}

// TestCreateRefuses checks that create writes nothing without a sample in the program, and that the
// error says what to do.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	plain := filepath.Join(t.TempDir(), "plain")
	toolOutput(t, ".", testenv.Tool(t, "objcopy"), "--strip-debug", program, plain)
	in := sampled(t, program, "loop", 50, 0)
	elsewhere := writeFile(t, "elsewhere", []byte("0\n1\n7fffffff:12\n0\n"))
	for name, c := range map[string]struct {
		status int
		args   []string
		err    string
	}{
		"no debug info":    {1, []string{"--binary", plain, "--profile", in}, "compile with -g1 or more, or name"},
		"no branches":      {1, []string{"--binary", program, "--profile", in, "--need-branches"}, "the samples have no branches"},
		"threshold":        {1, []string{"--binary", program, "--profile", in, "--min-samples", "1000000"}, "lower --min-samples"},
		"another file":     {1, []string{"--binary", program, "--profile", elsewhere}, "no sample lies in a function of the binary"},
		"no profile":       {1, []string{"--binary", program, "--profile", "nowhere"}, "nowhere: no such file"},
		"no binary":        {1, []string{"--binary", "nowhere", "--profile", in}, "no such file"},
		"not a binary":     {1, []string{"--binary", in, "--profile", in}, "bad ELF file"},
		"other debug":      {1, []string{"--binary", program, "--profile", in, "--debug-file", compileC(t, editedProgram, "-g")}, "debug file of another build"},
		"what format":      {2, []string{"--binary", program, "--profile", in, "--input", "x"}, `invalid argument "x" for "--input" flag: want one of perf, script, callgrind, samples, preagg, pprof, otlp`},
		"contradiction":    {2, []string{"--binary", program, "--no-branches", "--need-branches"}, "contradict"},
		"no sources":       {2, []string{"--binary", program, "--source", "x", "--no-sources"}, "source no-sources"},
		"json and output":  {2, []string{"--binary", program, "--json"}, "--json writes to standard output"},
		"contexts":         {2, []string{"--binary", program, "--profile", in, "--contexts"}, "needs a format that has them"},
		"binary, contexts": {2, []string{"--binary", program, "--profile", in, "--contexts", "--to", "binary"}, "needs a format that has them: --to extbinary or sampletext"},
		"one without":      {1, []string{"--binary", program, "--profile", in, "--profile", in, "--contexts", "--to", "extbinary"}, "samples: no sample has both a call stack and a branch stack"},
		"lines, contexts":  {2, []string{"--binary", program, "--profile", in, "--contexts", "--no-probes"}, "--contexts needs pseudo probes"},
		"no stacks":        {1, []string{"--binary", program, "--profile", in, "--contexts", "--to", "extbinary"}, "perf record -b --call-graph fp"},
		"prefix":           {2, []string{"--binary", program, "--map-prefix", "x"}, "OLD=NEW"},
		"process":          {1, []string{"--binary", program, "--profile", in, "--pid", "3"}, in + ": --pid is for perf.data and perf script, not for address samples"},
		"build ID":         {2, []string{"--binary", program, "--profile", in, "--build-id", "xyz"}, "not hexadecimal digits"},
		"nothing to read":  {1, []string{"--binary", program, "--profile", "-"}, "afdo: standard input: not a recording of samples: it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"create", "--to", "text"}, c.args...)
			r := afdoRun(args...)
			assert.Equal(t, c.status, r.status)
			assert.Contains(t, r.err, c.err)
			assert.Empty(t, r.out)
		})
	}
}

// A program without build ID that was written anew after it ran is not taken for the one that ran.
func TestCreateRefusesNewerBinary(t *testing.T) {
	t.Parallel()
	program := compileOwn(t, createdProgram, "-g", "-Wl,--build-id=none")
	script := fmt.Sprintf("PERF_RECORD_MMAP2 7/7: [0x10000000(0x100000) @ 0 08:01 1 1]: r-xp %s\n", program)
	for offset := range mustSamples(t, program).Addresses.All() {
		script += fmt.Sprintf("%x\n", 0x10000000+offset)
	}
	in := writeFile(t, "script", []byte(script))
	args := []string{"create", "--binary", program, "--profile", in, "--to", "text", "--min-samples", "0"}
	require.Zero(t, afdoRun(args...).status)
	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(program, later, later))
	r := afdoRun(args...)
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "is newer than the recording, which has no build ID of it")
	assert.Empty(t, r.out)
	require.Zero(t, afdoRun(append(args, "--name", "prog$")...).status)
}

// A build ID proves that it is the program that ran, even if addresses do not fit its instructions,
// because the program changes its code at run time.
func TestCreateTrustsBuildID(t *testing.T) {
	t.Parallel()
	const id = "0123456789abcdef0123456789abcdef01234567"
	program := compileOwn(t, createdProgram, "-g", "-Wl,--build-id=0x"+id)
	for ran, status := range map[string]int{"<" + id + ">": 0, "08:01 1 1": 1} {
		script := fmt.Sprintf("PERF_RECORD_MMAP2 7/7: [0x10000000(0x100000) @ 0 %s]: r-xp %s\n", ran, program)
		for offset := range mustSamples(t, program).Addresses.All() {
			script += fmt.Sprintf("%x\n", 0x10000000+offset+1)
		}
		in := writeFile(t, "script", []byte(script))
		r := afdoRun("create", "--binary", program, "--profile", in, "--to", "text", "--min-samples", "0", "--allow-poor")
		assert.Equal(t, status, r.status, "%s: %s", ran, r.err)
	}
}

// TestCreateNameOfSeveralFiles checks that --name is refused if it matches libraries as well: their
// addresses are not the program's.
func TestCreateNameOfSeveralFiles(t *testing.T) {
	t.Parallel()
	program := compileOwn(t, createdProgram, "-g")
	recording := "version: 1\npositions: instr\nevents: Ir\nob=" + program + "\n"
	for offset := range mustSamples(t, program).Addresses.All() {
		recording += fmt.Sprintf("%#x 100\n", offset)
	}
	recording += "ob=/lib/libc.so.6\n0x1 5000\ntotals: 1\n"
	in := writeFile(t, "recording", []byte(recording))
	args := []string{"create", "--binary", program, "--profile", in, "--to", "text", "--name"}
	r := afdoRun(append(args, ".")...)
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "--name . selects /lib/libc.so.6 as well as the program: give a pattern that only the program matches, such as '/prog$'")
	assert.Empty(t, r.out)
	r = afdoRun(append(args, "/prog$")...)
	require.Zero(t, r.status, r.err)
}

// mustSamples returns samples of a program.
func mustSamples(t *testing.T, program string) *samples.Set {
	t.Helper()
	set, err := samples.Parse(strings.NewReader(mustCreate(t, "create", "--binary", program, "--profile", sampled(t, program, "loop", 50, 0), "--to", "samples")))
	require.NoError(t, err)
	return set
}

// TestCreateWarns checks that create warns about samples in code without debug lines.
func TestCreateWarns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bare.c"), []byte("int bare(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= s * 3 + i; return s; }\n"), 0o600))
	object := filepath.Join(dir, "bare.o")
	if out, err := exec.Command("gcc", "-O2", "-c", filepath.Join(dir, "bare.c"), "-o", object).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v %s", err, out)
	}
	program := compileC(t, createdProgram+"int bare(int); int other(int n) { return bare(n); }\n", "-g", object)
	r := afdoRun("create", "--binary", program, "--profile", sampled(t, program, "loop", 50, 0), "--profile", sampled(t, program, "bare", 500, 0), "--to", "text")
	assert.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.err, "of the samples have a place in the profile")
	assert.Contains(t, r.err, "such as bare")

	r = afdoRun("create", "--binary", program, "--profile", sampled(t, program, "bare", 500, 0), "--to", "text")
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.err, "debug info says nothing of the code that was sampled")
	assert.Contains(t, r.err, "bare")
}

// TestCreateWarnsOfBranches checks the warning about branch stacks without any branch of the
// program. perf script prints such stacks if it is asked for offsets.
func TestCreateWarnsOfBranches(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	set := mustSamples(t, program)
	const base = 0x10000000
	script := fmt.Sprintf("PERF_RECORD_MMAP2 7/7: [%#x(0x100000) @ 0 08:01 1 1]: r-xp %s\n", base, program)
	for offset := range set.Addresses.All() {
		script += fmt.Sprintf("%x  0x%x/0x%x/P/-/-/1 0x%x/0x%x/P/-/-/1\n", base+offset, offset, offset, offset, offset)
	}
	in := writeFile(t, "script", []byte(script))
	r := afdoRun("create", "--binary", program, "--profile", in, "--to", "text", "--min-samples", "0")
	require.Equal(t, 0, r.status, r.err)
	assert.Contains(t, r.err, "none has branches of "+program+", so sampled addresses are counted; if it did branch, print addresses, with -F brstack")
	r = afdoRun("create", "--binary", program, "--profile", in, "--to", "text", "--min-samples", "0", "--no-branches")
	assert.NotContains(t, r.err, "none has branches")
}

// TestCreateFormat checks that without --to, the extension of the output's name selects the format,
// and that the format is v4c for other names.
func TestCreateFormat(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 0)
	for name, format := range map[string]string{"prog.afdo": "v4c", "prog": "v4c", "prog.txt": "text", "prog.v2": "v2"} {
		out := filepath.Join(t.TempDir(), name)
		r := afdoRun("create", "--binary", program, "--profile", in, "-o", out)
		require.Equal(t, 0, r.status, r.err)
		assert.Contains(t, r.err, "; 1 function written, 0 left out")
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.Equal(t, mustCreate(t, "create", "--binary", program, "--profile", in, "--to", format), string(got), name)
	}
}
