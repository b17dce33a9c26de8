package gcov_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcov"
)

func problems(data []byte) []afdo.Problem {
	var all []afdo.Problem
	for p := range gcov.Check(data) {
		all = append(all, p)
	}
	return all
}

// The sample file has no problems. Each change to it leads to a problem at the offset of the
// change.
func TestCheck(t *testing.T) {
	for _, name := range []string{"shop.v2.afdo", "shop.v3.afdo"} {
		data, err := os.ReadFile("../../testdata/" + name)
		require.NoError(t, err)
		assert.Empty(t, problems(data), name)
		for cut := 0; cut < len(data); cut += 7 {
			found := problems(data[:cut])
			require.Len(t, found, 1, "%s cut to %d bytes", name, cut)
			require.False(t, found[0].Remark)
			require.ErrorIs(t, found[0].Err, afdo.ErrMalformed)
			require.LessOrEqual(t, found[0].Offset(), int64(cut))
		}
	}
	data, err := os.ReadFile("../../testdata/shop.v3.afdo")
	require.NoError(t, err)
	const maxCount = 16 + 8
	binary.LittleEndian.PutUint32(data[maxCount:], 1)
	found := problems(data)
	require.Len(t, found, 1)
	assert.True(t, found[0].Remark)
	assert.EqualValues(t, maxCount, found[0].Offset())
	assert.ErrorIs(t, found[0].Err, afdo.ErrSummary)

	binary.LittleEndian.PutUint32(data[4:], 7)
	found = problems(data)
	require.Len(t, found, 1)
	assert.ErrorIs(t, found[0].Err, afdo.ErrVersion)
	assert.False(t, found[0].Remark)
}

// A caller may stop at the first problem.
func TestCheckStops(t *testing.T) {
	data, err := os.ReadFile("../../testdata/shop.v3.afdo")
	require.NoError(t, err)
	for at := 16; at < 16+5*8; at += 8 {
		data[at]++
	}
	assert.Greater(t, len(problems(data)), 3)
	n := 0
	for range gcov.Check(data) {
		n++
		break
	}
	assert.Equal(t, 1, n)
}
