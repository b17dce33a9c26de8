package symbolize

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// GCC's debug info has no line for the operator() of a lambda. Its Function.Line is the line where
// the lambda begins, from which GCC counts lines.
func TestLambdasAreDeclaredWhereTheyBegin(t *testing.T) {
	f, err := Open(build(t, testenv.Tool(t, "g++"), "-O2", "-g"))
	require.NoError(t, err)
	defer f.Close()
	lines := make(map[uint32]bool)
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		for _, s := range code.Spans {
			for i := s.Instance; i != nil; i = i.Caller {
				assert.NotZero(t, i.Function.Line, i.Function.Linkage())
				if i.Function.Name == "operator()" && base(i.Function.File) == "shapes.cc" {
					lines[i.Function.Line] = true
				}
			}
		}
	}
	for _, line := range []uint32{62, 64, 68} { // [&](int i), [total](int q), [](const shape* a, ...
		assert.True(t, lines[line], "%d of %v", line, lines)
	}
}
