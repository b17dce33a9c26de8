package exttsp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// Scores equal those that LLVM computes, and the score of an order is as high as the score of
// LLVM's order.
func TestLLVM(t *testing.T) {
	testenv.NeedSweep(t)
	var input bytes.Buffer
	var scores []float64
	var ours [][]int
	for seed := range uint64(300) {
		blocks, edges := random(seed, 2+int(seed*seed)%700)
		edges = slices.DeleteFunc(edges, func(e Edge) bool { return e.From == e.To }) // LLVM's score has them, in any order the same
		order := Order(blocks, edges)
		writeFunction(&input, blocks, edges, order)
		scores, ours = append(scores, Score(blocks, edges, order)), append(ours, order)
	}
	total, theirTotal, same := 0.0, 0.0, 0
	answers := testenv.AskLLVM(t, "testdata/llvm.cc", input.Bytes())
	require.Len(t, answers, len(scores))
	for i, line := range answers {
		var theirs, again float64
		_, err := fmt.Sscan(line, &theirs, &again)
		require.NoError(t, err)
		require.InEpsilon(t, again+1, scores[i]+1, 1e-9, "the score of function %d", i)
		require.GreaterOrEqual(t, scores[i], 0.97*theirs, "function %d", i)
		total, theirTotal = total+scores[i], theirTotal+theirs
		if strings.HasSuffix(line, strings.Trim(fmt.Sprint(ours[i]), "[]")) {
			same++
		}
	}
	t.Logf("%.5f of LLVM's score, %d of %d orders are the same", total/theirTotal, same, len(ours))
	assert.Greater(t, total, 0.995*theirTotal)
}

func writeFunction(w *bytes.Buffer, blocks []Block, edges []Edge, order []int) {
	fmt.Fprintln(w, len(blocks))
	for _, b := range blocks {
		fmt.Fprintln(w, b.Size)
	}
	for _, b := range blocks {
		fmt.Fprintln(w, b.Count)
	}
	for _, i := range order {
		fmt.Fprintln(w, i)
	}
	fmt.Fprintln(w, len(edges))
	for _, e := range edges {
		fmt.Fprintln(w, e.From, e.To, e.Count)
	}
}
