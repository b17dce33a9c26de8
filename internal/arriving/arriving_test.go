package arriving_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A counted is an io.ReaderAt that counts the reads, and records the size of the largest read.
type counted struct {
	io.ReaderAt
	reads, most int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.reads, c.most = c.reads+1, max(c.most, len(p))
	return c.ReaderAt.ReadAt(p, off)
}

func TestReadAt(t *testing.T) {
	data := make([]byte, testenv.Rounds(49, 60)<<20)
	pattern := make([]byte, 1<<20-1)
	for i := range pattern {
		pattern[i] = byte(i * i >> 7)
	}
	for n := 0; n < len(data); {
		n += copy(data[n:], pattern)
	}
	for _, c := range []struct{ off, n, reads int }{
		{0, 0, 1}, {5, 1, 1}, {5, 48 << 20, 1}, {5, 48<<20 + 1, 2}, {1 << 20, 50 << 20, 2}, {0, len(data), 2},
	}[:testenv.Rounds(4, 6)] {
		r := &counted{ReaderAt: bytes.NewReader(data)}
		got, err := arriving.ReadAt(r, nil, int64(c.off), c.n)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data[c.off:c.off+c.n], got))
		assert.Equal(t, c.reads, r.reads)
	}
}

// ReadAt reads into the buffer if that is large enough, and otherwise does not change it.
func TestBuffer(t *testing.T) {
	buf := make([]byte, 0, 10)
	got, err := arriving.ReadAt(bytes.NewReader([]byte("0123456789ab")), buf, 1, 10)
	require.NoError(t, err)
	assert.Equal(t, "123456789a", string(got))
	assert.Equal(t, "123456789a", string(buf[:10]))
	got, err = arriving.ReadAt(bytes.NewReader([]byte("0123456789ab")), buf, 0, 12)
	require.NoError(t, err)
	assert.Equal(t, "0123456789ab", string(got))
	assert.Equal(t, "123456789a", string(buf[:10]))
}

// If a file is shorter than claimed, ReadAt allocates little memory.
func TestClaim(t *testing.T) {
	for _, n := range []int{1001, 50 << 20, math.MaxInt} {
		r := &counted{ReaderAt: bytes.NewReader(make([]byte, 1000))}
		got, err := arriving.ReadAt(r, nil, 0, n)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Nil(t, got)
		assert.LessOrEqual(t, r.most, 48<<20)
	}
	failure := errors.New("a fault of the disk")
	_, err := arriving.ReadAt(failing{failure}, nil, 0, 10)
	assert.ErrorIs(t, err, failure)
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
