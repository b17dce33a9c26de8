package main

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/opcode"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// randomBranches has lines that run in fixed shares of a loop's rounds, in an order that no
// sampling period can follow. It has loops of one block, a jump table, an instruction that repeats
// itself, recursion, calls by address, jumps to functions, and code of a library in between.
const randomBranches = `#include <stdlib.h>
#include <string.h>
static unsigned state = 1;
__attribute__((noinline)) static unsigned next(void) {
	state = state * 1103515245u + 12345u;
	return state >> 8;
}
__attribute__((noinline)) static int rare(int x) {
	return x ^ 77;
}
__attribute__((noinline)) static int jumps(int x) {
	x += 3;
	return rare(x * 5);
}
__attribute__((noinline)) static int again(int n, int *at) {
	if (n <= 0)
		return *at;
	int below = again(n - 1 - (n & 2), at);
	return below + n;
}
__attribute__((noinline)) static int chosen(unsigned r, int x) {
	switch (r) {
	case 0: return x * 3;
	case 1: return rare(x) - 1;
	case 2: return abs(x) + 7;
	case 3: return x / 5;
	case 4: x ^= 9; break;
	case 5: x += state; break;
	case 6: return -x;
	}
	return x + 1;
}
static int (*volatile functions[3])(int) = {rare, jumps, abs};
static char buffer[64];
__attribute__((noinline)) static int work(int n) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		unsigned r = next() % 16;
		if (r == 0)
			s += rare(i);
		else if (r < 5)
			s ^= i;
		for (unsigned k = 0; k < r % 4; k++)
			s += next() & 3;
		for (unsigned k = 0; k < r; k++)
			s ^= s << (k & 7);
		if (r == 7) {
			unsigned long bytes = r + 5;
			void *to = buffer;
			__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(i) : "memory");
		}
		s += chosen(r, s) + functions[r % 3](i);
		if (r > 12)
			s += again(r - 6, &s) + (int)strlen(buffer);
	}
	return s;
}
int main(int argc, char **argv) {
	return work(atoi(argv[1])) == 12345;
}
`

// lineShares returns the share of all counts of a profile that each line of its functions has.
func lineShares(t *testing.T, text string) map[string]float64 {
	t.Helper()
	p, err := textfmt.Parse(strings.NewReader(text))
	require.NoError(t, err)
	shares, sum := make(map[string]float64), 0.0
	for s, f := range p.Functions() {
		for _, r := range f.Records {
			if r.Kind == profile.KindCount {
				shares[fmt.Sprintf("%s %d.%d", p.SymbolName(s), r.Line, r.Discriminator)] += float64(r.Count)
				sum += float64(r.Count)
			}
		}
	}
	for at := range shares {
		shares[at] /= sum
	}
	return shares
}

// traced runs a program under valgrind's lackey, which writes the address and the size of each
// instruction, and yields the branches from and to its own code in the order in which they were
// taken. An unconditional jump to the next instruction is a branch, and the next round of an
// instruction that repeats itself is none.
func traced(t *testing.T, program string, args []string, yield func(from, to uint64)) {
	t.Helper()
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	require.NoError(t, err)
	inside := func(at uint64) bool { return at-text.Addr < text.Size }
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	cmd := exec.Command(testenv.Tool(t, "valgrind"), append([]string{"--tool=lackey", "--trace-mem=yes", "--log-fd=3", program}, args...)...)
	cmd.ExtraFiles = []*os.File{out}
	require.NoError(t, cmd.Start())
	require.NoError(t, out.Close())
	var last, size uint64
	for lines := bufio.NewScanner(in); lines.Scan(); {
		position, ok := strings.CutPrefix(lines.Text(), "I  ")
		if !ok {
			continue
		}
		address, length, _ := strings.Cut(position, ",")
		at, err := strconv.ParseUint(address, 16, 64)
		require.NoError(t, err)
		branches := at != last+size
		if inside(last) {
			done := opcode.X86(code[last-text.Addr:], 64)
			branches = branches && !(done.Repeats && at == last) || done.Leaves
		}
		if branches && (inside(last) || inside(at)) {
			yield(last, at)
		}
		last = at
		size, err = strconv.ParseUint(length, 10, 64)
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Wait())
}

// depth is the number of branches in a branch stack of an Intel processor.
const depth = 32

// scripts are branch stacks of a run as text of perf script.
type scripts struct {
	whole   strings.Builder // one stack with all branches
	sampled strings.Builder // stacks at random times
	stacks  int             // number of stacks in sampled
}

func tracedStacks(t *testing.T, program string, args ...string) *scripts {
	t.Helper()
	s := new(scripts)
	random := rand.New(rand.NewPCG(1, 2))
	var branches []string // the oldest first
	traced(t, program, args, func(from, to uint64) {
		branches = append(branches, fmt.Sprintf(" 0x%x/0x%x/P/-/-/1", from, to))
		if len(branches) > depth && random.IntN(20) == 0 {
			printStack(&s.sampled, to, branches[len(branches)-depth:])
			s.stacks++
		}
	})
	printStack(&s.whole, 1, branches)
	return s
}

// printStack prints a branch stack, the newest branch first.
func printStack(w *strings.Builder, at uint64, branches []string) {
	fmt.Fprintf(w, "%x", at)
	for _, b := range slices.Backward(branches) {
		w.WriteString(b)
	}
	w.WriteByte('\n')
}

// Callgrind, branch stacks and steps give each line of a program the same share, within the
// sampling error. The branch stacks of a whole run give the counts of callgrind.
func TestRecordingsAgree(t *testing.T) {
	testenv.NeedSweep(t)
	valgrind := testenv.Tool(t, "valgrind")
	program := compileC(t, randomBranches, "-O1", "-g", "-no-pie")
	dir := t.TempDir()
	counted, stepped := filepath.Join(dir, "callgrind.out"), filepath.Join(dir, "perf.data")
	out, err := exec.Command(valgrind, "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file="+counted, program, "1000").CombinedOutput()
	require.NoError(t, err, "%s", out)
	stacks := tracedStacks(t, program, "1000")
	create := func(recording string) string {
		return mustCreate(t, "create", "--binary", program, "--profile", recording, "--to", "text", "--allow-poor")
	}
	exact := create(counted)
	require.Equal(t, exact, create(writeFile(t, "all", []byte(stacks.whole.String()))))
	agree := func(sampled string, stacks float64) {
		const rounds = 5 // of the loop that a branch stack shows
		want, got := lineShares(t, exact), lineShares(t, sampled)
		for at, share := range want {
			assert.InDelta(t, share, got[at], 4*math.Sqrt(share*(1-share)/(rounds*stacks))+0.001, "line %s", at)
		}
	}
	agree(create(writeFile(t, "some", []byte(stacks.sampled.String()))), float64(stacks.stacks))
	r := afdoRun("record", "--event", "steps", "--overhead", "50%", "-o", stepped, "--", program, "40000000")
	if r.status != 0 {
		t.Skipf("steps cannot be recorded here: %s", r.err)
	}
	shown := afdoRun("show", "--json", stepped)
	require.Zero(t, shown.status, shown.err)
	var facts struct {
		Stacks float64 `json:"branch_stacks"`
	}
	require.NoError(t, json.Unmarshal([]byte(shown.out), &facts))
	agree(create(stepped), facts.Stacks)
}
