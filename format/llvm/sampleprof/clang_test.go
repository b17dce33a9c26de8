package sampleprof

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// compileFlags are the flags with which clang compiles the test program. Their debug info locates
// samples by discriminator.
var compileFlags = []string{
	"-O2", "-gmlt", "-fdebug-info-for-profiling", "-fno-inline-functions", "-fno-omit-frame-pointer",
	"-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-no-pie",
}

func runTool(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).Output()
	require.NoError(t, err, "%s %s", tool, args)
	return string(out)
}

// An instruction of a disassembled function.
type instruction struct {
	at, target uint64
	name, rest string
}

var (
	functionLine    = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:`)
	instructionLine = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S+)\s*(?:0x([0-9a-f]+))?(.*)`)
)

func disassemble(t *testing.T, program string) map[string][]instruction {
	t.Helper()
	functions := map[string][]instruction{}
	name := ""
	for line := range strings.Lines(runTool(t, llvmTool(t, "llvm-objdump"), "-d", "--no-show-raw-insn", program)) {
		if m := functionLine.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := instructionLine.FindStringSubmatch(line); m != nil {
			at, err := strconv.ParseUint(m[1], 16, 64)
			require.NoError(t, err)
			target, _ := strconv.ParseUint(m[3], 16, 64)
			functions[name] = append(functions[name], instruction{at, target, m[2], m[4]})
		}
	}
	return functions
}

// perfScript returns an invented output of perf script for the hot loop of the program, with
// branches and call stacks.
func perfScript(t *testing.T, program string) string {
	t.Helper()
	code := disassemble(t, program)
	find := func(function, name, rest string) (i instruction, next uint64) {
		list := code[function]
		n := slices.IndexFunc(list, func(i instruction) bool {
			return strings.HasPrefix(i.name, name) && strings.Contains(i.rest, rest)
		})
		require.GreaterOrEqual(t, n, 0, "%s in %s", name, function)
		return list[n], list[min(n+1, len(list)-1)].at
	}
	call, after := find("big", "call", "<next>")
	ret, _ := find("next", "ret", "")
	jl, _ := find("big", "jl", "big")
	for _, i := range code["big"] {
		if i.name == "jl" && i.at > after {
			jl = i
		}
	}
	jg, _ := find("big", "jg", "")
	_, inRun := find("run", "call", "<big>")
	_, inMain := find("main", "call", "<run>")
	cycle := [][2]uint64{{call.at, call.target}, {ret.at, after}, {jl.at, jl.target}, {jg.at, jg.target}}
	var branches []string
	for i := 26; i >= 0; i-- {
		branches = append(branches, fmt.Sprintf("0x%x/0x%x/P/-/-/0", cycle[i%4][0], cycle[i%4][1]))
	}
	sample := fmt.Sprintf("\t%x\n\t%x\n\t%x\n %s\n\n", jl.target, inRun, inMain, strings.Join(branches, " "))
	return fmt.Sprintf("PERF_RECORD_MMAP2 1/1: [0x401000(0x1000) @ 0x1000 08:01 1 1]: r-xp %s\n\n", program) + strings.Repeat(sample, 200)
}

// collected returns profiles that llvm-profgen makes of the samples of perfScript. The key of each
// is the kind of the profile.
func collected(t *testing.T, dir string, flags ...string) map[string][]byte {
	t.Helper()
	clang, profgen := llvmTool(t, "clang"), llvmTool(t, "llvm-profgen")
	program := filepath.Join(dir, "program")
	runTool(t, clang, slices.Concat(compileFlags, flags, []string{filepath.Join("testdata", "program.c"), "-o", program})...)
	script := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte(perfScript(t, program)), 0o666))
	files := map[string][]byte{}
	for _, option := range []string{"--ignore-stack-samples", "--gen-cs-nested-profile=0", "", "--use-md5"}[:testenv.Rounds(1, 4)] {
		out := filepath.Join(dir, "profile")
		args := []string{"--perfscript=" + script, "--binary=" + program, "--output=" + out, "--format=extbinary"}
		if option != "" {
			args = append(args, option)
		}
		runTool(t, profgen, args...)
		data, err := os.ReadFile(out)
		require.NoError(t, err)
		files[option] = data
	}
	return files
}

// TestCollectedAsLLVM reads profiles that llvm-profgen made: context-sensitive, pre-inlined and
// probe-based. They must read as in LLVM. Clang must generate the same code from the files that
// this package writes as from LLVM's files.
func TestCollectedAsLLVM(t *testing.T) {
	for name, flags := range map[string][]string{"lines": nil, "probes": {"-fpseudo-probe-for-profiling"}} {
		t.Run(name, func(t *testing.T) {
			if name == "probes" {
				testenv.NeedSweep(t)
			}
			t.Parallel()
			l := newLLVM(t)
			without := l.compile(t, flags, nil)
			for option, data := range collected(t, l.dir, flags...) {
				p := decoded(t, data)
				text := l.text(data)
				require.Contains(t, text, "1200", "the hot loop")
				require.Equal(t, text, textOf(t, p), "%s", option)
				assert.Equal(t, option == "--gen-cs-nested-profile=0", p.ContextSensitive)
				assert.Equal(t, name == "probes", p.Probes)
				want := l.compile(t, flags, data)
				require.NotEqual(t, without, want, "%s: the profile has no effect", option)
				ours := extBinary(t, p, WriteOptions{})
				require.Equal(t, text, l.text(ours), "%s", option)
				require.Equal(t, want, l.compile(t, flags, ours), "%s", option)
				if option == "" {
					ours = extBinary(t, p, WriteOptions{Compress: true, MD5: true})
					require.Equal(t, want, l.compile(t, flags, ours), "%s, compressed MD5s", option)
				}
				if testenv.Sweep() {
					l.compareSlice(t, flags, p)
				}
			}
		})
	}
}

// compareSlice adds functions to a profile that the program does not have. It compares the code
// that clang generates with that profile and with a slice that leaves the added functions out.
func (l *llvm) compareSlice(t *testing.T, flags []string, p *Profile) {
	t.Helper()
	for i := range 20 {
		name := p.AddName(Name{Text: fmt.Sprintf("foreign%d", i)})
		f := Function{Name: name, Total: 500, HeadCount: 5, Records: []Record{{Kind: KindCount, Line: 1, Count: uint64(100 * i)}}}
		if p.ContextSensitive {
			f.Context = []Frame{{Name: name}}
		}
		p.AddFunction(f)
	}
	whole := extBinary(t, p, WriteOptions{})
	r, err := OpenBytes(whole)
	require.NoError(t, err)
	s, err := r.Slice(func(name string) bool { return !strings.HasPrefix(name, "foreign") })
	if p.NumHashed() > 0 {
		require.ErrorIs(t, err, ErrHashed)
		return
	}
	require.NoError(t, err)
	require.Equal(t, p.NumFunctions()-20, s.NumFunctions())
	var slice bytes.Buffer
	require.NoError(t, s.Write(&slice))
	require.Equal(t, l.compile(t, flags, whole), l.compile(t, flags, slice.Bytes()))
}

// compile returns the code that clang generates for the program with a profile, or without one if
// data is nil. For a program without probes it returns the whole object file. For one with probes
// it leaves out the probe descriptions, because clang writes them in any order.
func (l *llvm) compile(t *testing.T, flags []string, data []byte) string {
	t.Helper()
	out := filepath.Join(l.dir, "program.o")
	args := slices.Concat(compileFlags, flags, []string{"-c", filepath.Join("testdata", "program.c"), "-o", out})
	if data != nil {
		path := filepath.Join(l.dir, "profile.afdo")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		args = append(args, "-fprofile-sample-use="+path)
	}
	runTool(t, llvmTool(t, "clang"), slices.DeleteFunc(args, func(s string) bool { return s == "-no-pie" })...)
	if len(flags) > 0 {
		return runTool(t, llvmTool(t, "llvm-objdump"), "-d", "-r", out)
	}
	object, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(object)
}

// TestClangReadsAllLayouts compiles a program with one profile in every format and layout. The
// object files must be equal.
func TestClangReadsAllLayouts(t *testing.T) {
	testenv.NeedSweep(t)
	l := newLLVM(t)
	p := decoded(t, collected(t, l.dir)["--ignore-stack-samples"])
	want := l.compile(t, nil, []byte(textOf(t, p)))
	require.NotEqual(t, want, l.compile(t, nil, nil))
	assert.Equal(t, want, l.compile(t, nil, binaryOf(t, p)), "older")
	for name, layout := range layouts {
		assert.Equal(t, want, l.compile(t, nil, extBinary(t, p, layout.options)), name)
	}
}
