package symbolize

import (
	"bytes"
	"debug/elf"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// spilling begins to decompress data into a temporary file, as the contents of a section. The
// compressed form of data ends after the given share of its bytes, so that a share below 1 is a
// damaged section.
func spilling(t *testing.T, data []byte, share float64) *section {
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	require.NoError(t, err)
	_, err = z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	s := &section{name: ".debug_info", object: &object{path: "prog", size: 1 << 40}}
	raw := io.NewSectionReader(bytes.NewReader(packed.Bytes()), 0, int64(share*float64(packed.Len())))
	require.NoError(t, s.decompress(raw, elf.COMPRESS_ZLIB, uint64(len(data))))
	require.NotNil(t, s.spilled)
	return s
}

// A section can be read while it is being decompressed. Reading waits for bytes that have not been
// written.
func TestSpilledIsReadMeanwhile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, 1<<20-1) // farther back than zlib looks
	for i := range block {
		block[i] = byte(random.Uint32() % 5)
	}
	data := bytes.Repeat(block, spillSize/len(block)+1)
	s := spilling(t, data, 1)
	defer s.spilled.close()
	buf := make([]byte, 4096)
	for range 200 {
		off := random.IntN(len(data) - len(buf))
		require.NoError(t, s.read(buf, uint64(off)))
		require.True(t, bytes.Equal(data[off:off+len(buf)], buf))
	}
	require.NoError(t, s.object.whole())
	require.ErrorIs(t, s.read(buf, uint64(len(data)-1)), io.ErrUnexpectedEOF)
}

// The bytes before the damage in a compressed section can be read, but Code ends with an error.
func TestSpilledIsDamaged(t *testing.T) {
	s := spilling(t, make([]byte, spillSize+1), 0.5)
	defer s.spilled.close()
	require.NoError(t, s.read(make([]byte, 100), 0))
	require.ErrorIs(t, s.read(make([]byte, 100), spillSize-100), afdo.ErrCompressed)
	require.ErrorIs(t, s.object.whole(), afdo.ErrCompressed)
}

// Closing an object stops the decompression of its sections.
func TestSpilledIsClosed(t *testing.T) {
	s := spilling(t, make([]byte, 4*spillSize), 1)
	s.spilled.close()
	require.True(t, s.spilled.ended)
	require.Error(t, s.read(make([]byte, 1), 4*spillSize-1))
}
