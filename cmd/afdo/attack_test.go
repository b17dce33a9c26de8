//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// An attacked is a kind of file that TestAttack damages, and the verbs that read it.
type attacked struct {
	kind  string
	seeds func(t *testing.T, dir string) []string // writes the undamaged files and returns their paths
	lines []string                                // command lines: FILE is the damaged file, whose size bounds the memory; SEED is the undamaged one, OUT an output
}

// The command lines to run on damaged profiles: GCOV and sample profiles, and LLVM's others.
var (
	profileLines = []string{
		"check FILE", "show FILE", "show FILE --json", "top FILE", "units FILE", "lookup FILE -s main", "fingerprint FILE",
		"convert FILE --to text -o OUT", "convert FILE --to v4c --index -o OUT", "convert FILE --to v3 -o OUT", "convert FILE --to extbinary -o OUT",
		"merge FILE SEED -o OUT", "diff SEED FILE", "pprof FILE -o OUT", "slice FILE -u shop.c -o OUT", "index FILE -o OUT", "report FILE -o OUT",
	}
	llvmLines = []string{
		"check FILE", "show FILE", "show FILE --json", "top FILE", "lookup FILE -s main", "merge FILE SEED -o OUT", "diff SEED FILE",
		"convert FILE --to profdata -o OUT", "convert FILE --to proftext -o OUT", "convert FILE --to memprof -o OUT", "convert FILE --to yaml -o OUT",
	}
)

// attacks returns the kinds of files that TestAttack damages.
func attacks() []attacked {
	return []attacked{
		{"profiles of versions 2 to 4, and their text", converted(example(".afdo"), "v4", "v4c", "v4c --index", "v3", "v2", "text"), profileLines},
		{"LLVM's sample profiles", converted(example(".afdo"), "extbinary", "binary", "sampletext", "extbinary --compress"), profileLines},
		{"instrumentation profiles", instrumentationSeeds, llvmLines},
		{"memory profiles", memorySeeds, llvmLines},
		{"recordings", recordingSeeds, []string{"create --binary BINARY --profile FILE -o OUT", "create --binary BINARY --profile FILE --to fdata -o OUT", "show FILE"}},
		{"programs", programSeeds, []string{"create --binary FILE --profile RECORDING -o OUT", "layout --binary FILE --profile RECORDING -o OUT", "create --binary FILE --profile RECORDING --to extbinary -o OUT"}},
		{"layout lists", listSeeds, []string{"exec --fallback --layout PREFIX -- CLANG -O2 -c -o OUT SOURCE.c"}},
	}
}

// converted returns a function that converts a profile to each of the formats, as seeds.
func converted(from string, formats ...string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) (seeds []string) {
		for i, format := range formats {
			seeds = append(seeds, filepath.Join(dir, fmt.Sprint("seed", i)))
			args := append([]string{"convert", from, "-o", seeds[i], "--to"}, strings.Fields(format)...)
			r := afdoRun(args...)
			require.Zero(t, r.status, "%q: %s", args, r.err)
		}
		return seeds
	}
}

func instrumentationSeeds(t *testing.T, dir string) []string {
	seeds := converted(writeFile(t, "instr", []byte(instrSeed)), "profdata", "profdata --indexed-version 14", "proftext")(t, dir)
	raw := filepath.Join(dir, "raw")
	require.NoError(t, os.WriteFile(raw, gen.SharedCounters(20, 40, 0), 0o666))
	return append(seeds, raw)
}

func memorySeeds(t *testing.T, dir string) []string {
	seeds := converted(writeFile(t, "memory", []byte(memorySeed)), "memprof", "yaml")(t, dir)
	raw := filepath.Join(dir, "raw")
	require.NoError(t, os.WriteFile(raw, gen.RawMemory(10, 100, 2, 1), 0o666))
	return append(seeds, raw)
}

// recordingSeeds returns the paths of recordings in several formats: of callgrind, afdo record,
// perf and pprof, and addresses as text. Those that it makes are of a program that it stores as
// BINARY in dir.
func recordingSeeds(t *testing.T, dir string) []string {
	program := compileC(t, randomBranches, "-O1", "-g")
	require.NoError(t, os.Symlink(program, filepath.Join(dir, "BINARY")))
	counted, stepped := filepath.Join(dir, "callgrind.out"), filepath.Join(dir, "perf.data")
	toolOutput(t, dir, testenv.Tool(t, "valgrind"), "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file="+counted, program, "2000")
	seeds := []string{counted}
	if r := afdoRun("record", "--event", "steps", "--overhead", "50%", "-o", stepped, "--", program, "4000000"); r.status == 0 {
		seeds = append(seeds, stepped)
	}
	for _, pattern := range []string{"tools/*.data", "tools/*.script", "otlp/1.1*.*"} {
		more, err := filepath.Glob(filepath.Join("../../input/samples/testdata", pattern))
		require.NoError(t, err)
		seeds = append(seeds, more...)
	}
	addresses := filepath.Join(dir, "addresses")
	require.NoError(t, os.WriteFile(addresses, everywhere(8_000), 0o666))
	return append(seeds, addresses)
}

// programSeeds returns programs of GCC, clang, Go and, where it is installed, Rust, and of package
// gen.
func programSeeds(t *testing.T, dir string) []string {
	require.NoError(t, os.WriteFile(filepath.Join(dir, "RECORDING"), everywhere(100_000), 0o666))
	seeds := []string{
		compileC(t, randomBranches, "-O1", "-g"), compileC(t, randomBranches, "-O2", "-g", "-gz", "-gsplit-dwarf"),
		buildLaidOut(t, dir, "-fbasic-block-address-map", "-g"), filepath.Join(dir, "of-go"),
	}
	source := writeFile(t, "main.go", []byte("package main\n\nimport \"strconv\"\n\nfunc main() { println(strconv.Itoa(7)) }\n"))
	toolOutput(t, dir, "go", "build", "-o", "of-go", source)
	if rustc := testenv.Optional(t, "rustc"); rustc != "" {
		source := writeFile(t, "main.rs", []byte("fn main() { let v: Vec<u64> = (1..9).map(|x| x * 3).collect(); println!(\"{:?}\", v); }\n"))
		toolOutput(t, dir, rustc, "-g", "-O", "-o", "of-rust", source)
		seeds = append(seeds, filepath.Join(dir, "of-rust"))
	}
	for i, data := range [][]byte{gen.SharedRanges(20, 30), gen.DeepInlining(30), gen.SharedLines(5, 50)} {
		seeds = append(seeds, filepath.Join(dir, fmt.Sprint("generated", i)))
		require.NoError(t, os.WriteFile(seeds[len(seeds)-1], data, 0o666))
	}
	return seeds
}

// listSeeds returns the layout list that "afdo layout" makes for clang.
func listSeeds(t *testing.T, dir string) []string {
	program := buildLaidOut(t, dir, "-fbasic-block-address-map")
	recording := filepath.Join(dir, "callgrind.out")
	toolOutput(t, dir, testenv.Tool(t, "valgrind"), "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file="+recording, program)
	require.Zero(t, afdoRun("layout", "--binary", program, "--profile", recording, "-o", filepath.Join(dir, "laid")).status)
	require.NoError(t, os.Symlink(filepath.Join(dir, "prog.c"), filepath.Join(dir, "SOURCE.c")))
	require.NoError(t, os.Symlink(llvmTool(t, "clang"), filepath.Join(dir, "clang")))
	return []string{filepath.Join(dir, "laid_cc_profile.txt")}
}

// TestAttack damages files of each kind and runs a verb on each mutant in a process of its own. The
// verb must not panic, must stay within the bounds of SECURITY.md for memory and time, and must
// leave no output if it fails. AFDO_MUTANTS is the number of mutants of each kind, AFDO_SEED
// chooses them.
func TestAttack(t *testing.T) {
	testenv.NeedSweep(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	mutants := 40
	if os.Getenv("AFDO_MUTANTS") != "" {
		mutants = testenv.Mutants()
	}
	seed := uint64(44)
	_, _ = fmt.Sscan(os.Getenv("AFDO_SEED"), &seed)
	var mu sync.Mutex
	for _, a := range attacks() {
		t.Run(a.kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			seeds := a.seeds(t, dir)
			r := rand.New(rand.NewPCG(seed, uint64(len(a.kind))))
			worst, at, done := 0.0, "", 0
			for range mutants {
				from := seeds[r.IntN(len(seeds))]
				data, err := os.ReadFile(from)
				require.NoError(t, err)
				mutant := mutated(r, data)
				part, line := attack(t, dir, from, mutant, a.lines[r.IntN(len(a.lines))])
				if part < 0 {
					continue
				}
				done++
				if part > worst {
					worst, at = part, line
				}
			}
			mu.Lock()
			defer mu.Unlock()
			t.Logf("| %s | %d | %d | %.0f%% | `afdo %s` |", a.kind, mutants, done, 100*worst, at)
		})
	}
}

// attack runs a verb on a damaged file. It returns the used share of the memory that the verb may
// use, or -1 if the verb did something wrong. Then it keeps the file.
func attack(t *testing.T, dir, seed string, mutant []byte, line string) (part float64, verb string) {
	file, out := filepath.Join(dir, "mutant"), filepath.Join(dir, "out")
	if strings.Contains(line, "PREFIX") {
		file = filepath.Join(dir, "hostile_cc_profile.txt")
	}
	require.NoError(t, os.WriteFile(file, mutant, 0o777))
	size := int64(strings.Count(line, "FILE")) * unpackedSize(t, file)
	for _, other := range []string{"SEED", "BINARY", "RECORDING"} {
		if path := filepath.Join(dir, other); strings.Contains(line, other) {
			if other == "SEED" {
				path = seed
			}
			size += unpackedSize(t, path)
		}
	}
	args := strings.Fields(strings.NewReplacer(
		"--profile FILE", "--profile "+file, "FILE", file, "SEED", seed, "OUT", out, "BINARY", filepath.Join(dir, "BINARY"), "RECORDING", filepath.Join(dir, "RECORDING"),
		"PREFIX", filepath.Join(dir, "hostile"), "CLANG", filepath.Join(dir, "clang"), "SOURCE", filepath.Join(dir, "SOURCE"),
	).Replace(line))
	c := costOf(t, args)
	limit := int64(freeMemory) + memoryPerByte*size
	fine := assert.Contains(t, []int{0, 1, 2}, c.status, "%s: %s", line, c.said) &&
		assert.NotContains(t, c.said, "goroutine ", line) &&
		assert.Less(t, c.most, limit, line) &&
		assert.Less(t, c.spent, mostTime, line)
	if c.status != 0 {
		fine = assert.NoFileExists(t, out, line) && fine
	}
	require.NoError(t, removeOutputs(dir))
	if !fine {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("afdo-mutant-%x", rand.Uint32()))
		require.NoError(t, os.WriteFile(kept, mutant, 0o666))
		t.Logf("the mutant is %s, of %s: %s", kept, seed, line)
		return -1, line
	}
	return float64(c.most) / float64(limit), line
}

// removeOutputs removes the files that a verb has written into a folder.
func removeOutputs(dir string) error {
	outputs, err := filepath.Glob(filepath.Join(dir, "out*"))
	for _, path := range outputs {
		if err == nil {
			err = os.RemoveAll(path)
		}
	}
	return err
}

// mutated returns a damaged copy of data: a few bytes or a number changed, a block removed,
// repeated, moved or filled, or the end cut off.
func mutated(r *rand.Rand, data []byte) []byte {
	out := append([]byte(nil), data...)
	for range 1 + r.IntN(3) {
		if len(out) < 16 {
			return out
		}
		at := r.IntN(len(out) - 8)
		if r.IntN(3) == 0 {
			at = r.IntN(min(len(out)-8, 512)) // headers matter more
		}
		length := min(1+r.IntN(1<<r.IntN(14)), len(out)-at)
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			out = gen.Damage(r, out, 0)
		case 4:
			numbers := []uint64{0, 1, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64, uint64(len(out)), r.Uint64()}
			binary.LittleEndian.PutUint64(out[at:], numbers[r.IntN(len(numbers))])
		case 5:
			out = append(out[:at:at], out[at+length:]...)
		case 6:
			out = append(out[:at+length:at+length], out[at:]...)
		case 7:
			copy(out[r.IntN(len(out)):], data[min(at, len(data)):min(at+length, len(data))])
		case 8:
			for i := at; i < at+length; i++ {
				out[i] = byte(r.IntN(2) * 0xff)
			}
		case 9:
			out = out[:at]
		}
	}
	return out
}
