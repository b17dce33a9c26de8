package sampleprof_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// TestFrameWithoutLine parses a context in which a frame before the last one has no line. As in
// LLVM, the frame is a call at line 0.
func TestFrameWithoutLine(t *testing.T) {
	p, err := sampleprof.ParseText(strings.NewReader("[main:1 @ foo @ bar]:100:10\n 1: 100\n"))
	require.NoError(t, err)
	var b strings.Builder
	_, err = sampleprof.WriteText(&b, p)
	require.NoError(t, err)
	require.Equal(t, "[main:1 @ foo:0 @ bar]:100:10\n 1: 100\n", b.String())
	_, err = sampleprof.ParseText(strings.NewReader("[main:1 @ foo:2]:100:10\n 1: 100\n"))
	require.Error(t, err)
}
