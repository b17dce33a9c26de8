package main

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// randomBranches has lines that run in fixed shares of a loop's rounds, in an order that no
// sampling period can follow.
const randomBranches = `#include <stdlib.h>
static unsigned state = 1;
__attribute__((noinline)) static unsigned next(void) {
	state = state * 1103515245u + 12345u;
	return state >> 8;
}
__attribute__((noinline)) static int rare(int x) {
	return x ^ 77;
}
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
	}
	return s;
}
int main(int argc, char **argv) {
	return work(atoi(argv[1])) == 12345;
}
`

// lineShares returns the share of the counts of a function that each of its locations has.
func lineShares(t *testing.T, text, function string) map[[2]uint32]float64 {
	t.Helper()
	p, err := textfmt.Parse(strings.NewReader(text))
	require.NoError(t, err)
	shares, sum := make(map[[2]uint32]float64), 0.0
	for s, f := range p.Functions() {
		for _, r := range f.Records {
			if p.SymbolName(s) == function && r.Kind == profile.KindCount {
				shares[[2]uint32{r.Line, r.Discriminator}] += float64(r.Count)
				sum += float64(r.Count)
			}
		}
	}
	for at := range shares {
		shares[at] /= sum
	}
	return shares
}

// Callgrind and branch stacks of steps give each line of a program the same share, within the
// sampling error.
func TestRecordingsAgree(t *testing.T) {
	testenv.NeedSweep(t)
	valgrind := testenv.Tool(t, "valgrind")
	program := compileC(t, randomBranches, "-O1", "-g")
	dir := t.TempDir()
	counted, stepped := filepath.Join(dir, "callgrind.out"), filepath.Join(dir, "perf.data")
	out, err := exec.Command(valgrind, "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file="+counted, program, "20000").CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := afdoRun("record", "--event", "steps", "--overhead", "50%", "-o", stepped, "--", program, "40000000")
	if r.status != 0 {
		t.Skipf("steps cannot be recorded here: %s", r.err)
	}
	shares := func(recording string) map[[2]uint32]float64 {
		return lineShares(t, mustCreate(t, "create", "--binary", program, "--profile", recording, "--to", "text", "--allow-poor"), "work")
	}
	shown := afdoRun("show", "--json", stepped)
	require.Zero(t, shown.status, shown.err)
	var facts struct {
		Stacks float64 `json:"branch_stacks"`
	}
	require.NoError(t, json.Unmarshal([]byte(shown.out), &facts))
	const rounds = 10 // of the loop that a branch stack of some 60 branches shows
	exact, sampled := shares(counted), shares(stepped)
	require.Len(t, sampled, len(exact))
	for at, share := range exact {
		assert.InDelta(t, share, sampled[at], 4*math.Sqrt(share*(1-share)/(rounds*facts.Stacks))+0.001, "line %d.%d", at[0], at[1])
	}
}
