//go:build unix

package anyprof_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/symbolize"
)

// Open rejects a FIFO, because opening it would wait for a writer.
func TestOpenFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	assert.ErrorContains(t, second(anyprof.Open(ctx, path)), "not a regular file")
	assert.ErrorContains(t, second(sampleprof.Open(path)), "not a regular file")
	assert.ErrorContains(t, second(instrprof.Open(path)), "not a regular file")
	assert.ErrorContains(t, second(symbolize.Open(path)), "not a regular file")
}
