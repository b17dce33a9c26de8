package cdsort

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// Order returns the same order of functions as LLVM's implementation.
func TestLLVM(t *testing.T) {
	testenv.NeedSweep(t)
	const graphs = 200
	var input bytes.Buffer
	for seed := range uint64(graphs) {
		writeCallGraph(&input, seed)
	}
	answers := testenv.AskLLVM(t, "testdata/llvm.cc", input.Bytes())
	require.Len(t, answers, graphs)
	for seed, line := range answers {
		functions, calls := callGraph(uint64(seed))
		order := Order(functions, calls)
		require.Equal(t, strings.TrimSpace(line), strings.Trim(fmt.Sprint(order), "[]"), "call graph %d", seed)
	}
	t.Logf("all of %d orders are the same", graphs)
}

// callGraph returns random functions and calls between them. Some functions have no count of their
// own.
func callGraph(seed uint64) ([]Function, []Call) {
	r := rand.New(rand.NewPCG(seed, 22))
	functions := make([]Function, 2+r.IntN(500))
	for i := range functions {
		functions[i].Size = 16 + r.Uint64N(1<<(4+r.IntN(8)))
	}
	var calls []Call
	for range len(functions) + r.IntN(2*len(functions)) {
		from := r.IntN(len(functions))
		to := (from + 1 + r.IntN(1+r.IntN(len(functions)))) % len(functions)
		count := uint64(math.Exp(r.Float64() * 14))
		calls = append(calls, Call{from, to, r.Uint64N(functions[from].Size), count})
		if r.IntN(8) > 0 {
			functions[to].Count += count
		}
	}
	return functions, calls
}

func writeCallGraph(w *bytes.Buffer, seed uint64) {
	functions, calls := callGraph(seed)
	fmt.Fprintln(w, len(functions))
	for _, f := range functions {
		fmt.Fprintln(w, f.Size)
	}
	for _, f := range functions {
		fmt.Fprintln(w, f.Count)
	}
	fmt.Fprintln(w, len(calls))
	for _, c := range calls {
		fmt.Fprintln(w, c.From, c.To, c.Count, c.Offset)
	}
}
