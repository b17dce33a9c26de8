package anyprof_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

func second[T any](_ T, err error) error { return err }

// Zero values of the readers of all formats, and nil, return errors instead of panicking.
func TestZeroReaders(t *testing.T) {
	assert.Error(t, second(sampleprof.NewReader(nil, 10)))
	assert.Error(t, second(sampleprof.OpenBytes(nil, nil)))
	assert.Error(t, second(instrprof.NewReader(nil, 10)))
	assert.Error(t, second(memprof.OpenBytes(nil, 0, nil)))

	var sample sampleprof.Reader
	assert.Zero(t, sample.Size())
	assert.Empty(t, sample.Sections())
	assert.ErrorIs(t, second(sample.Function("f")), afdo.ErrClosed)
	assert.ErrorIs(t, second(sample.Summary()), afdo.ErrClosed)
	assert.ErrorIs(t, sample.Close(), afdo.ErrClosed)
	for _, err := range sample.Functions() {
		assert.ErrorIs(t, err, afdo.ErrClosed)
	}

	var instr instrprof.Reader
	assert.Zero(t, instr.Size())
	assert.Nil(t, instr.Summary())
	assert.ErrorIs(t, second(instr.Function("f")), afdo.ErrClosed)
	assert.ErrorIs(t, instr.Close(), afdo.ErrClosed)
	for _, err := range instr.Records() {
		assert.ErrorIs(t, err, afdo.ErrClosed)
	}

	var memory memprof.Reader
	assert.ErrorIs(t, second(memory.Record(1)), afdo.ErrNotFound)
	for range memory.Records() {
		assert.Fail(t, "there is none")
	}
}

// Reading a large file of an old version allocates memory in the size of the file.
func TestLargeOldFile(t *testing.T) {
	const size = 60 << 20
	path := filepath.Join(t.TempDir(), "large.afdo")
	require.NoError(t, os.WriteFile(path, []byte("adcg\x03\x00\x00\x00\x00\x00\x00\x00"), 0o600))
	require.NoError(t, os.Truncate(path, size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := anyprof.Open(t.Context(), path)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, afdo.ErrMalformed, "there are no functions in it")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size+1<<20))
}
