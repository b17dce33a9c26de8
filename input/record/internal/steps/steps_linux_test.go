//go:build amd64 || arm64

package steps

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A recorded contains the records and the statistics of a session that has ended.
type recorded struct {
	stats   *Stats
	records []any // values of the types of perfdata, or *perfdata.Sample
	file    []byte
	err     error // of the command
}

// samples returns the samples among the records.
func (r *recorded) samples() []*perfdata.Sample {
	var list []*perfdata.Sample
	for _, record := range r.records {
		if s, ok := record.(*perfdata.Sample); ok {
			list = append(list, s)
		}
	}
	return list
}

// skipUnlessTraceable skips a test if err says that the machine does not permit tracing.
func skipUnlessTraceable(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, ErrNotPermitted) {
		t.Skipf("no process can be traced here: %v", err)
	}
	require.NoError(t, err)
}

// launchAndWait records a command from its start to its end.
func launchAndWait(t *testing.T, c Config, cmd *exec.Cmd) *recorded {
	t.Helper()
	s, err := Start(c)
	require.NoError(t, err)
	skipUnlessTraceable(t, s.Launch(cmd))
	require.NoError(t, s.Begin())
	return collect(t, s, cmd)
}

// collect reads the records of a session to their end. If cmd is not nil, it waits for the command.
func collect(t *testing.T, s *Session, cmd *exec.Cmd) *recorded {
	t.Helper()
	return collectAfter(t, s, cmd, nil)
}

// collectAfter is collect for a session whose first records, data, were already read.
func collectAfter(t *testing.T, s *Session, cmd *exec.Cmd, data []byte) *recorded {
	t.Helper()
	rest, err := io.ReadAll(s.Records())
	require.NoError(t, err)
	data = append(data, rest...)
	r := new(recorded)
	if cmd != nil {
		r.err = cmd.Wait()
	}
	r.stats, err = s.Wait()
	require.NoError(t, err)
	assert.Equal(t, r.stats.Moments, r.stats.Stops+r.stats.Missed, "a moment either stops a thread or is missed")
	var file bytes.Buffer
	require.NoError(t, Head().WriteFile(&file, bytes.NewReader(data), int64(len(data))))
	r.file = file.Bytes()
	reader, err := perfdata.NewReader(bytes.NewReader(r.file))
	require.NoError(t, err)
	for record, err := range reader.Records() {
		require.NoError(t, err)
		switch record := record.(type) {
		case *perfdata.Sample:
			c := *record
			c.Branches = slices.Clone(record.Branches)
			r.records = append(r.records, &c)
		case *perfdata.Fork:
			r.records = append(r.records, *record)
		case *perfdata.Comm:
			r.records = append(r.records, *record)
		}
	}
	return r
}

// untilSample reads the records of a session up to the first sample, and returns them.
func untilSample(t *testing.T, s *Session) (data []byte) {
	t.Helper()
	for {
		var head [8]byte
		_, err := io.ReadFull(s.Records(), head[:])
		require.NoError(t, err)
		body := make([]byte, binary.NativeEndian.Uint16(head[6:])-8)
		_, err = io.ReadFull(s.Records(), body)
		require.NoError(t, err)
		data = append(append(data, head[:]...), body...)
		if binary.NativeEndian.Uint32(head[:]) == unix.PERF_RECORD_SAMPLE {
			return data
		}
	}
}

// build compiles a C program and returns its path.
func build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.WriteFile(program+".c", []byte(source), 0o600))
	args := append([]string{"-O1", "-o", program, program + ".c"}, flags...)
	out, err := exec.Command(testenv.Tool(t, "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// knownLoop is a C program with a loop. A branch in the loop is taken in one of four rounds, and
// each round has a call.
const knownLoop = `
#include <stdio.h>
#include <stdlib.h>
volatile long sum;
__attribute__((noinline)) static void work(long i) { if (i % 4 == 0) sum += 3; else sum ^= i; }
int main(int argc, char **argv) {
	long n = atol(argv[1]);
	for (long i = 0; i < n; i++) work(i);
	printf("%ld\n", sum);
	return 7;
}
`

func TestKnownLoop(t *testing.T) {
	program := build(t, knownLoop)
	cmd := exec.Command(program, "30000000")
	var out bytes.Buffer
	cmd.Stdout = &out
	r := launchAndWait(t, Config{Overhead: 1}, cmd)
	t.Logf("%+v", *r.stats)
	assert.EqualError(t, r.err, "exit status 7")
	assertPeriodic(t, r.samples())
}

// The return from a call of memcpy or memset has the number of bytes, and other branches have none.
func TestCopied(t *testing.T) {
	program := build(t, `
#include <string.h>
#include <stdlib.h>
char a[999], b[999];
int main(int argc, char **argv) {
	long sum = 0;
	for (long n = atol(argv[1]); n > 0; n--) { memcpy(a, b, n % 4 ? argc : 30); memset(b, 1, argc + 500); sum += strlen(b); }
	return sum == 1;
}
`, "-fno-builtin")
	r := launchAndWait(t, Config{Overhead: 1}, exec.Command(program, "3000000"))
	sizes, branches := make(map[uint64]float64), 0
	for _, s := range r.samples() {
		for _, b := range s.Branches {
			if n, ok := b.Flags.Copied(); ok {
				sizes[n]++
			}
			branches++
		}
	}
	require.Equal(t, []uint64{2, 30, 502}, slices.Sorted(maps.Keys(sizes)))
	assert.InDelta(t, 3, sizes[2]/sizes[30], 0.3)
	assert.InDelta(t, 1, sizes[502]/(sizes[2]+sizes[30]), 0.1)
	assert.Greater(t, float64(branches), 3*sizes[502])
}

// assertPeriodic checks that the branches in each sample repeat those of four rounds of the loop in
// knownLoop.
func assertPeriodic(t *testing.T, samples []*perfdata.Sample) {
	t.Helper()
	require.NotEmpty(t, samples)
	const maxPeriod = 30
	for period := 4; period <= maxPeriod; period++ {
		if slices.ContainsFunc(samples, func(s *perfdata.Sample) bool { return !hasPeriod(s.Branches, period) }) {
			continue
		}
		var counts []int
		for _, s := range samples {
			n := make(map[perfdata.Branch]int)
			for _, b := range s.Branches[:min(period, len(s.Branches))] {
				n[b]++
			}
			if len(s.Branches) >= period {
				counts = slices.Sorted(maps.Values(n))
			}
		}
		assert.Equal(t, 4, counts[len(counts)-1], "the branch of each round")
		rare := counts[0] // of the rounds, or of the other rounds: compilers differ
		assert.Contains(t, []int{1, 3}, rare, "the branch of one round in four")
		return
	}
	assert.Fail(t, "the branches of the loop do not repeat")
}

// hasPeriod reports whether a list of branches consists of repetitions of its first branches,
// period of them.
func hasPeriod(list []perfdata.Branch, period int) bool {
	for i := period; i < len(list); i++ {
		if list[i] != list[i-period] {
			return false
		}
	}
	return true
}

// newMemory is a C program that spends most of its time in page faults of its function fill. It
// executes nearly all of its instructions in the function compute.
const newMemory = `
#include <sys/mman.h>
#include <stdlib.h>
volatile long sum;
__attribute__((noinline)) static void fill(char *p) { for (long i = 0; i < 100; i++) p[4096 * i] = 1; }
__attribute__((noinline)) static void compute(void) { for (long i = 0; i < 300000; i++) sum += i; }
int main(int argc, char **argv) {
	char *p = mmap(0, 409600, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long n = atol(argv[1]); n > 0; n--) { fill(p); compute(); madvise(p, 409600, MADV_DONTNEED); }
	return 0;
}
`

// symbolOf returns the symbol of a function in a program file.
func symbolOf(t *testing.T, program, function string) elf.Symbol {
	t.Helper()
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.Symbols()
	require.NoError(t, err)
	return symbols[slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == function })]
}

// samplesIn returns the number of samples that begin in a function of a program, and the number of
// all samples.
func samplesIn(t *testing.T, program, function string, r *recorded) (in, all int) {
	t.Helper()
	f := symbolOf(t, program, function)
	for _, s := range r.samples() {
		if first := s.Branches[len(s.Branches)-1].From; first-f.Value < f.Size {
			in++
		}
	}
	t.Logf("%d of %d samples, %+v", in, len(r.samples()), *r.stats)
	require.NotEmpty(t, r.samples())
	return in, len(r.samples())
}

// Code that causes page faults is sampled by the instructions that it executes, and not by the time
// that the kernel needs for the faults.
func TestPageFaults(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, newMemory, "-no-pie")
	r := launchAndWait(t, Config{Overhead: 0.5, Length: 300}, exec.Command(program, "500"))
	inFill, all := samplesIn(t, program, "fill", r)
	assert.LessOrEqual(t, inFill, all/2)
}

// slowlyFilled is a C program that executes half of its instructions in the function slowly. This
// function touches a new page after about 30,000 instructions.
const slowlyFilled = `
#include <sys/mman.h>
#include <stdlib.h>
volatile long sum;
__attribute__((noinline)) static void slowly(char *p) { for (long i = 0; i < 10000 * 100; i++) { sum += i; p[i / 10000 * 4096] = 1; } }
__attribute__((noinline)) static void compute(char *p) { for (long i = 0; i < 10000 * 100; i++) { sum += i; p[i / 10000 * 4096] = 1; } }
int main(int argc, char **argv) {
	char *p = mmap(0, 409600, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long n = atol(argv[1]); n > 0; n--) { slowly(p); compute(p); madvise(p, 409600, MADV_DONTNEED); }
	return 0;
}
`

// Code that touches a new page from time to time is sampled as often as other code. Its share
// should be 0.5 of the samples. It was 0.36 to 0.44 when the tracer stopped threads from another
// processor.
func TestWorkOnNewMemory(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, slowlyFilled, "-no-pie")
	r := launchAndWait(t, Config{Overhead: 0.5}, exec.Command(program, "200"))
	in, all := samplesIn(t, program, "slowly", r)
	assert.InDelta(t, 0.5, float64(in)/float64(all), 0.1)
}

// allocates is a C program whose functions build and walk execute equally many instructions. build
// calls malloc, which touches a new page after about 15,000 instructions. walk uses no new memory.
const allocates = `
#include <stdlib.h>
struct node { struct node *next; long key; char pad[48]; };
#define PARSE(to) for (long i = 0; i < 60; i++) to = to * 31 + (i ^ to >> 7)
__attribute__((noinline)) static struct node *build(long n) {
	struct node *list = 0;
	while (n-- > 0) { struct node *k = malloc(sizeof *k); k->key = n; PARSE(k->key); k->next = list; list = k; }
	return list;
}
__attribute__((noinline)) static long walk(struct node *l) { long sum = 0; for (; l; l = l->next) { sum += l->key; PARSE(sum); } return sum; }
int main(int argc, char **argv) { return walk(build(atol(argv[1]))) == 1; }
`

// Code that allocates memory is sampled as often as other code, although its page faults occur in
// the C library. Its share should be 0.5 of the samples. It was 0.14 to 0.5 when the tracer stopped
// threads from another processor.
func TestAllocations(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, allocates, "-no-pie", "-O2")
	r := launchAndWait(t, Config{Overhead: 0.5}, exec.Command(program, "3000000"))
	in := branchesIn(t, program, "build", r)
	t.Logf("%.2f, %+v", in, *r.stats)
	assert.InDelta(t, 0.5, in, 0.15)
}

// callsKernel is a C program with four functions that execute equally many instructions. One makes
// no system calls. Two make short system calls, after about 3,000 and 15,000 instructions. One
// makes system calls that take longer than the instructions between them.
const callsKernel = `
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
volatile long sum;
static char buffer[65536];
#define LOOP(n) for (long i = 0; i < (n); i++) sum += i
__attribute__((noinline)) static void compute(void) { LOOP(600000); }
__attribute__((noinline)) static void talks(void) { LOOP(600); }
__attribute__((noinline)) static void speaks(void) { LOOP(3000); }
__attribute__((noinline)) static void waits(void) { LOOP(1500); }
int main(int argc, char **argv) {
	int zero = open("/dev/zero", O_RDONLY);
	for (long n = atol(argv[1]); n > 0; n--) {
		compute();
		for (int i = 0; i < 1000; i++) { talks(); syscall(SYS_getppid); }
		for (int i = 0; i < 200; i++) { speaks(); syscall(SYS_getppid); }
		for (int i = 0; i < 400; i++) { waits(); read(zero, buffer, sizeof buffer); }
	}
	return 0;
}
`

// Code between system calls is sampled by the instructions that it executes, and not by the time of
// the system calls.
func TestSystemCalls(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, callsKernel, "-no-pie")
	r := launchAndWait(t, Config{Overhead: 0.5}, exec.Command(program, "200"))
	shares := make(map[string]float64)
	for _, name := range []string{"compute", "talks", "speaks", "waits"} {
		shares[name] = branchesIn(t, program, name, r)
	}
	t.Logf("%v, %+v", shares, *r.stats)
	for name, share := range shares {
		assert.InDelta(t, 0.25, share, 0.08, name)
	}
}

// takesTurns is a C program with alternating phases: one thread runs, then two threads run. Each
// thread executes equally many instructions.
const takesTurns = `
#include <pthread.h>
#include <stdlib.h>
#define LOOP for (long i = 0; i < 10000000; i++) __asm__ volatile("nop;nop;nop;nop")
__attribute__((noinline)) static void alone(void) { LOOP; }
__attribute__((noinline)) static void *together(void *a) { LOOP; return a; }
int main(int argc, char **argv) {
	for (long n = atol(argv[1]); n > 0; n--) {
		pthread_t other;
		alone();
		pthread_create(&other, 0, together, 0);
		together(0);
		pthread_join(other, 0);
	}
	return 0;
}
`

// A phase of two threads gets twice as many samples as a phase of one thread. Before moments
// depended on the number of running threads, both got equally many.
func TestPhasesOfThreads(t *testing.T) {
	testenv.NeedSweep(t)
	if runtime.NumCPU() < 2 {
		t.Skip("threads cannot run at once on one processor")
	}
	program := build(t, takesTurns, "-no-pie", "-pthread")
	r := launchAndWait(t, Config{Overhead: 0.1}, exec.Command(program, "200"))
	in := branchesIn(t, program, "together", r)
	t.Logf("%.2f, %+v", in, *r.stats)
	assert.InDelta(t, 2./3, in, 0.1)
}

// divides is a C program with two functions that execute equally many instructions. Those of one
// take several times as long, because they divide.
const divides = `
#include <stdlib.h>
volatile unsigned long result;
#define LOOP(operation) unsigned long x = result; for (long i = 0; i < 1000000; i++) __asm__ volatile( \
	"mov %1, %%rax; xor %%edx, %%edx; " operation : "+r"(x) : "r"(i | 7) : "rax", "rdx", "cc"); result = x
__attribute__((noinline)) static void fast(void) { LOOP("add %%rax, %0"); }
__attribute__((noinline)) static void slow(void) { LOOP("add %0, %%rax; div %1; mov %%rax, %0"); }
int main(int argc, char **argv) {
	for (long n = atol(argv[1]); n > 0; n--) { fast(); slow(); }
	return 0;
}
`

// Slow code is sampled as often as fast code that executes as many instructions. It had 0.91 of
// the samples when all bursts had the same number of instructions, and has 0.57 to 0.67.
func TestSlowCode(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, divides, "-no-pie", "-O2")
	r := launchAndWait(t, Config{Overhead: 0.5}, exec.Command(program, "200"))
	in := branchesIn(t, program, "slow", r)
	t.Logf("%.2f, %+v", in, *r.stats)
	assert.InDelta(t, 0.5, in, 0.3)
}

// x87 is a C program with a loop that executes x87 instructions, which are not simulated.
const x87 = `
#include <stdlib.h>
volatile long double sum;
int main(int argc, char **argv) { for (long i = atol(argv[1]); i > 0; i--) sum = sum * 0.5L + i; return 0; }
`

// The statistics contain how many instructions the bursts lack because an instruction could not be
// simulated.
func TestUnknownInstructions(t *testing.T) {
	for source, low := range map[string]float64{x87: 0, knownLoop: 0.95} {
		stats := launchAndWait(t, Config{Overhead: 1}, exec.Command(build(t, source), "30000000")).stats
		seen := float64(stats.Simulated) / float64(stats.Wanted)
		assert.GreaterOrEqual(t, seen, low, "%+v", *stats)
		assert.LessOrEqual(t, seen, low+0.05, "%+v", *stats)
	}
}

// callsLibrary is a C program whose functions alone and calls execute equally many instructions.
// calls calls the C library after about 300 instructions: swab, which executes thousands, and
// strtod, which reads the mode of the floating-point unit.
const callsLibrary = `
#include <stdlib.h>
#include <unistd.h>
volatile double sum;
static char from[1000], to[1000];
#define LOOP(n) for (long i = 0; i < (n); i++) __asm__ volatile("nop;nop;nop;nop")
__attribute__((noinline)) static void alone(void) { LOOP(100000); }
__attribute__((noinline)) static void calls(void) {
	for (long n = 0; n < 1000; n++) { LOOP(50); swab(from, to, 1000); LOOP(50); sum += strtod("1.25", 0); }
}
int main(int argc, char **argv) { for (long n = atol(argv[1]); n > 0; n--) { alone(); calls(); } return 0; }
`

// Code between calls of the C library is sampled as often as other code. Its share should be 0.5.
// It was 0.1 when bursts began only in the program and ended at strtod.
func TestLibraryCalls(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, callsLibrary, "-no-pie")
	in := branchesIn(t, program, "calls", launchAndWait(t, Config{Overhead: 0.5}, exec.Command(program, "4000")))
	t.Logf("%.2f", in)
	assert.InDelta(t, 0.5, in, 0.1)
}

// branchesIn returns the share of all recorded branches whose source is in a function of a program.
func branchesIn(t *testing.T, program, function string, r *recorded) float64 {
	t.Helper()
	f := symbolOf(t, program, function)
	in, all := 0, 0
	for _, s := range r.samples() {
		for _, b := range s.Branches {
			all++
			if b.From-f.Value < f.Size {
				in++
			}
		}
	}
	return float64(in) / float64(all)
}
