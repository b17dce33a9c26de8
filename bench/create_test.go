package bench

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/opcode"
)

// BenchmarkCreate makes a profile of a large program with afdo create and, where it is installed
// and can read the program, with google/autofdo's create_gcov. AFDO_BINARY names the program and
// AFDO_DEBUG_FILE the file with its debug info, if that is another. Ranges of some of its
// functions, chosen at random, are the samples. On Debian,
//
//	apt-get download openjdk-17-jre-headless openjdk-17-dbg
//
// has a library of 24 MB, libjvm.so, with a debug file of 156 MB below .build-id.
func BenchmarkCreate(b *testing.B) {
	binary := os.Getenv("AFDO_BINARY")
	if binary == "" {
		b.Skip("AFDO_BINARY names no program")
	}
	debug := os.Getenv("AFDO_DEBUG_FILE")
	afdo, out := tool(b, module+"cmd/afdo"), filepath.Join(scratch, "created")
	for _, functions := range []int{50, 500, 5000} {
		in := sampleRandomly(b, binary, debug, functions)
		b.Run(fmt.Sprintf("functions=%d/tool=afdo", functions), func(b *testing.B) {
			command := []string{afdo, "create", "--json", "--no-sources", "--binary", binary, "--profile", in, "--to", "v4c", "-o", out}
			if debug != "" {
				command = append(command, "--debug-file", debug)
			}
			var all cost
			for b.Loop() {
				c, said := spawnSaying(b, command...)
				require.Contains(b, said, "neither a build ID nor names")
				all.add(c)
			}
			all.report(b)
		})
		b.Run(fmt.Sprintf("functions=%d/tool=create_gcov", functions), func(b *testing.B) {
			peer, err := exec.LookPath("create_gcov")
			if err != nil {
				b.Skip(err)
			}
			peerOn := func(in string) []string {
				return []string{peer, "--binary=" + binary, "--profiler=text", "--profile=" + in, "--gcov=" + out, "--gcov_version=2"}
			}
			// If create_gcov cannot read the debug info, it prints nothing and writes no function.
			if sizeMade(b, out, peerOn(in)) == sizeMade(b, out, peerOn(noSamples(b))) {
				b.Skip("create_gcov finds no function in this program")
			}
			measureProcess(b, peerOn(in)...)
		})
	}
}

// sizeMade returns the size of the file that a command writes.
func sizeMade(b *testing.B, out string, command []string) int64 {
	said, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	require.NoError(b, err, "%s", said)
	info, err := os.Stat(out)
	require.NoError(b, err)
	return info.Size()
}

// noSamples writes a file of address samples without any samples, and returns its path.
func noSamples(b *testing.B) (path string) {
	path = filepath.Join(scratch, "none.samples")
	require.NoError(b, os.WriteFile(path, []byte("0\n0\n0\n"), 0o666))
	return path
}

// instructions returns the addresses of the instructions of an x86-64 function.
func instructions(b *testing.B, file *elf.File, s symbolize.Symbol) (begins []uint64) {
	code := make([]byte, s.High-s.Low)
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && s.Low >= p.Vaddr && s.High <= p.Vaddr+p.Filesz {
			_, err := p.ReadAt(code, int64(s.Low-p.Vaddr))
			require.NoError(b, err)
		}
	}
	for at := 0; at < len(code); {
		in := opcode.X86(code[at:], 64)
		if in.Size == 0 {
			break
		}
		begins = append(begins, uint64(at))
		at += int(in.Size)
	}
	require.NotEmpty(b, begins)
	return begins
}

// sampleRandomly writes samples of ranges in some functions of a program.
func sampleRandomly(b *testing.B, binary, debug string, functions int) (path string) {
	var options []symbolize.Option
	if debug != "" {
		options = append(options, symbolize.DebugFile(debug))
	}
	f, err := symbolize.Open(binary, options...)
	require.NoError(b, err)
	defer f.Close()
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(b, err)
	var all []symbolize.Symbol
	for s, err := range f.Symbols() {
		require.NoError(b, err)
		if _, isCode := layout.Offset(s.Low); isCode && s.High-s.Low >= 100 {
			all = append(all, s)
		}
	}
	require.NotEmpty(b, all)
	random := rand.New(rand.NewPCG(1, uint64(functions)))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var set samples.Set
	for _, s := range all[:min(functions, len(all))] {
		const ranges = 6
		start, _ := layout.Offset(s.Low)
		begins := instructions(b, f.ELF(), s)
		for range ranges { // each of one instruction, or code might lead elsewhere within
			at := start + begins[random.IntN(len(begins))]
			set.Ranges.Add(samples.Range{Begin: at, End: at}, 100+random.Uint64N(10_000))
		}
	}
	path = filepath.Join(scratch, fmt.Sprintf("random-%d.samples", functions))
	out, err := os.Create(path)
	require.NoError(b, err)
	require.NoError(b, set.Write(out))
	require.NoError(b, out.Close())
	return path
}
